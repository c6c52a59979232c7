from __future__ import annotations

import pytest

from transduce.decoding.penalties import length_penalty


@pytest.mark.parametrize(("n_tokens", "penalty"), [(10, 1.73), (20, 2.35)])
def test_length_penalty_of_the_worked_examples(n_tokens: int, penalty: float) -> None:
    assert length_penalty(n_tokens, 0.6) == pytest.approx(penalty, abs=0.005)  # the paper's numbers have two decimals


def test_longer_hypothesis_of_the_worked_example_wins() -> None:
    short, long = -6.0 / length_penalty(10, 0.6), -8.0 / length_penalty(20, 0.6)
    assert short == pytest.approx(-3.46, abs=0.005)
    assert long == pytest.approx(-3.40, abs=0.005)
    assert long > short


def test_no_penalty_without_alpha_and_for_eos_alone() -> None:
    assert [length_penalty(n, 0.0) for n in (1, 7, 100)] == [1.0, 1.0, 1.0]
    assert length_penalty(1, 0.6) == 1.0
