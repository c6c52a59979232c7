"""What the three learned kinds know, as plain values: merges, pieces, or pieces with scores.

All three share one layout of ids: the 4 control ids, the 256 bytes in order (for word-piece once more as
continuations), then what was learned. With all bytes in it, a vocabulary has a way to spell every text.

Pieces are strings of byte symbols (:mod:`transduce.tokenizer.bytes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from transduce.tokenizer.bytes import BYTE_SYMBOLS
from transduce.tokenizer.protocol import CONTROL_PIECES, UNK_ID

if TYPE_CHECKING:
    from tokenizers import models

__all__ = [
    "CONTINUATION",
    "BpeVocabulary",
    "UnigramVocabulary",
    "Vocabulary",
    "WordPieceVocabulary",
    "vocabulary_from_content",
]

CONTINUATION = "‿"
"""Marks a word-piece that does not start a word. It is not a byte symbol, so no text can hold it (``##`` could be typed)."""

# The places of the control ids in a Hugging Face vocabulary, which starts at id 0. The space in front makes them names
# that no text can match.
_RESERVED = [f" {name}" for name in CONTROL_PIECES]
# Longer than any word that the pre-tokenizer lets through: word-piece never gives up on a word.
_MAX_WORD_SYMBOLS = 1024


class Vocabulary(Protocol):
    """What a learned tokenizer knows."""

    @property
    def kind(self) -> str:
        """The name of the algorithm, as in the setting ``tokenizer.kind``."""
        ...

    def symbols(self) -> list[str]:
        """Return the piece of every id, from the first after the control ids on."""
        ...

    def model(self) -> models.Model:
        """Build the Hugging Face model, whose ids are ours."""
        ...

    def content(self) -> dict[str, Any]:
        """Return everything as JSON values, for :func:`vocabulary_from_content`."""
        ...


@dataclass(frozen=True)
class BpeVocabulary:
    """Byte-pair encoding: pairs to merge, the first learned first."""

    merges: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "bpe"

    def symbols(self) -> list[str]:
        """Return the bytes, then what each merge makes (two merges may make the same piece)."""
        return list(dict.fromkeys([*BYTE_SYMBOLS, *(left + right for left, right in self.merges)]))

    def model(self) -> models.Model:
        """Build the Hugging Face model, whose ids are ours."""
        from tokenizers import models

        return models.BPE(vocab=_numbered(self.symbols()), merges=list(self.merges))

    def content(self) -> dict[str, Any]:
        """Return everything as JSON values, each merge as its two parts with a space between."""
        return {"kind": self.kind, "merges": [f"{left} {right}" for left, right in self.merges]}


@dataclass(frozen=True)
class WordPieceVocabulary:
    """Word-piece: pieces of which the longest that fits is taken, from the left."""

    pieces: tuple[str, ...]
    """The learned pieces; the ones inside a word start with :data:`CONTINUATION`."""
    kind: ClassVar[str] = "wordpiece"

    def symbols(self) -> list[str]:
        """Return the bytes, the bytes as continuations, then the learned pieces."""
        return _different([*BYTE_SYMBOLS, *(CONTINUATION + symbol for symbol in BYTE_SYMBOLS), *self.pieces])

    def model(self) -> models.Model:
        """Build the Hugging Face model, whose ids are ours."""
        from tokenizers import models

        return models.WordPiece(
            vocab=_numbered(self.symbols()),
            unk_token=_RESERVED[UNK_ID],
            continuing_subword_prefix=CONTINUATION,
            max_input_chars_per_word=_MAX_WORD_SYMBOLS,
        )

    def content(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"kind": self.kind, "pieces": list(self.pieces)}


@dataclass(frozen=True)
class UnigramVocabulary:
    """A unigram language model: the segmentation with the largest sum of scores is taken."""

    byte_scores: tuple[float, ...]
    """The log-probability of each single byte: 256 values."""
    pieces: tuple[str, ...]
    """The learned pieces, of two symbols or more."""
    scores: tuple[float, ...]
    """The log-probability of each learned piece."""
    kind: ClassVar[str] = "unigram"

    def symbols(self) -> list[str]:
        """Return the bytes, then the learned pieces."""
        return _different([*BYTE_SYMBOLS, *self.pieces])

    def model(self) -> models.Model:
        """Build the Hugging Face model, whose ids are ours."""
        from tokenizers import models

        reserved = [(name, 0.0) for name in _RESERVED]
        scores = (*self.byte_scores, *self.scores)
        return models.Unigram(vocab=[*reserved, *zip(self.symbols(), scores, strict=True)], unk_id=UNK_ID)

    def content(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "kind": self.kind,
            "byte_scores": list(self.byte_scores),
            "pieces": list(self.pieces),
            "scores": list(self.scores),
        }


def vocabulary_from_content(content: Mapping[str, Any]) -> Vocabulary:
    """Build a vocabulary from what its ``content()`` gave.

    Raises:
        KeyError: A part is missing.
        TypeError: A part is of another kind.
        ValueError: The kind is not one of the three, or a part has the wrong form.
    """
    match content["kind"]:
        case "bpe":
            return BpeVocabulary(tuple(_pair(merge) for merge in content["merges"]))
        case "wordpiece":
            return WordPieceVocabulary(_texts(content["pieces"]))
        case "unigram":
            pieces, byte_scores = _texts(content["pieces"]), tuple(map(float, content["byte_scores"]))
            scores = tuple(map(float, content["scores"]))
            if (len(byte_scores), len(scores)) != (len(BYTE_SYMBOLS), len(pieces)):
                raise ValueError("there is not one score for each piece")
            return UnigramVocabulary(byte_scores, pieces, scores)
        case kind:
            raise ValueError(f"unknown kind {kind!r}")


def _texts(values: Sequence[str]) -> tuple[str, ...]:
    "".join(values)  # refuses what is no text, at once for all
    return tuple(values)


def _numbered(symbols: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate([*_RESERVED, *symbols])}


def _different(symbols: list[str]) -> list[str]:
    if len(set(symbols)) != len(symbols):
        raise ValueError("a piece stands twice in the vocabulary")
    return symbols


def _pair(merge: str) -> tuple[str, str]:
    left, right = merge.split(" ")
    return left, right
