"""How far a score would move with another test set, and whether two systems differ by more than that.

Everything is computed from sums of :class:`~transduce.metrics.statistics.Statistics`: a resample of the test set is a list
of how often each sentence was drawn, and the sums of a thousand resamples are one product of matrices. The draws, with the
seed, and the p-values are those of sacreBLEU's ``--paired-bs`` and ``--paired-ar``. One thing differs: a resample whose
difference equals the observed one counts as evidence for chance, so that two equal outputs have a p-value of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.metrics.score import Interval
from transduce.metrics.statistics import FloatArray, Statistics

__all__ = ["N_RESAMPLES", "SEED", "Comparison", "Test", "compare", "confidence_interval", "drawn_signature"]

Test = Literal["bootstrap", "randomization"]
"""Paired bootstrap resampling (Koehn, 2004) or paired approximate randomization (Riezler and Maxwell, 2005)."""

SEED = 12345
"""sacreBLEU's."""
N_RESAMPLES = 1_000
"""Test sets drawn for an interval, and for the p-value of the bootstrap: sacreBLEU's."""
_N_SHUFFLES = 10_000

_ROWS = 32  # resamples at a time, for memory; a multiple of 32, so that bits are drawn as in one go
_ROUNDING = 1e-9  # of a point: far above the error of float64, far below any real difference


@dataclass(frozen=True)
class Comparison:
    """A system beside a baseline, on one test set and in one metric."""

    baseline: float
    """The baseline's score."""
    system: float
    """The system's score."""
    interval: Interval
    """95 % confidence interval of ``difference``, by bootstrap."""
    wins: float
    """Share of resampled test sets on which the system is better: Koehn's own figure."""
    p_value: float
    """How probable a difference at least as large would be, if the two systems did not differ."""
    test: Test
    """What the p-value is of."""
    n_samples: int
    """Resamples or shuffles behind the p-value."""
    n_resamples: int
    """Resamples behind the interval and the wins."""
    seed: int
    """Of the draws."""

    @property
    def difference(self) -> float:
        """System minus baseline."""
        return self.system - self.baseline


def confidence_interval(statistics: Statistics, *, n_resamples: int = N_RESAMPLES, seed: int = SEED) -> Interval:
    """Compute the 95 % bootstrap interval of a score: how it varies over test sets drawn from the sentences of this one.

    Args:
        statistics: Of one output.
        n_resamples: Test sets drawn.
        seed: Of the draws.

    >>> from transduce.metrics.bleu import bleu_statistics
    >>> str(confidence_interval(bleu_statistics(["A dog runs."] * 9, ["A dog runs."] * 9)))
    '[100.00, 100.00]'
    """
    return _interval(_resampled(statistics.counts, n_resamples, seed, statistics.formula))


def compare(
    baseline: Statistics,
    system: Statistics,
    *,
    test: Test = "bootstrap",
    n_samples: int | None = None,
    seed: int = SEED,
) -> Comparison:
    """Compare a system with a baseline on the same sentences.

    Args:
        baseline: Statistics of the baseline's output.
        system: Statistics of the system's output, in the same metric against the same references.
        test: Bootstrap draws test sets; randomization swaps the two outputs of random sentences. The second makes fewer
            assumptions and has more power; the first is what more papers print.
        n_samples: Resamples or shuffles; not given, 1,000 and 10,000. The interval always takes 1,000 resamples or more.
        seed: Of the draws.

    Raises:
        DataError: The two are not of the same test set and metric.

    >>> from transduce.metrics.bleu import bleu_statistics
    >>> one = bleu_statistics(["A dog runs fast."] * 9, ["A dog runs fast."] * 9)
    >>> other = bleu_statistics(["A dog ran fast."] * 9, ["A dog runs fast."] * 9)
    >>> found = compare(other, one)
    >>> round(found.difference, 1), found.wins, compare(one, one).p_value
    (89.9, 1.0, 1.0)
    """
    if (baseline.signature, len(baseline.counts)) != (system.signature, len(system.counts)):
        raise DataError(
            f"{len(baseline.counts):,} sentences by {baseline.signature} and {len(system.counts):,} by {system.signature} "
            "cannot be compared: both must be the same sentences in the same metric"
        )
    n_samples = n_samples or (N_RESAMPLES if test == "bootstrap" else _N_SHUFFLES)
    n_resamples = max(n_samples, N_RESAMPLES) if test == "bootstrap" else N_RESAMPLES
    both = np.concatenate([baseline.counts, system.counts], axis=1)
    score = _score_both(system.formula)
    pair = score(both.sum(axis=0))
    resampled = _resampled(both, n_resamples, seed, score)
    differences = resampled[:, 1] - resampled[:, 0]
    observed = abs(float(pair[1] - pair[0]))
    if test == "bootstrap":
        sizes = np.abs(differences[:n_samples])
        p_value = _p_value(sizes - sizes.mean(), observed)
    else:
        p_value = _p_value(_shuffled_differences(baseline, system, n_samples, seed), observed)
    wins = differences < 0 if system.lower_is_better else differences > 0
    return Comparison(
        baseline=float(pair[0]),
        system=float(pair[1]),
        interval=_interval(differences),
        wins=float(wins.mean()),
        p_value=p_value,
        test=test,
        n_samples=n_samples,
        n_resamples=n_resamples,
        seed=seed,
    )


def drawn_signature(signature: str, test: Test, n_samples: int, seed: int = SEED) -> str:
    """Return a metric's signature with what was drawn, as sacreBLEU writes it.

    Args:
        signature: The metric's own.
        test: What the draws are for; an interval is by bootstrap.
        n_samples: Resamples or shuffles.
        seed: Of the draws.

    >>> drawn_signature("nrefs:1|case:mixed|tok:13a", "bootstrap", 1000)
    'nrefs:1|bs:1000|seed:12345|case:mixed|tok:13a'
    """
    n_references, _, others = signature.partition("|")
    return f"{n_references}|{'bs' if test == 'bootstrap' else 'ar'}:{n_samples}|seed:{seed}|{others}"


def _score_both(formula: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    """Make a formula from sums of both systems, one behind the other, to ``[..., 2]`` scores."""

    def score(sums: FloatArray) -> FloatArray:
        return np.stack([formula(half) for half in np.split(sums, 2, axis=-1)], axis=-1)

    return score


def _resampled(
    counts: FloatArray, n_resamples: int, seed: int, formula: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return ``[n_resamples, ...]``: the scores of test sets as large as this one, drawn from it with replacement."""
    random, n_sentences = np.random.default_rng(seed), len(counts)
    scores = []
    for start in range(0, n_resamples, _ROWS):
        drawn = random.choice(n_sentences, size=(min(_ROWS, n_resamples - start), n_sentences), replace=True)
        times = np.array([np.bincount(row, minlength=n_sentences) for row in drawn], dtype=np.float64)
        scores.append(formula(times @ counts))
    return np.concatenate(scores)


def _shuffled_differences(baseline: Statistics, system: Statistics, n_shuffles: int, seed: int) -> FloatArray:
    """Return ``[n_shuffles]``: the size of the difference when each sentence's two outputs change places, or not, by chance."""
    random, n_sentences = np.random.default_rng(seed), len(system.counts)
    total = baseline.counts.sum(axis=0) + system.counts.sum(axis=0)
    differences = []
    for start in range(0, n_shuffles, _ROWS):
        swapped = random.integers(2, size=(min(_ROWS, n_shuffles - start), n_sentences), dtype=np.bool_)
        sums = swapped.astype(np.float64) @ (baseline.counts - system.counts) + system.counts.sum(axis=0)
        differences.append(np.abs(system.formula(sums) - system.formula(total - sums)))
    return np.concatenate(differences)


def _interval(scores: FloatArray) -> Interval:
    """Return what is left without a fortieth at either end."""
    ordered, cut = np.sort(scores), len(scores) // 40
    return Interval(float(ordered[cut]), float(ordered[len(ordered) - cut - 1]))


def _p_value(by_chance: npt.NDArray[np.float64], observed: float) -> float:
    """Return the share of samples that reach what was observed, the observed one counted among them."""
    return (int((by_chance >= observed - _ROUNDING).sum()) + 1) / (len(by_chance) + 1)
