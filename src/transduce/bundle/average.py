"""The average of several bundles of one run. Paper: section 6.1 (the last 5 or 20 checkpoints)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.errors import BundleError
from transduce.bundle.directory import Bundle, read_bundle
from transduce.model.settings import ModelSettings

__all__ = ["average_weights", "model_difference"]


def average_weights(paths: Sequence[Path]) -> tuple[Bundle, dict[str, npt.NDArray[np.float32]]]:
    """Average the weights of bundles that belong together, name by name.

    The sums are taken in float64, so that the average of equal weights is those weights, bit for bit. Only one
    bundle's weights and the sums are in memory at a time.

    Args:
        paths: Two or more bundles (or one) in the order of training.

    Returns:
        The last of the bundles, and the averaged weights.

    Raises:
        BundleError: They differ in shape or vocabulary; the message names the first difference.
    """
    if not paths:
        raise BundleError("there is nothing to average: give at least one bundle")
    sums: dict[str, npt.NDArray[np.float64]] = {}
    first = last = read_bundle(paths[0])
    for path in paths:
        last = first if path == paths[0] else read_bundle(path)
        _check_same_kind(first, last)
        weights = last.weights()
        _check_same_shapes(first, last, sums, weights)
        for name, array in weights.items():
            if name in sums:
                sums[name] += array
            else:
                sums[name] = array.astype(np.float64)
    return last, {name: (total / len(paths)).astype(np.float32) for name, total in sums.items()}


def model_difference(here: ModelSettings, there: ModelSettings) -> str | None:
    """Return the first setting in which two models compute different functions; None: the same weights fit both.

    Dropout is no difference: it has no part in the finished function.
    """
    theirs = there.as_dict()
    for name, value in here.as_dict().items():
        if value != theirs[name] and not name.startswith("p_"):
            return f"model.{name} is {value} here and {theirs[name]} there"
    return None


def _check_same_kind(first: Bundle, other: Bundle) -> None:
    difference = model_difference(other.model, first.model)
    if difference is not None:
        raise BundleError(f"{other.path}: cannot be averaged with {first.path}: {difference}")
    for side in ("src", "tgt"):
        if getattr(first.tokenizers, side).fingerprint != getattr(other.tokenizers, side).fingerprint:
            raise BundleError(f"{other.path}: cannot be averaged with {first.path}: the {side} vocabularies differ")


def _check_same_shapes(
    first: Bundle,
    other: Bundle,
    sums: dict[str, npt.NDArray[np.float64]],
    weights: dict[str, npt.NDArray[np.float32]],
) -> None:
    if not sums:
        return
    for name in sorted(sums.keys() | weights.keys()):
        shapes = [array.shape if array is not None else "missing" for array in (weights.get(name), sums.get(name))]
        if shapes[0] != shapes[1]:
            raise BundleError(
                f"{other.path}: cannot be averaged with {first.path}: {name} is {shapes[0]} here and {shapes[1]} there"
            )
