"""Comparing translations of one test set: is the difference more than chance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from transduce.base.errors import DataError
from transduce.base.files import StrPath
from transduce.metrics.bleu import BleuTokenizer, bleu_statistics, choose_tokenizer
from transduce.metrics.flavours import split_bleu_statistics, tokenized_bleu_statistics
from transduce.metrics.score import Interval, check_counts
from transduce.metrics.significance import SEED, Comparison, Test, compare, confidence_interval, drawn_signature
from transduce.metrics.statistics import Statistics, chrf_statistics, ter_statistics
from transduce.pipeline.scoring import moses_language, read_sides, warn_of_language, warn_of_tokenized

__all__ = ["CompareReport", "MetricName", "SystemReport", "compare_files"]

MetricName = Literal["bleu", "chrf", "chrf++", "ter", "tokenized", "split"]
"""The last two are BLEU as papers of 2017 printed it, without and with compounds split."""


@dataclass(frozen=True)
class SystemReport:
    """One system in one metric."""

    name: str
    """Its file."""
    value: float
    """Its score."""
    interval: Interval
    """95 % confidence interval of the score."""
    comparison: Comparison | None
    """With the baseline; None for the baseline itself."""


@dataclass(frozen=True)
class CompareReport:
    """All systems in one metric, the baseline first."""

    metric: str
    """Such as ``BLEU``."""
    signature: str
    """The metric's, with the test and its seed."""
    systems: tuple[SystemReport, ...]
    """In the order given."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        values = asdict(self)
        for system, plain in zip(self.systems, values["systems"], strict=True):
            if system.comparison is not None:
                plain["comparison"]["difference"] = system.comparison.difference
        return values


def compare_files(
    references: StrPath,
    baseline: StrPath,
    *systems: StrPath,
    metrics: Sequence[MetricName] = ("bleu", "chrf"),
    test: Test = "bootstrap",
    tokenize: BleuTokenizer | None = None,
    language: str | None = None,
    n_samples: int | None = None,
    seed: int = SEED,
) -> tuple[CompareReport, ...]:
    """Compare translations of one test set with those of a baseline, in one or more metrics.

    Args:
        references: Detokenized references, one a line.
        baseline: Detokenized translations of the baseline.
        systems: Detokenized translations of the systems that are compared with it.
        metrics: What to compare them in.
        test: What the p-value is of.
        tokenize: sacreBLEU's tokenizer; not given, its default, or ``zh`` or ``char`` for text written without spaces.
        language: The target language, which tokenized and split BLEU need; not given, a file name says it.
        n_samples: Resamples or shuffles; not given, 1,000 and 10,000.
        seed: Of the draws.

    Raises:
        DataError: There is no system, a file cannot be read, the counts differ, or a reference is empty.
    """
    if not systems:
        raise DataError("there is nothing to compare the baseline with: give at least two files of translations")
    paths = [Path(path) for path in (references, baseline, *systems)]
    moses = moses_language(language, paths) if {"tokenized", "split"} & set(metrics) else ""
    theirs, *outputs = read_sides(paths)
    for path, ours in zip(paths[1:], outputs, strict=True):
        check_counts(ours, theirs, names=[str(path), str(paths[0])])
        warn_of_tokenized(path, ours, theirs)
    if moses:
        warn_of_language(moses)
    tokenizer = tokenize or choose_tokenizer(theirs)
    return tuple(
        _compare(
            [_count(metric, ours, theirs, tokenizer, moses) for ours in outputs],
            [str(path) for path in paths[1:]],
            test,
            n_samples,
            seed,
        )
        for metric in metrics
    )


def _count(
    metric: MetricName, ours: Sequence[str], theirs: Sequence[str], tokenizer: BleuTokenizer, language: str
) -> Statistics:
    match metric:
        case "bleu":
            return bleu_statistics(ours, theirs, tokenize=tokenizer)
        case "chrf":
            return chrf_statistics(ours, theirs)
        case "chrf++":
            return chrf_statistics(ours, theirs, word_order=2)
        case "ter":
            return ter_statistics(ours, theirs)
        case "tokenized":
            return tokenized_bleu_statistics(ours, theirs, language=language)
        case "split":
            return split_bleu_statistics(ours, theirs, language=language)


def _compare(
    outputs: Sequence[Statistics], names: Sequence[str], test: Test, n_samples: int | None, seed: int
) -> CompareReport:
    baseline, *others = outputs
    found = [compare(baseline, other, test=test, n_samples=n_samples, seed=seed) for other in others]
    n_resamples = found[0].n_resamples
    systems = tuple(
        SystemReport(
            name, output.score().value, confidence_interval(output, n_resamples=n_resamples, seed=seed), comparison
        )
        for name, output, comparison in zip(names, outputs, [None, *found], strict=True)
    )
    signature = drawn_signature(baseline.signature, test, found[0].n_samples, seed)
    return CompareReport(baseline.name, signature, systems)
