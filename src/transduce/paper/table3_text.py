"""Table 3 as it was measured, beside what the paper prints, in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from transduce.paper.conclusions import MIN_BLEU, SAME_WITHIN, Metric
from transduce.paper.markdown import NOT_RUN, cell, per_point, scientific, table
from transduce.paper.measured import MeasuredRow
from transduce.paper.runs import TABLE3

__all__ = ["count_verdicts", "difference_words", "printed_difference", "table3_lines"]


def table3_lines(rows: Sequence[MeasuredRow]) -> Iterator[str]:
    """Yield the tables: paper and measurement, the conclusions, all flavours, and what it cost.

    Args:
        rows: All rows of the table, run or not, in its order.
    """
    yield "## Paper and measurement"
    yield ""
    yield (
        "The paper's numbers are of newstest2013 after 100,000 updates on WMT 2014; those beside them are of this scale. "
        "Only what a change does can be compared: the columns of differences to the base model."
    )
    yield ""
    yield from _numbers(rows)
    yield "## Conclusions"
    yield ""
    yield (
        "Borne out: the whole 95 % interval is on the side of 0 that the paper's conclusion names, or, where the paper finds "
        f"two models the same, within {SAME_WITHIN['BLEU']} BLEU or {SAME_WITHIN['perplexity']:.0%} of perplexity. Not decided: "
        "the interval reaches over that border, or the base model does not translate (less than "
        f"{MIN_BLEU:g} BLEU). An interval over sentences says nothing of what another seed would change; "
        "one over seeds does."
    )
    yield ""
    yield from _conclusions(rows)
    yield "## All flavours of BLEU"
    yield ""
    yield from _flavours(rows)
    yield "## Cost"
    yield ""
    yield from _costs(rows)


def printed_difference(row: str, metric: Metric) -> float:
    """Return what the paper's numbers say of a row less the base model.

    >>> round(printed_difference("A-h1", "BLEU"), 1)
    -0.9
    """
    ours, base = TABLE3[row], TABLE3["base"]
    return ours.bleu_dev - base.bleu_dev if metric == "BLEU" else math.log(ours.ppl_dev / base.ppl_dev)


def difference_words(row: MeasuredRow, metric: Metric) -> str:
    """Write how far a row is from the base model, with the interval: BLEU points, or percent of perplexity."""
    difference = row.differences.get(metric)
    if difference is None:
        return _state(row) if row.measured is None else "base not run"
    values = (difference.value, difference.interval.low, difference.interval.high)
    value, low, high = (_difference(each, metric) for each in values)
    return f"{value} [{low}, {high}]"


def count_verdicts(rows: Sequence[MeasuredRow]) -> dict[str, int]:
    """Count how many conclusions are borne out, contradicted, not decided and not run."""
    found = [verdict for row in rows for _, verdict in row.verdicts]
    return {verdict: found.count(verdict) for verdict in ("borne out", "contradicted", "not decided", "not run")}


def _difference(value: float, metric: Metric) -> str:
    return f"{value:+.2f}" if metric == "BLEU" else f"{math.expm1(value):+.1%}"


def _numbers(rows: Sequence[MeasuredRow]) -> Iterator[str]:
    head = ["row", "changed here", "M parameters, paper", "here", "perplexity, paper", "here", "BLEU, paper", "here"]
    head += ["BLEU to base, paper", "here", "perplexity to base, paper", "here"]
    lines = []
    for row in rows:
        printed, found = TABLE3[row.row], row.measured
        line = [
            row.row,
            ", ".join(row.changes),
            "" if printed.params_millions is None else str(printed.params_millions),
            NOT_RUN if found is None else f"{found.n_parameters / 1e6:.2f}",
            f"{printed.ppl_dev:.2f}",
            _state(row) if found is None else cell(found.perplexity),
            f"{printed.bleu_dev:.1f}",
            _state(row) if found is None else cell(found.bleu),
        ]
        for metric in ("BLEU", "perplexity"):
            is_base = row.row == "base"
            line.append("" if is_base else _difference(printed_difference(row.row, metric), metric))
            line.append("" if is_base else difference_words(row, metric))
        lines.append(line)
    yield from table(head, lines)


def _state(row: MeasuredRow) -> str:
    return NOT_RUN if row.failure is None else "failed"


def _conclusions(rows: Sequence[MeasuredRow]) -> Iterator[str]:
    lines = []
    for row in rows:
        for conclusion, verdict in row.verdicts:
            metric = conclusion.metric
            difference = row.differences.get(metric)
            lines.append(
                [
                    row.row,
                    conclusion.words,
                    f"{metric} {conclusion.expected} ({conclusion.source})",
                    _difference(printed_difference(row.row, metric), metric),
                    difference_words(row, metric),
                    "" if difference is None else difference.over,
                    verdict,
                ]
            )
    yield from table(["row", "the paper", "expected", "printed", "measured, 95 %", "over", "verdict"], lines)


def _flavours(rows: Sequence[MeasuredRow]) -> Iterator[str]:
    run = [row for row in rows if row.measured is not None]
    if not run or run[0].measured is None:
        yield f"{NOT_RUN.capitalize()}."
        yield ""
        return
    names = [score.name for score in run[0].measured.scores]
    lines = []
    for row in rows:
        values = {} if row.measured is None else {score.name: score.value for score in row.measured.scores}
        lines.append([row.row, *(cell(values.get(name)) for name in names)])
    yield from table(["row", *names], lines)
    yield from (f"- {score.name}: `{score.signature}`" for score in run[0].measured.scores)
    yield ""


def _costs(rows: Sequence[MeasuredRow]) -> Iterator[str]:
    head = ["row", "seeds", "hours", "FLOPs counted", "by the paper's formula", "per BLEU point, counted"]
    head += ["by the formula", "devices"]
    lines = []
    for row in rows:
        if row.measured is None:
            lines.append([row.row, "", *([NOT_RUN] * (len(head) - 2))])
            continue
        cost = row.measured.cost
        lines.append(
            [
                row.row,
                " ".join(map(str, row.measured.seeds)),
                cell(cost.hours),
                scientific(cost.flops),
                scientific(cost.paper_flops),
                per_point(cost.flops, row.measured.bleu),
                per_point(cost.paper_flops, row.measured.bleu),
                f"{cost.n_devices} x {cost.device}, {cost.tflops:.3g} TFLOP/s ({cost.tflops_source})",
            ]
        )
    yield "Of one run, evaluations and checkpoints left out. The paper's formula is time x devices x what one sustains."
    yield ""
    yield from table(head, lines)
