"""The tables of the report of Table 1, as text: the paper beside what was measured. Markdown and the page show the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from transduce.model.baselines.build import LAYER_KINDS, LayerKind, multiply_adds
from transduce.model.baselines.direction import Direction
from transduce.paper.table1 import TABLE1, Table1Kind, sequential_operations
from transduce.pipeline.reproduction.table1_report import Table1Report, is_in_table
from transduce.pipeline.reproduction.table1_times import WORKS, Work

__all__ = ["ReportTable", "format_seconds", "report_tables"]

_EXAMPLE = 50
"""The length at which counts stand beside the paper's formulas: a sentence."""
_NOT_IN_IT = "not in it"
"""Stands for what the paper's table does not say of a layer that it has no row for."""

_DIRECTIONS: Mapping[Direction, str] = MappingProxyType(
    {"causal": "measured, causal", "both": "measured, both directions"}
)


@dataclass(frozen=True)
class ReportTable:
    """A table of text."""

    title: str
    note: str
    """What its columns are and how they were found, as one paragraph."""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def report_tables(report: Table1Report) -> list[ReportTable]:
    """Return the tables in their order."""
    return [
        _complexity(report),
        _crossovers(report),
        _waiting(report),
        _paths(report),
        *(_times(report, work) for work in WORKS),
    ]


def format_seconds(seconds: float) -> str:
    """Write a time in three digits, with its unit.

    >>> [format_seconds(value) for value in (0.0000123, 0.00456, 0.789, 12.34)]
    ['12.3 µs', '4.56 ms', '789 ms', '12.3 s']
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _complexity(report: Table1Report) -> ReportTable:
    sizes = report.sizes
    return ReportTable(
        "Complexity of a layer",
        f"Multiply-adds of one layer at n = {_EXAMPLE}, d = {sizes.d_model}: by the formula of the paper's table, and of all "
        "matrix products of the layer as it is built here. The exponents are of n: the value is fitted as c n^e over the "
        f"largest lengths, n = {', '.join(f'{n:,}' for n in report.fitted_lengths())}; a layer that was not timed at all of "
        "them, over the largest at which it was.",
        (
            "layer",
            "paper",
            "multiply-adds, by the table",
            "as built",
            "exponent of as built",
            "of the time, forward",
            "of the time, forward-backward",
        ),
        tuple(
            (
                kind,
                TABLE1[kind].complexity if is_in_table(kind) else _NOT_IN_IT,
                f"{count:,}" if (count := report.table_count(kind, _EXAMPLE)) is not None else _NOT_IN_IT,
                f"{multiply_adds(kind, sizes, _EXAMPLE):,}",
                f"{report.counted_exponent(kind):.2f}",
                *(f"{e:.2f}" if (e := report.exponent(kind, work)) is not None else "not timed" for work in WORKS),
            )
            for kind in LAYER_KINDS
        ),
    )


def _crossovers(report: Table1Report) -> ReportTable:
    return ReportTable(
        "When self-attention takes longer than a recurrence",
        "The paper's table: when n is larger than d. Counted: the first n at which the two layers as built here do as many "
        "multiply-adds. Measured: where the median times cross for the last time, on straight lines of the log-log picture.",
        ("layers", "work", "paper's table", "counted, as built", "measured"),
        tuple(
            (
                f"{crossing.attention} and {crossing.recurrence}",
                crossing.work,
                f"n = {report.sizes.d_model:,}" if crossing.recurrence == "recurrent" else _NOT_IN_IT,
                f"n = {crossing.counted:,}",
                report.crossing_text(crossing),
            )
            for crossing in report.crossovers()
        ),
    )


def _waiting(report: Table1Report) -> ReportTable:
    lengths = sorted({waiting.n for waiting in report.waiting})
    measured = {(waiting.kind, waiting.n): waiting.products for waiting in report.waiting}
    return ReportTable(
        "Sequential operations",
        "Measured: matrix products of one layer in the longest chain in which each needs the result of the one before, counted "
        "in the graph that autograd keeps. The two products inside attention are one kernel, and count as one.",
        ("layer", "paper", *(f"paper, n = {n}" for n in lengths), *(f"measured, n = {n}" for n in lengths)),
        tuple(
            (
                kind,
                TABLE1[kind].sequential if is_in_table(kind) else _NOT_IN_IT,
                *(_sequential(kind, n) for n in lengths),
                *(str(measured[kind, n]) for n in lengths),
            )
            for kind in LAYER_KINDS
        ),
    )


def _paths(report: Table1Report) -> ReportTable:
    lengths = sorted({path.n for path in report.paths})
    measured = {(path.kind, path.direction, path.n): path.measured for path in report.paths}

    def rows(kind: Table1Kind) -> Iterator[tuple[str, ...]]:
        yield (kind, f"paper: {TABLE1[kind].path}", *(str(report.paper_path(kind, n)) for n in lengths))
        for direction, words in _DIRECTIONS.items():
            if (kind, direction, lengths[0]) in measured:
                yield ("", words, *(str(measured[kind, direction, n] or "never") for n in lengths))

    return ReportTable(
        "Longest path between two positions",
        "Measured from gradients on random weights: the smallest number of stacked layers after which the output at every "
        "position depends on every input (causal: on every earlier one); of the recurrence, the transitions from the first "
        f"position to the last that no path can avoid. k = {report.sizes.kernel}, r = {report.sizes.neighbourhood}; a causal "
        "layer reads k - 1 (r - 1) positions back, one of both directions half as many on either side. The paper's formula is "
        "an order of growth, rounded up here to whole layers. Never: the paths that are missing would have to leave the sentence.",
        ("layer", "by", *(f"n = {n}" for n in lengths)),
        tuple(row for kind in TABLE1 for row in rows(kind)),
    )


def _times(report: Table1Report, work: Work) -> ReportTable:
    timed = {(timing.kind, timing.n): timing for timing in report.timings if timing.work == work}
    lengths = report.lengths()
    reasons = sorted({timing.left_out for timing in timed.values() if timing.left_out})
    note = "Median of the repeats, one sentence of n positions."
    if reasons:
        note += f" A dash: left out ({'; '.join(reasons)})."
    return ReportTable(
        f"Time, {work}",
        note,
        ("layer", *(f"n = {n:,}" for n in lengths)),
        tuple(
            (
                kind,
                *(format_seconds(median) if (median := timed[kind, n].median_s) is not None else "–" for n in lengths),
            )
            for kind in LAYER_KINDS
        ),
    )


def _sequential(kind: LayerKind, n: int) -> str:
    return str(sequential_operations(kind, n)) if is_in_table(kind) else _NOT_IN_IT
