"""All settings of a run in one value, gathered from the sections beside their owners."""

from __future__ import annotations

from typing import Literal

from transduce.base.settings import SectionCheck, Settings
from transduce.data.settings import DataSettings
from transduce.decoding.settings import DecodeSettings
from transduce.model.settings import ModelSettings
from transduce.text.settings import CleanSettings
from transduce.tokenizer.settings import TokenizerSettings
from transduce.training.settings import TrainSettings

__all__ = ["RunSettings"]


class RunSettings(Settings):
    """Everything that decides a run. Written into every prepared data set and every bundle."""

    about: str = ""
    """What the recipe is for, in a line or two."""
    data: DataSettings = DataSettings()
    """The corpus."""
    clean: CleanSettings = CleanSettings()
    """Which pairs are kept."""
    tokenizer: TokenizerSettings = TokenizerSettings()
    """How text becomes ids."""
    model: ModelSettings = ModelSettings()
    """The shape of the Transformer."""
    train: TrainSettings = TrainSettings()
    """How it learns."""
    decode: DecodeSettings = DecodeSettings()
    """How it translates."""

    @property
    def target(self) -> Literal["text", "trees"]:
        """What the target sides of the pairs are, as the task says."""
        return "trees" if self.data.task == "parsing" else "text"

    @SectionCheck
    def _check_vocabularies(self) -> None:
        # Found here and not when the model is built, which comes after hours of preparing a large corpus.
        if self.model.tie_embeddings == "all" and not self.tokenizer.joint:
            raise ValueError(
                "model.tie_embeddings = 'all' needs one vocabulary for both sides, but tokenizer.joint = false makes one a "
                "side; set model.tie_embeddings = 'decoder'"
            )

    @SectionCheck
    def _check_task(self) -> None:
        if self.data.task == "translation":
            wrong = {
                "tokenizer.tree_tags = 'kept'": self.tokenizer.tree_tags != "replaced",
                "tokenizer.tree_words = 'kept'": self.tokenizer.tree_words != "dropped",
                f"data.max_constituent_words = {self.data.max_constituent_words}": self.data.max_constituent_words > 0,
                "decode.whole_trees = true": self.decode.whole_trees,
                "train.best_by = 'f1'": self.train.best_by == "f1",
            }
            advice = "it is for data.task = 'parsing'; leave it out"
        else:
            wrong = {
                "tokenizer.joint = true": self.tokenizer.joint and self.tokenizer.tree_words == "dropped",
                f"tokenizer.kind = '{self.tokenizer.kind}'": self.tokenizer.model_file is not None,
                f"train.best_by = '{self.train.best_by}'": self.train.best_by in ("bleu", "chrf"),
            }
            if self.tokenizer.normalization == "nfkc" and self.tokenizer.tree_words == "kept":
                raise ValueError(
                    "tokenizer.normalization = 'nfkc' does not go with tokenizer.tree_words = 'kept': it makes two words of some "
                    "that a tree has as one; choose 'nfc' or 'none'"
                )
            advice = (
                "parsing needs a learned kind of tokenizer, tokenizer.joint = false unless tokenizer.tree_words = 'kept', and its "
                "score is F1"
            )
        for setting, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(f"{setting} does not go with data.task = '{self.data.task}': {advice}")
