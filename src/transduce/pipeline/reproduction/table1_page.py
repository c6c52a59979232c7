"""The report of Table 1 as one HTML page that needs nothing else: four log-log pictures in SVG, and the tables."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Literal

from transduce.model.baselines.build import LAYER_KINDS
from transduce.paper.table1 import TABLE1
from transduce.pipeline.axes import Axis, fit_axis
from transduce.pipeline.reproduction.table1_report import PAIRS, Table1Report
from transduce.pipeline.reproduction.table1_tables import ReportTable, format_seconds, report_tables
from transduce.pipeline.reproduction.table1_times import WORKS, Work
from transduce.training.machine import short_commit

__all__ = ["table1_page"]

_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 26, 44
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class _Line:
    """One layer in a picture."""

    name: str
    style: str
    """Its classes: the colour, and ``dashed`` for a layer that is not in the paper's table."""
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class _Chart:
    title: str
    kind: Literal["multiply-adds", "seconds", "steps"]
    """What is drawn."""
    lengths: tuple[int, ...]
    lines: tuple[_Line, ...]
    crossover: float | None
    """Where the first two lines cross."""
    note: str


_STYLES = dict(zip(LAYER_KINDS, ("c0", "c1", "c2", "c3", "c4", "c0 dashed", "c1 dashed"), strict=True))


def table1_page(report: Table1Report) -> str:
    """Return the page."""
    charts = [_counted(report), _paths(report), *(_timed(report, work) for work in WORKS)]
    data = [
        {"kind": chart.kind, "lengths": chart.lengths, "lines": [dict(line.points) for line in chart.lines]}
        for chart in charts
    ]
    fills = {
        "title": "Table 1, measured",
        "facts": "\n".join(
            f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in _facts(report)
        ),
        "warning": f'<p class="warning">{escape(warning)}</p>' if (warning := report.warning()) else "",
        "charts": "\n".join(_figure(number, chart, report.sizes.d_model) for number, chart in enumerate(charts)),
        "tables": "\n".join(_table(table) for table in report_tables(report)),
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    page = (files("transduce.pipeline.reproduction") / "table1.html").read_text(encoding="utf-8")
    for placeholder, text in fills.items():
        page = page.replace(f"<!--{placeholder}-->", text)
    return page


def _facts(report: Table1Report) -> list[tuple[str, str]]:
    sizes = report.sizes
    machine = report.machine | {"commit": short_commit(report.machine["commit"])}
    widths = f"d = {sizes.d_model}, k = {sizes.kernel}, r = {sizes.neighbourhood}"
    return [("scale", report.scale), ("sizes", widths), *machine.items()]


def _counted(report: Table1Report) -> _Chart:
    lengths, d_model = report.lengths(), report.sizes.d_model
    lines = tuple(
        _Line(kind, _STYLES[kind], tuple((n, float(report.table_count(kind, n) or 0)) for n in lengths))
        for kind in TABLE1
        if kind != "dilated convolution"  # the same numbers as those of the other convolution
    )
    crossover = float(d_model) if lengths[0] <= d_model <= lengths[-1] else None
    note = f"Self-attention does more than a recurrence from n = d = {d_model:,} on. A dilated convolution does as much as another."
    title = "Multiply-adds of a layer, as the paper's table counts them"
    return _Chart(title, "multiply-adds", tuple(lengths), lines, crossover, note)


def _paths(report: Table1Report) -> _Chart:
    found = {
        kind: tuple(
            (path.n, float(path.measured))
            for path in report.paths
            if (path.kind, path.direction) == (kind, "causal") and path.measured is not None
        )
        for kind in TABLE1
    }
    lines = tuple(_Line(kind, _STYLES[kind], points) for kind, points in found.items())
    lengths = tuple(sorted({path.n for path in report.paths}))
    note = "Causal layers, stacked until each output depends on every earlier input; of the recurrence, transitions of its state."
    return _Chart("Longest path between two positions, measured", "steps", lengths, lines, None, note)


def _timed(report: Table1Report, work: Work) -> _Chart:
    lines = tuple(
        _Line(kind, _STYLES[kind], tuple(zip(*report.curve(kind, work), strict=True))) for kind in LAYER_KINDS
    )
    crossing = next(
        found for found in report.crossovers() if (found.attention, found.recurrence) == PAIRS[0] and found.work == work
    )
    is_inside = crossing.measured is not None and crossing.measured > crossing.lengths[0]
    note = f"Self-attention takes longer than the recurrence {report.crossing_text(crossing)}; d = {report.sizes.d_model:,}."
    crossover = crossing.measured if is_inside else None
    return _Chart(f"Time of a layer, {work}", "seconds", tuple(report.lengths()), lines, crossover, note)


def _axes(chart: _Chart) -> tuple[Axis, Axis]:
    lengths = chart.lengths
    across = Axis(lengths[0] / 1.15, lengths[-1] * 1.15, True, tuple(float(n) for n in lengths))
    values = [value for line in chart.lines for _, value in line.points]
    up = fit_axis(values, n_marks=5, may_be_log=True)
    powers = tuple(mark for mark in up.marks if math.log10(mark).is_integer())
    return across, Axis(up.low, up.high, up.is_log, powers if len(powers) > 2 else up.marks)


def _pixel(x: float, y: float) -> tuple[float, float]:
    """Turn places from 0 to 1 into a place of the picture."""
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return round(_LEFT + x * width, 1), round(_TOP + (1 - y) * height, 1)


def _figure(number: int, chart: _Chart, d_model: int) -> str:
    keys = "".join(
        f'<li class="{line.style}"><span>{escape(line.name)}</span> <output></output></li>' for line in chart.lines
    )
    return (
        f'<figure data-chart="{number}"><figcaption><h2>{escape(chart.title)}</h2><p class="at-n">&nbsp;</p></figcaption>'
        f'{_picture(number, chart, d_model)}<ul class="keys">{keys}</ul><p>{escape(chart.note)}</p></figure>'
    )


def _picture(number: int, chart: _Chart, d_model: int) -> str:
    x, y = _axes(chart)
    right, bottom = _pixel(1, 0)
    grid, texts = [], []
    for mark in y.marks:
        height = _pixel(0, y.place(mark))[1]
        grid.append(f"M{_LEFT} {height}H{right}")
        texts.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{_mark(mark, chart)}</text>')
    for mark in x.marks:
        place = _pixel(x.place(mark), 0)[0]
        texts.append(f'<text x="{place}" y="{bottom + 18}" text-anchor="middle">{mark:,.0f}</text>')
    texts.append(f'<text x="{(_LEFT + right) / 2}" y="{bottom + 37}" text-anchor="middle">n, positions</text>')
    lines = "".join(_draw(line, x, y) for line in chart.lines)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" tabindex="0" aria-labelledby="t{number} d{number}">'
        f'<title id="t{number}">{escape(chart.title)}, over n</title><desc id="d{number}">{_describe(chart)}</desc>'
        f'<path class="grid" d="{"".join(grid)}"/><path class="base" d="M{_LEFT} {bottom}H{right}"/>{"".join(texts)}'
        f'{_at_width(d_model, chart, x, bottom)}{lines}{_crossing(chart, x, y)}<path class="cross" d=""/></svg>'
    )


def _at_width(d_model: int, chart: _Chart, x: Axis, bottom: float) -> str:
    """Draw where n = d: there the paper's table has self-attention and recurrence equal."""
    if chart.kind == "steps" or not chart.lengths[0] <= d_model <= chart.lengths[-1]:
        return ""
    place = _pixel(x.place(d_model), 0)[0]
    label = f'<text class="strong" x="{place}" y="{_TOP - 8}" text-anchor="middle">n = d</text>'
    return f'<path class="width" d="M{place} {_TOP}V{bottom}"/>{label}'


def _crossing(chart: _Chart, x: Axis, y: Axis) -> str:
    """Draw a ring where the lines of self-attention and recurrence cross."""
    if chart.crossover is None:
        return ""
    left, top = _pixel(x.place(chart.crossover), y.place(_value_at(chart.lines[0], chart.crossover)))
    return f'<circle class="ring" cx="{left}" cy="{top}" r="8"/>'


def _value_at(line: _Line, n: float) -> float:
    """Return the value of a line between its points, straight in the log-log picture."""
    before = max(point for point in line.points if point[0] <= n)
    after = min((point for point in line.points if point[0] > n), default=before)
    if after == before:
        return before[1]
    share = math.log(n / before[0]) / math.log(after[0] / before[0])
    return float(before[1] * (after[1] / before[1]) ** share)


def _draw(line: _Line, x: Axis, y: Axis) -> str:
    pixels = [_pixel(x.place(n), y.place(value)) for n, value in line.points]
    if not pixels:
        return f'<g class="{line.style}"></g>'
    path = "M" + "L".join(f"{left} {top}" for left, top in pixels)
    dots = "".join(f'<circle cx="{left}" cy="{top}" r="2.5"/>' for left, top in pixels)
    return f'<g class="{line.style}"><path class="line" d="{path}"/>{dots}</g>'


def _mark(value: float, chart: _Chart) -> str:
    match chart.kind:
        case "seconds":
            return format_seconds(value)
        case "steps":
            return f"{value:,.0f}"
        case "multiply-adds":
            return "10" + str(round(math.log10(value))).translate(_SUPERSCRIPTS)


def _describe(chart: _Chart) -> str:
    """Return in words what a picture shows, for those who do not see it."""

    def write(value: float) -> str:
        return format_seconds(value) if chart.kind == "seconds" else f"{value:,.0f} {chart.kind}"

    return escape(
        " ".join(
            f"{line.name}: {write(line.points[0][1])} at n = {line.points[0][0]:,}, "
            f"{write(line.points[-1][1])} at n = {line.points[-1][0]:,}."
            for line in chart.lines
            if line.points
        )
    )


def _table(table: ReportTable) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in table.rows
    )
    return (
        f"<section><h2>{escape(table.title)}</h2><p>{escape(table.note)}</p>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(table.title)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )
