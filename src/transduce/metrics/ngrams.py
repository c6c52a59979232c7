"""Counting n-grams that a hypothesis shares with its references: all sentences of a corpus at once, with numpy.

An n-gram is one number: that of the n-gram one shorter, times the size of the vocabulary, plus its last token. Equal
n-grams of a sentence are then equal numbers, and sorting counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Tokens", "character_tokens", "count_matches", "word_tokens"]

_IntArray = npt.NDArray[np.int64]

_LIMIT = 2**62
_BLOCK = 4_096  # sentences that are counted at once: memory is for these only, and short arrays are sorted faster


@dataclass(frozen=True)
class Tokens:
    """The sentences of one side, one behind the other."""

    ids: _IntArray
    """``[tokens]``: equal tokens have equal ids, on all sides that were made together."""
    lengths: _IntArray
    """``[sentences]``: tokens of each."""

    def n_ngrams(self, order: int) -> _IntArray:
        """Return how many n-grams each sentence has.

        >>> word_tokens([["a", "b", "c"], ["a"]])[0].n_ngrams(2).tolist()
        [2, 0]
        """
        return np.maximum(self.lengths - order + 1, 0)

    def blocks(self) -> Iterator[Tokens]:
        """Yield some thousand sentences at a time."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        for first in range(0, len(self.lengths), _BLOCK):
            lengths = self.lengths[first : first + _BLOCK]
            yield Tokens(self.ids[ends[first] : ends[first + len(lengths)]], lengths)


def word_tokens(*sides: Sequence[Sequence[str | bytes]]) -> tuple[Tokens, ...]:
    """Number the words of hypotheses and references, or of any other sides.

    Args:
        sides: Of each side, its sentences as lists of words.
    """
    ids: dict[str | bytes, int] = {}
    return tuple(
        Tokens(
            np.array([ids.setdefault(word, len(ids)) for words in side for word in words], dtype=np.int64),
            np.array([len(words) for words in side], dtype=np.int64),
        )
        for side in sides
    )


def character_tokens(*sides: Sequence[str]) -> tuple[Tokens, ...]:
    """Number the characters of hypotheses and references: each is its code point.

    Args:
        sides: Of each side, its sentences.
    """
    return tuple(
        Tokens(
            np.frombuffer("".join(side).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64),
            np.array([len(text) for text in side], dtype=np.int64),
        )
        for side in sides
    )


def count_matches(hypotheses: Tokens, references: Sequence[Tokens], max_order: int) -> _IntArray:
    """Count the n-grams of each hypothesis that its references have too: each at most as often as any one of them has it.

    Args:
        hypotheses: As :func:`word_tokens` and :func:`character_tokens` make them, together with the references.
        references: One or more sides, each with as many sentences.
        max_order: The longest n-grams.

    Returns:
        ``[sentences, max_order]``: matches of 1-grams, 2-grams and so on.

    >>> hyp, ref, other = word_tokens([["the", "the", "cat"]], [["the", "cat"]], [["the", "the"]])
    >>> count_matches(hyp, [ref], 2).tolist(), count_matches(hyp, [ref, other], 2).tolist()
    ([[2, 1]], [[3, 2]])
    """
    blocks = zip(*(side.blocks() for side in (hypotheses, *references)), strict=True)
    return np.concatenate([np.zeros((0, max_order), dtype=np.int64), *(_count(block, max_order) for block in blocks)])


def _count(sides: Sequence[Tokens], max_order: int) -> _IntArray:
    """Count the matches of a block, hypotheses first."""
    n_sentences = len(sides[0].lengths)
    values, ids = np.unique(np.concatenate([side.ids for side in sides]), return_inverse=True)
    sentences = np.concatenate([np.repeat(np.arange(n_sentences), side.lengths) for side in sides])
    left = np.concatenate([_left_in_sentence(side.lengths) for side in sides])
    ends = np.cumsum([len(side.ids) for side in sides])
    matches = np.zeros((n_sentences, max_order), dtype=np.int64)
    keys = ids
    for order in range(1, max_order + 1):
        if order > 1:
            keys = _fit(keys[:-1], len(values)) * len(values) + ids[order - 1 :]
        # The same n-gram in two sentences is two numbers. N-grams that would reach over an end are left out here.
        numbers = _fit(keys, n_sentences) * n_sentences + sentences[: len(keys)]
        whole = left[: len(keys)] >= order
        counted = [
            np.unique(part[inside], return_counts=True)
            for part, inside in zip(np.split(numbers, ends[:-1]), np.split(whole, ends[:-1]), strict=True)
        ]
        (ngrams, counts), best = counted[0], np.zeros(len(counted[0][0]), dtype=np.int64)
        for others in counted[1:]:
            best = np.maximum(best, _look_up(ngrams, *others))
        matches[:, order - 1] = np.bincount(ngrams % n_sentences, np.minimum(counts, best), minlength=n_sentences)
    return matches


def _left_in_sentence(lengths: _IntArray) -> _IntArray:
    """Return for each token how many there are from it to the end of its sentence, itself counted."""
    return np.repeat(np.cumsum(lengths), lengths) - np.arange(lengths.sum())


def _fit(keys: _IntArray, factor: int) -> _IntArray:
    """Return the keys, or other numbers for them, so that they can be multiplied by the factor."""
    if len(keys) and int(keys.max()) >= _LIMIT // factor:
        _, keys = np.unique(keys, return_inverse=True)
    return keys


def _look_up(ngrams: _IntArray, known: _IntArray, counts: _IntArray) -> _IntArray:
    """Return the counts of n-grams among known ones, in ascending order; 0 of those that are not there."""
    if not len(known):
        return np.zeros(len(ngrams), dtype=np.int64)
    at = np.minimum(np.searchsorted(known, ngrams), len(known) - 1)
    return np.where(known[at] == ngrams, counts[at], 0)
