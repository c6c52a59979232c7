from __future__ import annotations

import math

import numpy as np
import pytest

from transduce.metrics.bleu import bleu_statistics
from transduce.pipeline.reproduction.differences import (
    find_difference,
    loss_statistics,
    seeds_difference,
    unpaired_difference,
)
from transduce.pipeline.reproduction.results import SentenceLosses


def test_differences_over_sentences_are_paired() -> None:
    """Every sentence of one model costs 0.1 nats a token more: whatever is drawn, so does the whole."""
    tokens = np.array([5.0, 9.0, 14.0, 3.0])
    base = SentenceLosses(np.array([7.0, 20.0, 21.0, 9.0]), tokens)
    worse = SentenceLosses(base.nats + 0.1 * tokens, tokens)
    found = find_difference({1: loss_statistics(worse)}, {1: loss_statistics(base)})
    assert found is not None and found.over == "sentences"
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((0.1, 0.1, 0.1))


def test_differences_over_seeds_are_those_of_the_means() -> None:
    reference = ["a b c d e f"] * 2
    outputs = ["a b c d e f", "a b c d x f"]
    scored = [bleu_statistics([outputs[i], outputs[j]], reference) for i, j in ((0, 0), (0, 1), (1, 1))]
    values = [statistics.score().value for statistics in scored]
    row, base = {1: scored[1], 2: scored[2]}, {2: scored[1], 1: scored[0]}
    found = find_difference(row, base)
    assert found == seeds_difference([values[1], values[2]], [values[0], values[1]])
    assert found is not None and found.over == "2 seeds"
    more = find_difference({1: scored[1]}, {1: scored[0], 2: scored[0], 3: scored[2]})
    assert more == unpaired_difference([values[1]], [values[0], values[0], values[2]])
    assert more is not None and more.over == "1 seed against 3"
    assert more.base == pytest.approx((2 * values[0] + values[2]) / 3)
    assert more.value == pytest.approx(values[1] - more.base)  # what the cells of the table differ by


@pytest.mark.parametrize(("n_ours", "n_base"), [(1, 3), (3, 2), (5, 1)])
def test_an_interval_of_unequal_seeds_holds_the_truth_19_times_of_20(n_ours: int, n_base: int) -> None:
    drawn = np.random.default_rng(7).normal(0.0, 2.0, size=(20_000, n_ours + n_base))
    found = [unpaired_difference((row[:n_ours] + 1.5).tolist(), row[n_ours:].tolist()).interval for row in drawn]
    share = sum(each.low <= 1.5 <= each.high for each in found) / len(found)
    assert share == pytest.approx(0.95, abs=0.006)  # four standard deviations of the count


def test_no_difference_to_what_was_not_run() -> None:
    assert find_difference({}, {1: bleu_statistics(["a"], ["a"])}) is None


@pytest.mark.parametrize("n", [2, 3, 10, 11, 21])
def test_the_interval_over_seeds_is_students(n: int) -> None:
    """Between its ends lies 95 % of Student's density, which is summed up here in small steps."""
    found = seeds_difference([float(i) for i in range(n)], [0.0] * n)
    error = math.sqrt(n * (n + 1) / 12 / n)  # of the mean of 0 ... n - 1
    t, freedom = (found.interval.high - found.value) / error, n - 1
    places = np.linspace(-t, t, 200_001)
    factor = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    inside = float(np.trapezoid(factor * (1 + places**2 / freedom) ** (-(freedom + 1) / 2), places))
    assert inside == pytest.approx(0.95, abs=2e-5)  # quantiles are given to three digits


def test_with_many_seeds_the_interval_is_not_too_narrow() -> None:
    found = seeds_difference([float(i) for i in range(50)], [0.0] * 50)
    assert (found.interval.high - found.value) / math.sqrt(51 / 12) > 2.009  # Student's for 49 degrees of freedom


def test_equal_outputs_differ_by_nothing() -> None:
    same = bleu_statistics(["a b c d e", "x"], ["a b c d e", "y"])
    found = find_difference({1: same}, {1: same})
    assert found is not None
    assert (found.value, found.interval.low, found.interval.high, found.base) == (0.0, 0.0, 0.0, same.score().value)


def test_one_run_of_each_is_compared_over_sentences() -> None:
    one, other = (bleu_statistics([text], ["a b c d e"]) for text in ("a b c d e", "a b c d"))
    found = find_difference({2: other}, {1: one})
    assert found is not None and found.over == "sentences"
    assert found.value == pytest.approx(other.score().value - one.score().value)
