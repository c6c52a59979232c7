"""What the paper concludes from Table 3, row by row, as data, and whether a measured difference bears it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transduce.metrics.score import Interval

__all__ = [
    "CONCLUSIONS",
    "MIN_BLEU",
    "SAME_WITHIN",
    "Conclusion",
    "Difference",
    "Expectation",
    "Metric",
    "Verdict",
    "judge",
]

Metric = Literal["BLEU", "perplexity"]
Expectation = Literal["better", "worse", "same"]
Verdict = Literal["borne out", "contradicted", "not decided", "not run"]


@dataclass(frozen=True)
class Conclusion:
    """A row compared with the base model."""

    row: str
    """Of Table 3."""
    metric: Metric
    expected: Expectation
    """What the row is to the base model by this metric. A lower perplexity is better."""
    words: str
    """In words of ours."""
    source: Literal["text", "table"]
    """``text``: the paper says so (sections 5.4 and 6.2). ``table``: only the printed numbers do."""


@dataclass(frozen=True)
class Difference:
    """What a row has more than the base model."""

    value: float
    """BLEU points; for perplexity, the difference of its natural logarithm (0.01 is about one percent)."""
    interval: Interval
    """Where it lies with 95 percent confidence."""
    over: str
    """What the interval is over: the sentences of one run each, or several seeds."""
    base: float
    """What the base model has: BLEU, or the natural logarithm of the perplexity."""


SAME_WITHIN: dict[Metric, float] = {"BLEU": 0.5, "perplexity": 0.02}
"""Differences as large as this are still called the same: half a point of BLEU, or two percent of perplexity."""

MIN_BLEU = 1.0
"""A base model below this does not translate: that another is as good, or no better, says nothing."""

_BIGGER = "Bigger models are better."
_KEYS = "Smaller keys hurt."

CONCLUSIONS: tuple[Conclusion, ...] = (
    Conclusion("A-h1", "BLEU", "worse", "One head is worse, by 0.9 BLEU, than the best setting.", "text"),
    Conclusion("A-h4", "BLEU", "worse", "Half as many heads are a little worse.", "table"),
    Conclusion("A-h16", "BLEU", "same", "Twice as many heads are as good.", "table"),
    Conclusion("A-h32", "BLEU", "worse", "Too many heads hurt.", "text"),
    Conclusion("B-dk16", "BLEU", "worse", _KEYS, "text"),
    Conclusion("B-dk32", "BLEU", "worse", _KEYS, "text"),
    Conclusion("C-n2", "BLEU", "worse", _BIGGER, "text"),
    Conclusion("C-n4", "BLEU", "worse", _BIGGER, "text"),
    # The printed BLEU of this row is 0.3 below that of the base model: only its perplexity agrees with the text.
    Conclusion("C-n8", "perplexity", "better", _BIGGER, "text"),
    Conclusion("C-d256", "BLEU", "worse", _BIGGER, "text"),
    Conclusion("C-d1024", "BLEU", "better", _BIGGER, "text"),
    Conclusion("C-ff1024", "BLEU", "worse", _BIGGER, "text"),
    Conclusion("C-ff4096", "BLEU", "better", _BIGGER, "text"),
    Conclusion("D-drop0.0", "BLEU", "worse", "Dropout helps: without it the model overfits.", "text"),
    Conclusion("D-drop0.2", "BLEU", "worse", "Twice the dropout is a little worse.", "table"),
    Conclusion("D-ls0.0", "perplexity", "better", "Label smoothing hurts perplexity.", "text"),
    Conclusion("D-ls0.0", "BLEU", "worse", "Label smoothing helps BLEU.", "text"),
    Conclusion("D-ls0.2", "perplexity", "worse", "More label smoothing hurts perplexity more.", "text"),
    Conclusion("D-ls0.2", "BLEU", "same", "Twice the label smoothing is as good.", "table"),
    Conclusion("E-learned", "BLEU", "same", "Learned positions are nearly identical to sinusoids.", "text"),
    Conclusion("big", "BLEU", "better", "The big model is the best.", "text"),
)
"""In the order of the table. Paper: sections 5.4 and 6.2, Table 3."""


def judge(conclusion: Conclusion, difference: Difference | None) -> Verdict:
    """Say whether a measured difference bears a conclusion out.

    Better and worse are borne out when the whole interval is on their side of 0, and contradicted when it is on the other.
    The same is borne out when the interval lies within :data:`SAME_WITHIN`, and contradicted when it lies outside. Nothing is
    decided by the BLEU of models that do not translate (:data:`MIN_BLEU`).

    Args:
        conclusion: Of the paper.
        difference: The row less the base model. None: not both were run.

    >>> judge(CONCLUSIONS[0], Difference(-1.4, Interval(-2.0, -0.8), "sentences", base=25.8))
    'borne out'
    """
    if difference is None:
        return "not run"
    if conclusion.metric == "BLEU" and difference.base < MIN_BLEU:
        return "not decided"
    low, high = difference.interval.low, difference.interval.high
    if conclusion.expected == "same":
        margin = SAME_WITHIN[conclusion.metric]
        if -margin <= low and high <= margin:
            return "borne out"
        return "contradicted" if low > margin or high < -margin else "not decided"
    is_rise = (conclusion.expected == "better") == (conclusion.metric == "BLEU")
    if low <= 0 <= high:
        return "not decided"
    return "borne out" if (low > 0) == is_rise else "contradicted"
