"""All settings of a run in one value, gathered from the sections beside their owners."""

from __future__ import annotations

from pydantic import Field, model_validator

from transduce.base.settings import Settings
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
    data: DataSettings = Field(default_factory=DataSettings)
    """The corpus."""
    clean: CleanSettings = Field(default_factory=CleanSettings)
    """Which pairs are kept."""
    tokenizer: TokenizerSettings = Field(default_factory=TokenizerSettings)
    """How text becomes ids."""
    model: ModelSettings = Field(default_factory=ModelSettings)
    """The shape of the Transformer."""
    train: TrainSettings = Field(default_factory=TrainSettings)
    """How it learns."""
    decode: DecodeSettings = Field(default_factory=DecodeSettings)
    """How it translates."""

    @model_validator(mode="after")
    def _check_vocabularies(self) -> RunSettings:
        # Found here and not when the model is built, which comes after hours of preparing a large corpus.
        if self.model.tie_embeddings == "all" and not self.tokenizer.joint:
            raise ValueError(
                "model.tie_embeddings = 'all' needs one vocabulary for both sides, but tokenizer.joint = false makes one a "
                "side; set model.tie_embeddings = 'decoder'"
            )
        return self
