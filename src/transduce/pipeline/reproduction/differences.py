"""How far a row of a table is from the base model, and how sure that is: over sentences, or over seeds where there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from transduce.base.files import read_lines
from transduce.metrics.bleu import bleu_statistics
from transduce.metrics.score import Interval
from transduce.metrics.significance import compare
from transduce.metrics.statistics import FloatArray, Statistics
from transduce.paper.conclusions import Difference, Metric
from transduce.pipeline.reproduction.plan import run_name
from transduce.pipeline.reproduction.results import TRANSLATIONS_FILE, RunResult, SentenceLosses, read_sentence_losses

__all__ = ["Differences", "find_difference", "loss_statistics", "paired_difference", "seeds_difference"]

_T_975 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
"""Quantiles of Student's t for 1, 2 ... 20 degrees of freedom. With more the last one is used, which is a little too wide."""


class Differences:
    """Reads what the comparison of runs needs, each file once.

    Args:
        out: The directory of the reproduction.
        references: By part, what the runs translated should be.
    """

    def __init__(self, out: Path, references: Mapping[str, Sequence[str]]) -> None:
        self._out, self._references = out, references
        self._read: dict[tuple[str, Metric], Statistics] = {}

    def between(self, row: Sequence[RunResult], base: Sequence[RunResult], metric: Metric) -> Difference | None:
        """Return what a row has more than the base model; None where one of the two has no run.

        Args:
            row: Its runs, one a seed.
            base: The runs of the base model.
            metric: Of which the difference is.
        """
        return find_difference(
            {result.seed: self._statistics(result, metric) for result in row},
            {result.seed: self._statistics(result, metric) for result in base},
        )

    def _statistics(self, result: RunResult, metric: Metric) -> Statistics:
        directory = self._out / "runs" / run_name(result.row, result.seed)
        key = directory.name, metric
        if key not in self._read:
            self._read[key] = (
                bleu_statistics(list(read_lines(directory / TRANSLATIONS_FILE)), self._references[result.part])
                if metric == "BLEU"
                else loss_statistics(read_sentence_losses(directory))
            )
        return self._read[key]


def loss_statistics(losses: SentenceLosses) -> Statistics:
    """Return the natural logarithm of the perplexity as a figure over sentences.

    >>> loss_statistics(SentenceLosses(np.array([2.0, 1.0]), np.array([2.0, 4.0]))).score().value
    0.5
    """

    def formula(sums: FloatArray) -> FloatArray:
        return np.asarray(sums[..., 0] / sums[..., 1])

    counts = np.stack([losses.nats, losses.n_tokens], axis=1)
    return Statistics("log perplexity", "per word-piece", counts, formula, lower_is_better=True)


def find_difference(row: Mapping[int, Statistics], base: Mapping[int, Statistics]) -> Difference | None:
    """Return the difference of two sets of runs, by seed: over seeds where two or more are in both, else over sentences."""
    if not row or not base:
        return None
    both = sorted(row.keys() & base.keys())
    if len(both) > 1:
        return seeds_difference([row[seed].score().value for seed in both], [base[seed].score().value for seed in both])
    ours, theirs = (both[0], both[0]) if both else (min(row), min(base))
    return paired_difference(row[ours], base[theirs])


def seeds_difference(ours: Sequence[float], base: Sequence[float]) -> Difference:
    """Return the mean difference of two sets of runs with the same seeds, with Student's interval.

    Args:
        ours: Scores of a row, at least two.
        base: Those of the base model, in the same order.

    >>> seeds_difference([11.0, 12.0, 13.0], [10.0, 10.0, 10.0]).interval.low  # 2 - 4.303 / sqrt(3)
    -0.4843...
    """
    differences = [one - other for one, other in zip(ours, base, strict=True)]
    n = len(differences)
    t = _T_975[min(n - 1, len(_T_975)) - 1]
    half = t * stdev(differences) / math.sqrt(n)
    middle = mean(differences)
    return Difference(middle, Interval(middle - half, middle + half), f"{n} seeds", base=mean(base))


def paired_difference(ours: Statistics, theirs: Statistics) -> Difference:
    """Return the difference of two outputs for the same sentences, with the interval of a paired bootstrap.

    It says how far other sentences would change the difference; what another seed would change is not in it.

    Raises:
        DataError: They are not of the same sentences.
    """
    found = compare(theirs, ours)
    return Difference(found.difference, found.interval, "sentences", base=found.baseline)
