from __future__ import annotations

import math

import numpy as np
import pytest

from transduce.paper.heads import (
    AttentionKind,
    HintName,
    distance_profile,
    find_hint,
    head_numbers,
    mean_entropy,
    widest_entropy,
)


def test_entropy_by_hand() -> None:
    weights = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]])
    assert mean_entropy(weights) == (0 + 2 + 1.75) / 3  # exact: all are powers of two
    assert widest_entropy(weights, "encoder") == 2.0


def test_the_first_rows_of_a_decoder_can_look_at_little() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    assert widest_entropy(weights, "decoder") == pytest.approx((0 + 1 + math.log2(3)) / 3)


def test_profile_by_hand() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1]])
    profile = distance_profile(weights, "encoder")
    # Each is the mean over the rows that have such a neighbour: three rows have themselves, two a neighbour, one a far one.
    assert profile == pytest.approx(
        {-2: 0.6, -1: (0.1 + 0.3) / 2, 0: (0.5 + 0.8 + 0.1) / 3, 1: (0.3 + 0.1) / 2, 2: 0.2}
    )


def test_profile_of_a_decoder_begins_with_what_was_read_last() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.25, 0.25]])
    assert distance_profile(weights, "decoder") == pytest.approx({-3: 0.5, -2: 0.25, -1: 2.0 / 3})


def test_profile_of_cross_attention_has_both_lengths() -> None:
    assert distance_profile(np.array([[0.25, 0.25, 0.5]]), "cross") == {0: 0.25, 1: 0.25, 2: 0.5}


def eye(n: int, at: int, n_columns: int | None = None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Every row looks at one place, ``at`` to the right of the diagonal; where there is none, at all alike."""
    weights = np.eye(n, n_columns or n, at)
    weights[weights.sum(axis=1) == 0] = 1 / weights.shape[1]
    return weights


@pytest.mark.parametrize(
    ("weights", "kind", "name"),
    [
        (eye(6, -1), "encoder", "previous"),
        (eye(6, 1), "encoder", "next"),
        (eye(6, 0), "encoder", "itself"),
        (eye(6, 0), "decoder", "previous"),
        (np.tile([0, 0, 0, 0, 1.0], (5, 1)), "encoder", "EOS"),
        (np.tile([1.0, 0, 0, 0, 0], (5, 1)), "decoder", "BOS"),
        (np.tile([0, 0, 0, 0, 1.0], (4, 1)), "cross", "EOS"),
        (eye(6, 0, 9), "cross", "diagonal"),
        (np.full((6, 6), 1 / 6), "encoder", "broad"),
    ],
)
def test_hints(weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]], kind: AttentionKind, name: HintName) -> None:
    hint = find_hint(weights, kind)
    assert hint is not None
    assert hint.name == name
    assert hint.share == pytest.approx(1.0)


def test_a_diagonal_need_not_end_in_the_corner() -> None:
    """A translation that leaves out the second half of its source, and takes two words for each of the first half."""
    weights = np.zeros((6, 12))
    weights[np.arange(6), [0, 0, 1, 1, 2, 11]] = 1.0  # EOS at last
    hint = find_hint(weights, "cross")
    assert hint is not None
    assert hint.name == "diagonal"
    backwards = np.eye(6)[::-1]
    assert find_hint(backwards, "cross") is None


def test_no_hint_where_nothing_stands_out() -> None:
    weights = np.zeros((8, 8))
    for row in range(8):
        weights[row, [(row + 3) % 8, (row + 4) % 8]] = 0.5
    assert find_hint(weights, "encoder") is None


def test_what_chance_gives_is_no_pattern() -> None:
    """Of two places each gets half by chance."""
    hint = find_hint(np.full((2, 2), 0.5), "encoder")
    assert hint is not None
    assert hint.name == "broad"


def test_a_sentence_of_one_token_has_no_hint_and_no_nan() -> None:
    for kind in ("encoder", "decoder", "cross"):
        numbers = head_numbers(np.ones((1, 1)), kind)
        assert (numbers.hint, numbers.entropy_bits, numbers.widest_bits) == (None, 0.0, 0.0)
