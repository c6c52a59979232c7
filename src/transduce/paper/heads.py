"""What a head of attention does, in numbers: how widely it looks, how far, and whether there is a word for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "AttentionKind",
    "HeadNumbers",
    "Hint",
    "HintName",
    "Weights",
    "distance_profile",
    "find_hint",
    "head_numbers",
    "mean_entropy",
    "widest_entropy",
]

AttentionKind = Literal["encoder", "decoder", "cross"]
"""``encoder``: the source reads itself. ``decoder``: the target reads itself. ``cross``: the target reads the source."""
Weights = npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""Shares of attention; the last axis is what is looked at, and each row sums to 1."""
HintName = Literal["previous", "next", "itself", "diagonal", "EOS", "BOS", "broad"]

_ENOUGH = 1 / 3
"""A pattern has a name when it has at least this share of the attention, ..."""
_ABOVE_CHANCE = 2.0
"""... and so many times what a head that looks everywhere alike would give it."""
_LEAST_SLOPE = 0.25
"""A diagonal goes forward by at least this many source tokens with each target token."""
_BROAD = 0.9
"""A head is broad from this share of the greatest entropy there can be."""


class Hint(NamedTuple):
    """What a head looks like. A hint and no more: it holds for one sentence."""

    name: HintName
    """``previous``, ``next``, ``itself``: the token there. ``diagonal``: on a line through the source that goes forward with the
    target, or one beside it. ``EOS``, ``BOS``: the sign at the end or the start. ``broad``: everywhere about alike."""
    share: float
    """The part of the attention that goes there; of ``broad``, the entropy as a part of the greatest one."""


@dataclass(frozen=True)
class HeadNumbers:
    """One head of one sentence pair."""

    entropy_bits: float
    """Mean over the positions that look. 0: each looks at one place only."""
    widest_bits: float
    """What that would be if each looked everywhere alike."""
    profile: dict[int, float]
    """Mean weight by relative position: -1 is the token before, 0 the token itself."""
    hint: Hint | None
    """None: nothing that we have a word for."""


def head_numbers(weights: Weights, kind: AttentionKind) -> HeadNumbers:
    """Describe one head.

    Args:
        weights: ``[tq, tk]``; each row is a position that looks and sums to 1.
        kind: What looks at what.
    """
    return HeadNumbers(
        mean_entropy(weights), widest_entropy(weights, kind), distance_profile(weights, kind), find_hint(weights, kind)
    )


def mean_entropy(weights: Weights) -> float:
    """Return the mean entropy of the rows, in bits.

    >>> mean_entropy(np.array([[0.5, 0.5], [1.0, 0.0]]))
    0.5
    """
    exact = weights.astype(np.float64)
    return float(-(exact * np.log2(np.where(exact > 0, exact, 1.0))).sum(axis=1).mean())


def widest_entropy(weights: Weights, kind: AttentionKind) -> float:
    """Return what :func:`mean_entropy` would be if each row looked alike at every place that it may look at, in bits."""
    return float(np.log2(_allowed(weights, kind).sum(axis=1)).mean())


def distance_profile(weights: Weights, kind: AttentionKind) -> dict[int, float]:
    """Return the mean weight by relative position, over the rows for which there is such a position.

    In the decoder a row is the token that is being written and the columns begin with BOS, so that column ``j`` is the
    token before row ``j``: what was read last is at -1, and nothing is at 1.

    >>> distance_profile(np.array([[0.5, 0.5], [0.25, 0.75]]), "encoder")
    {-1: 0.25, 0: 0.625, 1: 0.5}
    """
    n_rows, n_columns = weights.shape
    shift = 1 if kind == "decoder" else 0
    return {
        column - shift: float(weights.diagonal(column).mean())
        for column in range(1 - n_rows, n_columns)
        if kind != "decoder" or _allowed(weights, kind).diagonal(column).any()
    }


def find_hint(weights: Weights, kind: AttentionKind) -> Hint | None:
    """Return the pattern that has most of the attention, if any has enough of it.

    Only rows with a choice are counted: the first position of a decoder can look at nothing but BOS.
    """
    choice = _allowed(weights, kind).sum(axis=1) > 1
    if not choice.any():
        return None
    found = []
    for name, pattern in _patterns(weights, kind).items():
        rows = choice & pattern.any(axis=1)
        if not rows.any():
            continue
        share = float(np.where(pattern, weights, 0.0)[rows].sum(axis=1).mean())
        by_chance = float((pattern.sum(axis=1) / _allowed(weights, kind).sum(axis=1))[rows].mean())
        if share >= _ENOUGH and share >= _ABOVE_CHANCE * by_chance:
            found.append(Hint(name, share))
    if found:
        return max(found, key=lambda hint: hint.share)
    breadth = mean_entropy(weights[choice]) / float(np.log2(_allowed(weights, kind)[choice].sum(axis=1)).mean())
    return Hint("broad", breadth) if breadth >= _BROAD else None


def _allowed(weights: Weights, kind: AttentionKind) -> npt.NDArray[np.bool_]:
    """Return which places each row may look at. What is merged into words may look at its own beginning, too."""
    if kind == "decoder":
        rows, columns = np.indices(weights.shape)
        return np.asarray((columns <= rows) | (weights > 0))
    return np.ones(weights.shape, dtype=bool)


def _patterns(weights: Weights, kind: AttentionKind) -> dict[HintName, npt.NDArray[np.bool_]]:
    """Return the places of each pattern, as ``[tq, tk]`` of bool."""
    rows, columns = np.indices(weights.shape)
    n_columns = weights.shape[1]
    match kind:
        case "encoder":
            return {
                "previous": columns == rows - 1,
                "next": columns == rows + 1,
                "itself": columns == rows,
                "EOS": columns == n_columns - 1,
            }
        case "decoder":
            return {"previous": columns == rows, "BOS": columns == 0}
        case "cross":
            return {"diagonal": _diagonal(weights), "EOS": columns == n_columns - 1}


def _diagonal(weights: Weights) -> npt.NDArray[np.bool_]:
    """Return the places on and beside the straight line that fits the attention best, if that rises from word to word.

    A line between the corners would not do: translations leave out parts of their source. EOS has no say in it.
    """
    rows, columns = np.indices(weights.shape)
    counted = np.asarray(weights, dtype=np.float64).copy()
    counted[:, -1] = counted[-1] = 0.0
    if counted.sum() <= 0:
        return np.zeros(weights.shape, dtype=bool)
    counted /= counted.sum()
    row, column = (counted * rows).sum(), (counted * columns).sum()
    spread = (counted * (rows - row) ** 2).sum()
    slope = (counted * (rows - row) * (columns - column)).sum() / spread if spread > 0 else 0.0
    if slope < _LEAST_SLOPE:
        return np.zeros(weights.shape, dtype=bool)
    return np.asarray(np.abs(columns - (column + slope * (rows - row))) <= 1.0)
