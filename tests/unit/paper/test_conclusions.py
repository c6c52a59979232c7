from __future__ import annotations

import math
from dataclasses import replace

import pytest

from transduce.metrics.score import Interval
from transduce.paper.conclusions import CONCLUSIONS, SAME_WITHIN, Conclusion, Difference, Expectation, Metric, judge
from transduce.paper.runs import TABLE3
from transduce.paper.table3_text import printed_difference


def conclusion(expected: Expectation, metric: Metric = "BLEU") -> Conclusion:
    return Conclusion("A-h1", metric, expected, "words", "text")


def difference(low: float, high: float) -> Difference:
    return Difference((low + high) / 2, Interval(low, high), "sentences", base=30.0)


@pytest.mark.parametrize(
    ("expected", "metric", "low", "high", "verdict"),
    [
        ("better", "BLEU", 0.1, 0.9, "borne out"),
        ("better", "BLEU", -0.9, -0.1, "contradicted"),
        ("better", "BLEU", -0.1, 0.9, "not decided"),
        ("worse", "BLEU", -0.9, -0.1, "borne out"),
        ("worse", "BLEU", 0.1, 0.9, "contradicted"),
        ("better", "perplexity", -0.05, -0.01, "borne out"),  # a lower perplexity is the better one
        ("better", "perplexity", 0.01, 0.05, "contradicted"),
        ("worse", "perplexity", 0.01, 0.05, "borne out"),
        ("worse", "perplexity", -0.01, 0.05, "not decided"),
        ("same", "BLEU", -0.4, 0.3, "borne out"),
        ("same", "BLEU", 0.2, 0.4, "borne out"),  # surely a difference, and surely a small one
        ("same", "BLEU", -0.8, 0.3, "not decided"),
        ("same", "BLEU", 0.6, 0.9, "contradicted"),
        ("same", "BLEU", -0.9, -0.6, "contradicted"),
        ("same", "perplexity", -0.019, 0.019, "borne out"),
        ("same", "BLEU", 0.0, 0.0, "borne out"),  # two equal outputs
        ("worse", "BLEU", 0.0, 0.0, "not decided"),
        ("better", "perplexity", 0.0, 0.0, "not decided"),
        ("better", "BLEU", 0.0, 0.9, "not decided"),  # at the border
    ],
)
def test_verdicts(expected: Expectation, metric: Metric, low: float, high: float, verdict: str) -> None:
    assert judge(conclusion(expected, metric), difference(low, high)) == verdict


@pytest.mark.parametrize(("expected", "low", "high"), [("same", 0.0, 0.0), ("worse", -0.3, -0.1), ("better", 0.1, 0.3)])
def test_models_that_do_not_translate_decide_nothing(expected: Expectation, low: float, high: float) -> None:
    found = Difference((low + high) / 2, Interval(low, high), "sentences", base=0.4)
    assert judge(conclusion(expected), found) == "not decided"
    assert judge(conclusion("worse", "perplexity"), replace(found, interval=Interval(0.1, 0.3))) == "borne out"


def test_what_was_not_run_is_not_judged() -> None:
    assert judge(conclusion("same"), None) == "not run"


def test_every_row_has_a_conclusion() -> None:
    rows = [each.row for each in CONCLUSIONS]
    assert list(dict.fromkeys(rows)) == [row for row in TABLE3 if row != "base"]


def test_every_conclusion_is_what_the_printed_numbers_say() -> None:
    """None is ours: the sign of the printed difference is that of the conclusion, and the same is nearly 0."""
    for each in CONCLUSIONS:
        printed = printed_difference(each.row, each.metric)
        if each.expected == "same":
            assert abs(printed) < SAME_WITHIN[each.metric] / 2, each
        else:
            is_rise = (each.expected == "better") == (each.metric == "BLEU")
            assert printed > 0 if is_rise else printed < 0, each


def test_one_head_is_0_9_bleu_below_the_best_setting() -> None:
    assert max(row.bleu_dev for name, row in TABLE3.items() if name[0] in "Ab" and name != "big") == 25.8
    assert math.isclose(printed_difference("A-h1", "BLEU"), -0.9, abs_tol=1e-9)  # 24.9 and 25.8 are not exact in binary
