"""How far a row of a table is from the base model, and how sure that is: over sentences, or over seeds where there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.base.log import plural
from transduce.metrics.bleu import bleu_statistics
from transduce.metrics.score import Interval
from transduce.metrics.significance import compare
from transduce.metrics.statistics import FloatArray, Statistics
from transduce.paper.conclusions import Difference, Metric
from transduce.pipeline.reproduction.plan import run_name
from transduce.pipeline.reproduction.results import TRANSLATIONS_FILE, RunResult, SentenceLosses, read_sentence_losses

__all__ = [
    "Differences",
    "find_difference",
    "loss_statistics",
    "paired_difference",
    "seeds_difference",
    "unpaired_difference",
]

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

        Raises:
            DataError: A file of a run is missing or damaged.
        """
        return find_difference(
            {result.seed: self._statistics(result, metric) for result in row},
            {result.seed: self._statistics(result, metric) for result in base},
        )

    def _statistics(self, result: RunResult, metric: Metric) -> Statistics:
        directory = self._out / "runs" / run_name(result.row, result.seed)
        key = directory.name, metric
        if key not in self._read:
            try:
                self._read[key] = self._count(directory, self._references[result.part], metric)
            except DataError as error:
                raise DataError(f"{directory}: is damaged ({error}); remove this directory, and run again") from None
        return self._read[key]

    @staticmethod
    def _count(directory: Path, references: Sequence[str], metric: Metric) -> Statistics:
        if metric == "BLEU":
            return bleu_statistics(list(read_lines(directory / TRANSLATIONS_FILE)), references)
        losses = read_sentence_losses(directory)
        if len(losses.nats) != len(references):
            raise DataError(f"{len(losses.nats):,} losses for {len(references):,} sentences")
        return loss_statistics(losses)


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
    """Return the difference of two sets of runs, by seed: that of their means, with an interval over seeds.

    One run of each is compared over sentences.
    """
    if not row or not base:
        return None
    if len(row) == len(base) == 1:
        return paired_difference(*row.values(), *base.values())
    ours, theirs = ([runs[seed].score().value for seed in sorted(runs)] for runs in (row, base))
    return seeds_difference(ours, theirs) if row.keys() == base.keys() else unpaired_difference(ours, theirs)


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
    half = _t_975(n - 1) * stdev(differences) / math.sqrt(n)
    middle = mean(differences)
    return Difference(middle, Interval(middle - half, middle + half), f"{n} seeds", base=mean(base))


def unpaired_difference(ours: Sequence[float], base: Sequence[float]) -> Difference:
    """Return the difference of the means of two sets of runs with other seeds, or with more of one, with Student's interval.

    Seeds are taken to change a row as much as they change the base model, so that a row with one seed has an interval too.

    Args:
        ours: Scores of a row.
        base: Those of the base model. Together they are at least three.

    >>> unpaired_difference([11.0], [9.0, 10.0, 11.0]).interval.low  # 1 - 4.303 * sqrt(1 + 1 / 3)
    -3.968...
    """
    freedom = len(ours) + len(base) - 2
    middle = mean(ours) - mean(base)
    squares = sum((value - mean(values)) ** 2 for values in (ours, base) for value in values)
    half = _t_975(freedom) * math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(base)))
    interval = Interval(middle - half, middle + half)
    return Difference(middle, interval, f"{plural(len(ours), 'seed')} against {len(base)}", base=mean(base))


def _t_975(freedom: int) -> float:
    return _T_975[min(freedom, len(_T_975)) - 1]


def paired_difference(ours: Statistics, theirs: Statistics) -> Difference:
    """Return the difference of two outputs for the same sentences, with the interval of a paired bootstrap.

    It says how far other sentences would change the difference; what another seed would change is not in it.

    Raises:
        DataError: They are not of the same sentences.
    """
    found = compare(theirs, ours)
    return Difference(found.difference, found.interval, "sentences", base=found.baseline)
