"""How long a translation may be, and how long it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine, IntArray
from transduce.decoding.settings import DecodeSettings

__all__ = ["LengthBounds", "length_bounds"]

_ROUNDING = 1e-9
"""1.1 * 10 is a little more than 11 in binary fractions, and still means 11."""


class LengthBounds(NamedTuple):
    """The fewest and the most tokens that the translation of each sentence may have, EOS not counted."""

    minima: IntArray
    """``[sentences]``: never more than the limit."""
    limits: IntArray
    """``[sentences]``."""

    def take(self, which: Sequence[int] | IntArray) -> LengthBounds:
        """Return the bounds of some of the sentences, by their indexes."""
        index = np.array(which, dtype=np.int64)
        return LengthBounds(self.minima[index], self.limits[index])


def length_bounds(
    engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings, needed: Sequence[int] | None = None
) -> LengthBounds:
    """Return how long the translation of each source may be.

    The limit is the source length plus ``max_extra_tokens``, at most ``max_length_ratio`` times the source length, and at
    most ``max_tokens``. The minimum is ``min_tokens``, at least ``min_length_ratio`` times the source length, but never
    more than ``max_tokens``. Where the two cross, the minimum goes first: a sentence may always be as long as it must be.
    What a sentence needs for its own sake (a prefix) raises its limit above everything but the positions of the model.
    Paper: section 6.1.

    Args:
        engine: Its ``max_sentence_tokens`` is the last word.
        sources: Source ids, EOS not among them.
        settings: The limits of the user.
        needed: ``[sentences]``: tokens that each translation must have room for; None: nothing of the kind.

    Raises:
        DecodingError: ``min_tokens``, or what a sentence needs, is more than the model has positions for.
    """
    lengths = np.array([len(source) for source in sources], dtype=np.int64)
    minima = np.full(len(lengths), settings.min_tokens, dtype=np.int64)
    if settings.min_length_ratio is not None:
        minima = np.maximum(minima, _whole(np.floor(settings.min_length_ratio * lengths + _ROUNDING)))
    limits = lengths + settings.max_extra_tokens
    if settings.max_length_ratio is not None:
        longest = _whole(np.ceil(settings.max_length_ratio * lengths - _ROUNDING))
        limits = np.minimum(limits, np.maximum(longest, 1))
    if settings.max_tokens is not None:
        limits = np.minimum(limits, settings.max_tokens)
        minima = np.minimum(minima, settings.max_tokens)
    limits = np.maximum(limits, minima)
    if needed is not None:
        limits = np.maximum(limits, np.array(needed, dtype=np.int64))
    if engine.max_sentence_tokens is None:
        return LengthBounds(minima, limits)
    _check_positions(engine.max_sentence_tokens, settings.min_tokens, needed or ())
    limits = np.minimum(limits, engine.max_sentence_tokens)
    return LengthBounds(np.minimum(minima, limits), limits)


def _whole(numbers: npt.NDArray[np.float64]) -> IntArray:
    return numbers.astype(np.int64)


def _check_positions(longest: int, min_tokens: int, needed: Sequence[int]) -> None:
    if min_tokens > longest:
        raise DecodingError(
            f"decode.min_tokens ({min_tokens}) is more than the {longest} tokens "
            "that this model has positions for; lower it"
        )
    if max(needed, default=0) > longest:
        raise DecodingError(
            f"the prefix and the required phrases of a sentence have {max(needed)} tokens, but this model has positions "
            f"for {longest}; shorten them"
        )
