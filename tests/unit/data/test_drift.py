from __future__ import annotations

import numpy as np
import pytest

from transduce.data.drift import find_shifts, windows_of


def lengths(n: int, seed: int) -> tuple[np.typing.NDArray[np.int64], np.typing.NDArray[np.int64]]:
    """Sources of random length, and targets of about as much."""
    rng = np.random.default_rng(seed)
    src = rng.integers(5, 200, n)
    return src, (src * rng.uniform(0.8, 1.4, n)).astype(np.int64)


def test_sound_pairs_are_not_shifted() -> None:
    for seed in range(20):
        assert windows_of(1, *lengths(1000, seed)) == []


def test_lengths_that_never_go_together_are_no_shift() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert windows_of(1, rng.integers(5, 200, 1000), rng.integers(5, 200, 1000)) == []
    assert windows_of(1, np.full(500, 7), np.full(500, 7)) == []


@pytest.mark.parametrize("by", [1, -1, 3, -8])
def test_a_shifted_block_is_found_with_its_shift(by: int) -> None:
    src, tgt = lengths(3000, seed=1)
    tgt[1000:2000] = np.roll(tgt[1000:2000], by)
    (shift,) = find_shifts(windows_of(1, src, tgt))
    assert shift.by == by
    assert 900 < shift.first < 1100
    assert 1900 < shift.last < 2100


def test_what_follows_a_missing_line_is_found_in_blocks() -> None:
    src, tgt = lengths(4001, seed=2)
    tgt = np.delete(tgt, 1500)[:4000]
    windows = [
        window
        for first in range(0, 4000, 1000)
        for window in windows_of(first + 1, src[first:][:1000], tgt[first:][:1000])
    ]
    (shift,) = find_shifts(windows)
    assert (shift.by, shift.last) == (-1, 4000) or shift.last > 3900
    assert 1400 < shift.first < 1600
