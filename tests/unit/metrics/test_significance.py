"""Significance: what is certain comes out certain, what is nothing comes out as nothing, and chance in between."""

from __future__ import annotations

import numpy as np
import pytest

from transduce.base.errors import DataError
from transduce.metrics import significance
from transduce.metrics.bleu import bleu_statistics
from transduce.metrics.significance import Test, compare, confidence_interval
from transduce.metrics.statistics import FloatArray, Statistics, chrf_statistics, ter_statistics

N = 400
TESTS: tuple[Test, ...] = ("bootstrap", "randomization")


def _mean(values: FloatArray) -> Statistics:
    """Make a metric that is a mean: its distribution over resamples is known."""
    counts = np.stack([values, np.ones(len(values))], axis=1)
    return Statistics("mean", "mean", counts, lambda sums: sums[..., 0] / sums[..., 1])


def test_an_interval_of_a_mean_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(5).normal(50, 10, N)
    found = confidence_interval(_mean(values))
    half = 1.96 * values.std() / np.sqrt(N)
    # The ends of 1,000 resamples have an error of their own, about a tenth of the standard error.
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.2)


@pytest.mark.parametrize("test", TESTS)
def test_equal_outputs_do_not_differ(test: Test) -> None:
    values = _mean(np.random.default_rng(5).normal(50, 10, N))
    found = compare(values, values, test=test, n_samples=200)
    assert (found.difference, found.p_value, found.wins) == (0.0, 1.0, 0.0)
    assert (found.interval.low, found.interval.high) == (0.0, 0.0)


@pytest.mark.parametrize("test", TESTS)
def test_a_difference_in_one_sentence_may_always_be_chance(test: Test) -> None:
    values = np.random.default_rng(5).normal(50, 10, N)
    other = values.copy()
    other[3] += 5
    found = compare(_mean(values), _mean(other), test=test, n_samples=500)
    # Swapping one sentence, or not, gives the same difference each time: the test must not take that for evidence.
    assert found.p_value > 0.2
    assert found.difference == pytest.approx(5 / N)


@pytest.mark.parametrize("test", TESTS)
def test_a_better_system_is_found_better(test: Test) -> None:
    values = np.random.default_rng(5).normal(50, 10, N)
    found = compare(_mean(values), _mean(values + 1 + np.random.default_rng(6).normal(0, 1, N)), test=test)
    n_samples = 1_000 if test == "bootstrap" else 10_000
    assert found.n_samples == n_samples and found.p_value == 1 / (n_samples + 1)
    assert found.wins == 1.0
    assert found.interval.low < found.difference < found.interval.high
    assert found.interval.low > 0.8  # ten standard errors of 1 / sqrt(400) above 0


def test_p_values_of_systems_that_do_not_differ_are_spread_evenly() -> None:
    random, p_values = np.random.default_rng(5), []
    for _ in range(200):
        pair = random.normal(0, 1, (2, 60))
        p_values.append(compare(_mean(pair[0]), _mean(pair[1]), test="randomization", n_samples=100).p_value)
    # Of 200 draws of an even distribution 20 are expected below 0.1, with a standard deviation of 4.2.
    assert 5 < sum(p_value < 0.1 for p_value in p_values) < 35


def test_fewer_errors_are_a_win() -> None:
    references = ["a b c d", "e f g h"] * 5
    better = ter_statistics(["a b c d", "e f g x"] * 5, references)
    worse = ter_statistics(["a b x y", "e z g x"] * 5, references)
    assert compare(worse, better).wins == 1.0 and compare(worse, better).difference < 0
    assert compare(better, worse).wins == 0.0


def test_the_seed_decides() -> None:
    values = np.random.default_rng(5).normal(50, 10, N)
    one, other = _mean(values), _mean(values + np.random.default_rng(6).normal(0.3, 5, N))
    assert compare(one, other) == compare(one, other)
    assert compare(one, other) != compare(one, other, seed=1)


@pytest.mark.parametrize("test", TESTS)
def test_draws_do_not_depend_on_how_many_are_made_at_once(test: Test, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).normal(50, 10, 101)
    one, other = _mean(values), _mean(values + np.random.default_rng(6).normal(0.3, 5, 101))
    found = compare(one, other, test=test, n_samples=1_100)
    monkeypatch.setattr(significance, "_ROWS", 256)
    assert compare(one, other, test=test, n_samples=1_100) == found


def test_only_the_same_metric_on_the_same_sentences_is_compared() -> None:
    bleu, chrf = bleu_statistics(["a b"], ["a b"]), chrf_statistics(["a b"], ["a b"])
    with pytest.raises(DataError, match="same sentences in the same metric"):
        compare(bleu, chrf)
    with pytest.raises(DataError, match=r"1 sentences .* and 2"):
        compare(bleu, bleu_statistics(["a b"] * 2, ["a b"] * 2))
