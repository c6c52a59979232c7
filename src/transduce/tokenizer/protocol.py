"""What a tokenizer is: text to ids and back, without loss.

The four control ids come first in every vocabulary. They are added by this package alone: no text a user can write
is ever encoded to one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

__all__ = ["BOS_ID", "CONTROL_PIECES", "EOS_ID", "N_CONTROL", "PAD_ID", "UNK_ID", "Tokenizer", "TokenizerPair"]

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
CONTROL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")
"""Names of the control ids for people to read. They are not in the vocabulary that text is matched against."""
N_CONTROL = len(CONTROL_PIECES)


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back.

    ``decode(encode(text)) == text`` for every text with the learned kinds, unless ``normalization`` is set; the
    imported kinds lose what their own tools lose. Every implementation can be pickled for worker processes.
    """

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without BOS or EOS. Never PAD, BOS or EOS; UNK with the imported kinds only.

        Raises:
            TokenizerError: The text has a lone surrogate, and so is not Unicode text.
        """
        ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, on all cores where the implementation can."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. Control ids and ids out of range give nothing; broken UTF-8 becomes U+FFFD."""
        ...

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id, for attention pictures and debugging. Not for joining into text."""
        ...

    def save(self, directory: Path) -> None:
        """Write the tokenizer into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        ...


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of the two sides. One for both is the same object."""

    src: Tokenizer
    tgt: Tokenizer

    @property
    def is_one(self) -> bool:
        """True when both sides have one tokenizer, so that a text has the same ids on both."""
        return self.src.fingerprint == self.tgt.fingerprint

    @property
    def joint(self) -> bool:
        """True when the two sides share one vocabulary, so that their embeddings can be one matrix.

        One tokenizer for both has one. So may two: the sentences and the trees of a parser.
        """
        if self.is_one:
            return True
        ids = range(self.src.vocab_size)
        return self.tgt.vocab_size == len(ids) and self.src.pieces(ids) == self.tgt.pieces(ids)

    def differing_side(self, other: TokenizerPair) -> Literal["source", "target"] | None:
        """Return the first side on which another pair gives a text other ids; None: both give the same."""
        if self.src.fingerprint != other.src.fingerprint:
            return "source"
        return "target" if self.tgt.fingerprint != other.tgt.fingerprint else None
