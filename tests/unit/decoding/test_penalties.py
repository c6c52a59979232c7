from __future__ import annotations

import numpy as np
import pytest

from transduce.decoding.penalties import coverage_penalty, length_penalty


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


def test_coverage_penalty_is_the_sum_of_the_logs_of_what_each_source_token_got() -> None:
    # Two source tokens and EOS; they get 0.5 + 0.2 = 0.7 and 0.1 + 0.8 = 0.9 of the attention.
    attention = np.array([[0.5, 0.1, 0.4], [0.2, 0.8, 0.0]], dtype=np.float32)
    assert coverage_penalty(attention, 0.2) == pytest.approx(0.2 * (np.log(0.7) + np.log(0.9)), abs=1e-7)  # float32
    assert coverage_penalty(attention, 0.0) == 0.0


def test_coverage_penalty_is_finite_for_what_nothing_looks_at_and_for_an_empty_source() -> None:
    nowhere = np.array([[0.0, 1.0]], dtype=np.float32)
    assert coverage_penalty(nowhere, 1.0) == pytest.approx(np.log(1e-9))
    assert coverage_penalty(np.ones((3, 1), dtype=np.float32), 1.0) == 0.0
