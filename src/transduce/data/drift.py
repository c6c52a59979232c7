"""Finding a block of pairs whose sides are shifted against each other, by the lengths of the sentences alone.

A long sentence has a long translation: over a hundred pairs the lengths of the two sides go together. Where a line is
missing on one side, they do not, but do again when one side is moved by a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Shift", "find_shifts", "windows_of"]

_WINDOW, _STRIDE = 150, 75
_FURTHEST = 8
"""Lines by which a shift is looked for, either way."""
_GAP = 2 * _WINDOW
"""Blocks that are no further apart are one: a window on the border of two blocks of a sample is not looked at."""
_GOES_TOGETHER = 0.55
"""Correlation at the better place. By chance, 150 pairs reach 0.45 once in some 10^8 tries."""
_BETTER_BY = 0.35


@dataclass(frozen=True)
class Shift:
    """A block of pairs that are wrong by the same number of lines."""

    first: int
    """The first pair of the block, from 1, to within a hundred."""
    last: int
    """The last one."""
    by: int
    """The target of a source stands so many lines after it; negative: before."""


def find_shifts(windows: Iterable[tuple[int, int]]) -> list[Shift]:
    """Join shifted windows that follow one another into blocks.

    Args:
        windows: The first pair of each shifted window and its shift, as :func:`windows_of` gives them.

    >>> find_shifts([(1001, 1), (1076, 1), (9001, -2)])
    [Shift(first=1001, last=1225, by=1), Shift(first=9001, last=9150, by=-2)]
    """
    shifts: list[Shift] = []
    for first, by in windows:
        end = first + _WINDOW - 1
        if shifts and shifts[-1].by == by and first <= shifts[-1].last + _GAP:
            shifts[-1] = Shift(shifts[-1].first, end, by)
        else:
            shifts.append(Shift(first, end, by))
    return shifts


def windows_of(
    first: int, src_lengths: npt.NDArray[np.int64], tgt_lengths: npt.NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Return the shifted windows of a block of neighbouring pairs: the first pair of each, and its shift.

    Args:
        first: The number of the first pair.
        src_lengths: ``[n]``: characters of each source.
        tgt_lengths: ``[n]``: characters of each target.
    """
    src, tgt = np.log1p(src_lengths.astype(np.float64)), np.log1p(tgt_lengths.astype(np.float64))
    found = []
    for start in range(0, len(src) - _WINDOW + 1, _STRIDE):
        here = _correlation(src[start : start + _WINDOW], tgt[start : start + _WINDOW])
        if here > _GOES_TOGETHER:
            continue
        best = max(
            (offset for offset in range(-_FURTHEST, _FURTHEST + 1) if 0 <= start + offset <= len(tgt) - _WINDOW),
            key=lambda offset: _correlation(src[start : start + _WINDOW], tgt[start + offset :][:_WINDOW]),
        )
        there = _correlation(src[start : start + _WINDOW], tgt[start + best :][:_WINDOW])
        if there > _GOES_TOGETHER and there > here + _BETTER_BY:
            found.append((first + start, best))
    return found


def _correlation(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    mine, its = one - one.mean(), other - other.mean()
    size = float(np.sqrt((mine @ mine) * (its @ its)))
    return float(mine @ its) / size if size > 0 else 0.0
