"""Rows of Table 3 as they might have been measured, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping

from transduce.metrics.score import Interval
from transduce.paper.conclusions import Difference, Metric
from transduce.paper.measured import Measured, MeasuredCost, MeasuredRow, MeasuredScore, Spread
from transduce.paper.runs import TABLE3

__all__ = ["measured", "rows"]


def measured(bleu: float, perplexity: float, *, seeds: tuple[int, ...] = (1,)) -> Measured:
    """Return a row; its split BLEU is a point above the others, as it is on German."""
    deviation = 0.31 if len(seeds) > 1 else None
    value = Spread(bleu, deviation, len(seeds))
    split = Spread(bleu + 1, deviation, len(seeds))
    scores = tuple(
        MeasuredScore(name, split if name == "split BLEU" else value, f"sig:{name}")
        for name in ("BLEU", "tokenized BLEU", "split BLEU", "chrF2")
    )
    hours = Spread(0.125, deviation, len(seeds))
    cost = MeasuredCost(hours, 2.0e13, 4.0e13, 1, "some processor", 0.09, "a matrix product, measured at the start")
    return Measured(seeds, 1_902_345, "the last checkpoint", Spread(perplexity, deviation, len(seeds)), scores, cost)


def rows() -> list[MeasuredRow]:
    """Base with three seeds, A-h1 worse, E-learned with a failure, the others not run."""
    found: Mapping[str, Measured] = {
        "base": measured(31.41, 7.77, seeds=(1, 2, 3)),
        "A-h1": measured(30.11, 8.08, seeds=(1, 2, 3)),
        "D-ls0.0": measured(30.9, 7.5),
        "C-n2": measured(33.1, 7.2),
    }
    differences: dict[str, dict[Metric, Difference]] = {
        "A-h1": {
            "BLEU": Difference(-1.3, Interval(-2.2, -0.4), "3 seeds", 31.41),
            "perplexity": Difference(0.04, Interval(0.01, 0.07), "3 seeds", 2.05),
        },
        "D-ls0.0": {
            "BLEU": Difference(-0.51, Interval(-1.2, 0.2), "sentences", 31.41),
            "perplexity": Difference(-0.035, Interval(-0.05, -0.02), "sentences", 2.05),
        },
        "C-n2": {
            "BLEU": Difference(1.7, Interval(0.9, 2.4), "sentences", 31.41),
            "perplexity": Difference(-0.08, Interval(-0.1, -0.06), "sentences", 2.05),
        },
    }
    return [
        MeasuredRow(
            row=row,
            changes=tuple(override.partition(".")[2] for override in TABLE3[row].overrides),
            measured=found.get(row),
            failure="the disk is full (exit code 2)" if row == "E-learned" else None,
            differences=differences.get(row, {}),
        )
        for row in TABLE3
    ]
