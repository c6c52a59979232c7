"""What processes say to each other: sums, agreement, and the end of one that ends all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dist.ranks import Ranks, together
from tests.dist.work import agree, count_threads, first, sums


@pytest.mark.parametrize("overlap", [False, True])
def test_sums_over_three_ranks_one_of_which_has_nothing(tmp_path: Path, overlap: bool) -> None:
    first, second, third = together(tmp_path / "out", 3, sums, overlap=overlap)
    assert first == second == third
    once, again = first["gradients"]
    assert once == again  # nothing of the first step is left in the second
    # The last layer's bias has the gradient 2 (pairs) for each of 8 outputs, on the two ranks that compute.
    assert once[-1] == 2 * 8 * 2
    # Its weight has the sum of its inputs: rank r has x = r + 1, then y = 0.5 * 8 * x + 0.5, twice.
    inputs = [4 * (4 * x + 0.5) + 0.5 for x in (1.0, 3.0)]
    assert once[-2] == sum(2 * 8 * 8 * value for value in inputs)
    assert first["any"] == [True, False]
    assert first["sum"] == [3.0, 3.0]
    assert first["max"] == 2.0
    assert first["shared"] == 0


def test_ranks_wait_for_as_long_as_rank_0_is_at_work(tmp_path: Path) -> None:
    assert together(tmp_path / "out", 3, first, seconds=6.0) == [7, 7, 7]


def test_the_error_of_rank_0_at_work_is_said_once(tmp_path: Path) -> None:
    ranks = Ranks(tmp_path / "out", 2, first, lambda rank: {"seconds": 0.0, "error": "no such file"})
    assert ranks.errors() == {0: "TrainingError: no such file"}


def test_ranks_of_one_machine_share_its_cores(tmp_path: Path) -> None:
    assert together(tmp_path / "out", 2, count_threads, cores=7) == [3, 3]


def test_the_rank_that_differs_is_named_once_with_both_values(tmp_path: Path) -> None:
    ranks = Ranks(
        tmp_path / "out",
        3,
        agree,
        lambda rank: {"values": {"train.seed": 7 if rank == 1 else 1, "model": "as always"}},
    )
    [message] = ranks.errors().values()
    assert "rank 1 has another train.seed than the other ranks: 7, not 1" in message
