"""Table 3 as it was measured, as one HTML page: what each change does to BLEU and perplexity, paper and here, with charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transduce.paper.conclusions import Metric
from transduce.paper.markdown import per_point, scientific
from transduce.paper.measured import MeasuredRow, MeasuredScore
from transduce.paper.page import fill_page
from transduce.paper.runs import TABLE3
from transduce.paper.table3_text import printed_difference

__all__ = ["table3_page"]

_METRICS: tuple[Metric, ...] = ("BLEU", "perplexity")


def table3_page(title: str, facts: Sequence[tuple[str, str]], note: str, rows: Sequence[MeasuredRow]) -> str:
    """Return the page.

    Args:
        title: Of the page.
        facts: Names and values that stand at its head.
        note: What is to be kept in mind; may be empty.
        rows: All rows of the table, run or not, in its order.
    """
    return fill_page("table3", title, {"facts": facts, "note": note, "rows": [_row(row) for row in rows]})


def _row(row: MeasuredRow) -> dict[str, Any]:
    printed, found = TABLE3[row.row], row.measured
    return {
        "name": row.row,
        "changes": ", ".join(row.changes),
        "failure": row.failure,
        "printed": {
            "params": printed.params_millions,
            "BLEU": printed.bleu_dev,
            "perplexity": printed.ppl_dev,
            "differences": {metric: round(printed_difference(row.row, metric), 5) for metric in _METRICS},
        },
        "here": None
        if found is None
        else {
            "seeds": found.seeds,
            "params": found.n_parameters,
            "perplexity": [found.perplexity.mean, found.perplexity.deviation],
            "scores": [_score(score) for score in found.scores],
            "hours": [found.cost.hours.mean, found.cost.hours.deviation],
            "flops": found.cost.flops,
            "flops_words": scientific(found.cost.flops),
            "paper_flops_words": scientific(found.cost.paper_flops),
            "per_point": per_point(found.cost.flops, found.bleu),
            "paper_per_point": per_point(found.cost.paper_flops, found.bleu),
        },
        "differences": {
            metric: [difference.value, difference.interval.low, difference.interval.high, difference.over]
            for metric, difference in row.differences.items()
        },
        "verdicts": [
            {
                "metric": conclusion.metric,
                "words": conclusion.words,
                "expected": conclusion.expected,
                "source": conclusion.source,
                "verdict": verdict,
            }
            for conclusion, verdict in row.verdicts
        ],
    }


def _score(score: MeasuredScore) -> dict[str, Any]:
    return {
        "name": score.name,
        "value": score.value.mean,
        "deviation": score.value.deviation,
        "signature": score.signature,
    }
