"""Settings of the tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from transduce.base.settings import Settings

__all__ = ["TokenizerSettings"]


class TokenizerSettings(Settings):
    """How text becomes ids. Paper: section 5.1."""

    kind: Literal["bpe", "wordpiece", "unigram", "sentencepiece", "subword-nmt"] = "bpe"
    """The subword algorithm. The first three are learned by ``prepare``; the last two are imported from ``model_file``."""
    vocab_size: int = Field(default=8000, ge=260)
    """Size of each vocabulary, the 4 control ids and the 256 bytes included. The paper: about 37,000 (en-de), 32,000 (en-fr)."""
    joint: bool = True
    """True: one vocabulary for both sides, so that all embeddings can be tied (paper, section 3.4). False: one a side."""
    normalization: Literal["none", "nfc", "nfkc"] = "none"
    """Unicode normalization of text before it is encoded, stored in the bundle. ``none`` keeps every character as it is."""
    max_learn_lines: int = Field(default=2_000_000, ge=1)
    """Learn the vocabulary from at most this many pairs, spread evenly over the corpus."""
    model_file: Path | None = None
    """An existing SentencePiece ``.model`` or subword-nmt codes file to import (``kind`` says which)."""
    vocab_file: Path | None = None
    """subword-nmt only: the vocabulary, one token a line, a count after it if there is one. Needed with ``kind = "subword-nmt"``."""
