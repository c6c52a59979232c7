"""Settings of the tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from transduce.base.settings import SectionCheck, Settings, setting

__all__ = ["TokenizerSettings"]

_MIN_WORDPIECE = 4 + 2 * 256


class TokenizerSettings(Settings):
    """How text becomes ids. Paper: section 5.1."""

    kind: Literal["bpe", "wordpiece", "unigram", "sentencepiece", "subword-nmt"] = "bpe"
    """The subword algorithm. The first three are learned by ``prepare``; the last two are imported from ``model_file``."""
    vocab_size: int = setting(8000, ge=260, le=10_000_000)
    """Most entries of each learned vocabulary, the 4 control ids and the 256 bytes (word-piece: twice) included. A corpus
    that does not give as many makes a smaller one, with a warning. The paper: about 37,000 (en-de), 32,000 (en-fr)."""
    joint: bool = True
    """True: one vocabulary for both sides, so that all embeddings can be tied (paper, section 3.4). False: one a side. Parsing
    has one where trees keep their words (``tree_words``)."""
    normalization: Literal["none", "nfc", "nfkc"] = "none"
    """Unicode normalization of text before it is encoded, stored in the bundle. ``none`` keeps every character as it is,
    so that NFC and NFD spellings of one text get different ids."""
    max_learn_lines: int = setting(2_000_000, ge=1)
    """Learn the vocabulary from at most this many pairs, spread evenly over the corpus."""
    tree_tags: Literal["replaced", "kept"] = "replaced"
    """Parsing only (``data.task``). ``replaced``: in trees every word is ``XX``. ``kept``: it is its part-of-speech tag, which
    the model then finds too. The target vocabulary is all brackets and tags of the training trees, one id each."""
    tree_words: Literal["dropped", "kept"] = "dropped"
    """Parsing only. ``dropped``: trees are without their words, which the parser has. ``kept``: the pieces of each word stand in
    the place of ``XX``, or behind its tag. Trees get longer, and a model learns from fewer of them where words go."""
    bundle: Path | None = None
    """Take the tokenizers of this bundle as they are, to go on with its model (``train.start_from``). The other settings of
    this section then only say what they are. ``transduce prepare --from`` sets them all."""
    model_file: Path | None = None
    """An existing SentencePiece ``.model`` or subword-nmt codes file to import (``kind`` says which)."""
    tgt_model_file: Path | None = None
    """The same for the target, with ``joint = false``. subword-nmt: without it the codes of ``model_file`` are for both."""
    vocab_file: Path | None = None
    """subword-nmt only: the vocabulary, a token a line, its count after it if there is one. Needed with this kind."""
    tgt_vocab_file: Path | None = None
    """subword-nmt only: the vocabulary of the target. Needed with ``joint = false``."""
    vocab_threshold: int | None = setting(None, ge=1)
    """subword-nmt only, as its ``--vocabulary-threshold``: tokens counted fewer times in the vocabulary, or absent from it,
    are cut into smaller ones. Without it the codes are applied as they are, and absent tokens become the unknown id."""

    @SectionCheck
    def _check_kind(self) -> None:
        imported = {"sentencepiece": ("model_file",), "subword-nmt": ("model_file", "vocab_file")}.get(self.kind, ())
        for name in imported:
            if getattr(self, name) is None:
                raise ValueError(f"{name} is needed with kind = {self.kind!r}: the file to import")
        if not imported:
            self._refuse("model_file", f"kind = {self.kind!r} is learned, not imported")
        if self.kind != "subword-nmt":
            for name in ("vocab_file", "tgt_vocab_file", "vocab_threshold"):
                self._refuse(name, "it is for kind = 'subword-nmt'")
        self._check_target(imported)
        if self.kind == "wordpiece" and self.vocab_size < _MIN_WORDPIECE:
            raise ValueError(
                f"vocab_size ({self.vocab_size}) must be at least {_MIN_WORDPIECE} with kind = 'wordpiece'"
            )

    def _check_target(self, imported: tuple[str, ...]) -> None:
        if self.joint or not imported:
            for name in ("tgt_model_file", "tgt_vocab_file"):
                self._refuse(name, "it is for an imported tokenizer with joint = false")
        elif self.kind == "sentencepiece" and self.tgt_model_file is None:
            raise ValueError("tgt_model_file is needed with joint = false: the target's SentencePiece model")
        elif self.kind == "subword-nmt" and self.tgt_vocab_file is None:
            raise ValueError("tgt_vocab_file is needed with joint = false: the target's vocabulary")

    def _refuse(self, name: str, reason: str) -> None:
        if getattr(self, name) is not None:
            raise ValueError(f"{name} has no effect here, since {reason}; remove it")
