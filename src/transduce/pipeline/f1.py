"""Scoring of parses against a treebank: F1 as EVALB computes it, with failures as misses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import StrPath, read_lines
from transduce.base.log import logger
from transduce.metrics.parseval import (
    COLLINS,
    EvalbParameters,
    ParsevalReport,
    ParsevalTotals,
    parseval,
    read_evalb_parameters,
)
from transduce.metrics.score import Interval
from transduce.metrics.significance import Comparison, compare, confidence_interval
from transduce.pipeline.scoring import check_inputs
from transduce.text.treebank import ROOT_WRAPPERS
from transduce.text.trees import format_tree, read_trees

__all__ = ["F1Report", "f1_files"]

_ROOT = re.compile(r"[ \t]*\([ \t]*([^ \t()]*)")


@dataclass(frozen=True)
class F1Report:
    """Scores of one file of parses."""

    scores: ParsevalReport
    """Counts of each sentence, and sums of them."""
    interval: Interval
    """95 % confidence interval of F1 over test sets like this one."""
    comparison: Comparison | None
    """With the parses of another parser, where there are such: how much of the difference in F1 may be chance."""

    @property
    def f1(self) -> float:
        """F1 of all sentences in percent, failures as misses."""
        return self.scores.totals().f1

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON: ours, EVALB's, each for all sentences and for the short ones."""
        scores, max_length, comparison = self.scores, self.scores.parameters.max_length, self.comparison
        return {
            **_figures(scores.totals()),
            "interval": asdict(self.interval),
            "signature": scores.signature,
            "n_invalid": scores.n_invalid,
            "outcomes": dict(scores.outcomes),
            "n_put_back": sum(one.n_put_back for one in scores.sentences),
            "max_length": max_length,
            "short": _figures(scores.totals(max_length=max_length)),
            "evalb": {
                **_figures(scores.totals("left out")),
                "short": _figures(scores.totals("left out", max_length=max_length)),
                "stops_at": scores.evalb_stops_at,
            },
            "comparison": None if comparison is None else asdict(comparison) | {"difference": comparison.difference},
        }

    def sentences_as_dicts(self) -> list[dict[str, Any]]:
        """Return the counts of each sentence as plain values, numbered from 1."""
        return [{"sentence": number, **asdict(one)} for number, one in enumerate(self.scores.sentences, start=1)]


def _figures(totals: ParsevalTotals) -> dict[str, Any]:
    names = ("f1", "recall", "precision", "complete_match", "tagging_accuracy")
    crossing = ("average_crossing", "no_crossing", "up_to_two_crossing")
    return {name: getattr(totals, name) for name in (*names, *crossing)} | asdict(totals)


def f1_files(
    gold: StrPath, predicted: StrPath, *, parameters: StrPath | None = None, baseline: StrPath | None = None
) -> F1Report:
    """Score a file of parses against a file of gold trees.

    Args:
        gold: Trees in Penn brackets, one a line or laid out over many.
        predicted: Predictions, one a line, as many as there are gold trees. A line that is no tree is counted as a failure.
        parameters: A parameter file of EVALB; None: the rules of ``COLLINS.prm``.
        baseline: Predictions of another parser for the same sentences, to compare with; None: there is no comparison.

    Raises:
        DataError: A file is missing or not UTF-8, a gold tree is none, the counts differ, or a parameter is unknown.
    """
    files = [Path(file) for file in (gold, predicted, baseline) if file is not None]
    check_inputs(files)
    rules = COLLINS if parameters is None else read_evalb_parameters(parameters)
    gold_trees = [format_tree(tree) for tree in read_trees(files[0])]
    scores, *others = (_score(str(gold), gold_trees, file, rules) for file in files[1:])
    _warn_of_roots(str(gold), gold_trees, rules)
    return F1Report(
        scores=scores,
        interval=confidence_interval(scores.statistics()),
        comparison=compare(others[0].statistics(), scores.statistics()) if others else None,
    )


def _score(gold: str, gold_trees: Sequence[str], predicted: Path, parameters: EvalbParameters) -> ParsevalReport:
    lines = list(read_lines(predicted))
    try:
        scores = parseval(gold_trees, lines, parameters)
    except DataError as error:
        raise DataError(f"{gold} and {predicted}: {error}") from None
    compared = [line for line, one in zip(lines, scores.sentences, strict=True) if one.outcome == "scored"]
    _warn_of_roots(str(predicted), compared, parameters)
    return scores


def _warn_of_roots(name: str, trees: Sequence[str], parameters: EvalbParameters) -> None:
    """Say so when brackets around whole trees count like brackets that mean something."""
    counted = _roots(trees, parameters)
    if counted:
        labels = " and ".join(label or "no label" for label in counted)
        logger.warning(
            "%s: the outermost brackets of %s of %s trees (%s) count as brackets, for EVALB too, since the parameters do "
            "not delete them; let all trees have the root TOP",
            name,
            f"{counted.total():,}",
            f"{len(trees):,}",
            labels,
        )


def _roots(trees: Iterable[str], parameters: EvalbParameters) -> Counter[str]:
    """Count the labels of outermost brackets that say nothing and are not deleted."""
    found = Counter(match[1] for tree in trees if (match := _ROOT.match(tree)))
    return Counter(
        {
            label: found[label]
            for label in sorted(ROOT_WRAPPERS)
            if found[label] and label not in parameters.deleted_brackets
        }
    )
