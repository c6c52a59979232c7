"""The curves of a run as one HTML page that needs nothing else: pictures in SVG, a table for each, and a little script.

The pictures are there without the script, which only shows the values under the pointer. Both ways of drawing each
curve, over steps and over time, are in the page; the style sheet shows one of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from transduce.base.errors import DataError
from transduce.base.files import atomic_file, check_writable_file
from transduce.pipeline.axes import Axis, fit_axis, format_number
from transduce.pipeline.run_log import Curve, Point, read_curves, read_records, summarize_run

__all__ = ["curves_page", "draw_curves"]

_WIDTH, _HEIGHT = 560, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 10, 30
_MAX_POINTS = 2000
"""A picture of 560 dots shows no more."""

_FROM_ZERO = ("Learning rate", "Target tokens a second")
_MAY_BE_LOG = ("Dev perplexity", "Gradient norm")

Across = Literal["step", "time"]
_UNITS = (("s", 1.0, 300.0), ("min", 60.0, 4 * 3600.0), ("h", 3600.0, 4 * 86400.0), ("days", 86400.0, float("inf")))


@dataclass(frozen=True)
class _Chart:
    """Curves that share a picture."""

    title: str
    curves: tuple[Curve, ...]
    names: tuple[str, ...]


def draw_curves(run: Path, out: Path) -> None:
    """Draw the curves of a run as an HTML page.

    Args:
        run: The run directory; the run may still be going on.
        out: The page; its name ends in ``.html``.

    Raises:
        DataError: The run has no log, nothing is in it yet, or the page's name or place is wrong.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise DataError(f"{out}: curves are drawn as an HTML page; give a name that ends in .html")
    check_writable_file(out)
    records = read_records(run)
    if not read_curves(records):
        raise DataError(f"{run}: its log has no line of a step yet; the first comes after train.log_every steps")
    with atomic_file(out) as temporary:
        temporary.write_text(curves_page(run.resolve().name, records), encoding="utf-8")


def curves_page(name: str, records: list[dict[str, Any]]) -> str:
    """Return the page.

    Args:
        name: What the run is called.
        records: The lines of its log, with at least one value to draw.
    """
    charts = _arrange(read_curves(records))
    last = max(point.seconds for chart in charts for curve in chart.curves for point in curve.points)
    unit, unit_s = next((unit, unit_s) for unit, unit_s, limit in _UNITS if last <= limit)
    data = {"unit": unit, "unit_s": unit_s, "charts": [_data(chart) for chart in charts]}
    fills = {
        "title": escape(name),
        "facts": "\n".join(
            f"<div><dt>{escape(word)}</dt><dd>{escape(value)}</dd></div>"
            for word, value in summarize_run(records).rows()
        ),
        "unit": unit,
        "charts": "\n".join(_figure(number, chart, unit, unit_s) for number, chart in enumerate(charts)),
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    page = (files("transduce.pipeline") / "curves.html").read_text(encoding="utf-8")
    for placeholder, text in fills.items():
        page = page.replace(f"<!--{placeholder}-->", text)
    return page


def _arrange(curves: Sequence[Curve]) -> list[_Chart]:
    """Return the pictures in their order: what is learned, what the dev set says, and how it goes."""
    found = {curve.name: _thin(curve) for curve in curves}
    charts: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
        ("Loss, nats a token", ("loss", "nll"), ("smoothed loss", "unsmoothed"))
    ]
    charts += [(f"Dev {name.removeprefix('dev ')}", (name,), ("",)) for name in found if name.startswith("dev ")]
    charts += [
        ("Learning rate", ("learning_rate",), ("",)),
        ("Gradient norm", ("grad_norm",), ("",)),
        ("Target tokens a second", ("tgt_tokens_per_s",), ("",)),
    ]
    return [
        _Chart(title, tuple(found[name] for name in keys if name in found), names)
        for title, keys, names in charts
        if any(name in found for name in keys)
    ]


def _thin(curve: Curve) -> Curve:
    """Take evenly spaced points of a very long curve, the last one among them."""
    every = -(-len(curve.points) // _MAX_POINTS)
    return Curve(curve.name, tuple(reversed(curve.points[::-1][::every])))


def _axes(chart: _Chart, across: Across, unit_s: float) -> tuple[Axis, Axis]:
    points = [point for curve in chart.curves for point in curve.points]
    reached = [0.0, *(_across(point, across) / unit_s for point in points)]
    x = fit_axis(reached, n_marks=6, may_be_log=False, low=0.0, room=0.0)
    low = 0.0 if chart.title in _FROM_ZERO else None
    return x, fit_axis([p.value for p in points], n_marks=5, may_be_log=chart.title in _MAY_BE_LOG, low=low)


def _across(point: Point, across: Across) -> float:
    return float(point.step) if across == "step" else point.seconds


def _pixel(x: float, y: float) -> tuple[float, float]:
    """Turn places from 0 to 1 into a place of the picture."""
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return round(_LEFT + x * width, 1), round(_TOP + (1 - y) * height, 1)


def _data(chart: _Chart) -> list[list[list[float]]]:
    """Return for the script, curve by curve, each point as step, seconds, value."""
    return [[[p.step, round(p.seconds, 1), float(f"{p.value:.6g}")] for p in curve.points] for curve in chart.curves]


def _figure(number: int, chart: _Chart, unit: str, unit_s: float) -> str:
    keys = "".join(
        f'<span class="key c{place}">{escape(name)}</span>' for place, name in enumerate(chart.names) if name
    )
    pictures = _picture(number, chart, "step", "steps", 1.0) + _picture(number, chart, "time", unit, unit_s)
    return (
        f'<figure data-chart="{number}"><figcaption><h2>{escape(chart.title)}</h2>{keys}'
        f'<output aria-live="off"></output></figcaption>{pictures}{_table(chart)}</figure>'
    )


def _picture(number: int, chart: _Chart, across: Across, unit: str, unit_s: float) -> str:
    x, y = _axes(chart, across, unit_s)
    label = f"{number}-{across}"
    right, bottom = _pixel(1, 0)
    grid, texts = [], []
    for mark in y.marks:
        height = _pixel(0, y.place(mark))[1]
        grid.append(f"M{_LEFT} {height}H{right}")
        texts.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{format_number(mark)}</text>')
    for mark in x.marks:
        place = _pixel(x.place(mark), 0)[0]
        texts.append(f'<text x="{place}" y="{bottom + 18}" text-anchor="middle">{format_number(mark)}</text>')
    lines = [_line(place, curve, across, unit_s, x, y) for place, curve in enumerate(chart.curves)]
    return (
        f'<svg class="{across}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" tabindex="0" aria-labelledby="t{label} d{label}">'
        f'<title id="t{label}">{escape(chart.title)} over {unit}</title><desc id="d{label}">{_describe(chart)}</desc>'
        f'<path class="grid" d="{"".join(grid)}"/><path class="base" d="M{_LEFT} {bottom}H{right}"/>{"".join(texts)}'
        f'<text x="{_LEFT - 12}" y="{bottom + 18}" text-anchor="end">{unit}</text>{"".join(lines)}'
        '<path class="cross" d=""/></svg>'
    )


def _line(place: int, curve: Curve, across: Across, unit_s: float, x: Axis, y: Axis) -> str:
    pixels = [_pixel(x.place(_across(point, across) / unit_s), y.place(point.value)) for point in curve.points]
    path = "M" + "L".join(f"{left} {top}" for left, top in pixels)
    dots = ""
    if len(pixels) <= 40:
        dots = "".join(f'<circle cx="{left}" cy="{top}" r="2.5"/>' for left, top in pixels)
    return f'<g class="c{place}"><path class="line" d="{path}"/>{dots}<circle class="at" r="4.5"/></g>'


def _describe(chart: _Chart) -> str:
    """Return in words what a picture shows, for those who do not see it."""
    texts = []
    for curve, name in zip(chart.curves, chart.names, strict=False):
        values = [point.value for point in curve.points]
        first, last = format_number(values[0]), format_number(values[-1])
        span = f"lowest {format_number(min(values))}, highest {format_number(max(values))}"
        steps = f"from step {curve.points[0].step:,} to step {curve.points[-1].step:,}"
        texts.append(f"{name or chart.title}: {first} to {last} {steps}; {span}.")
    return escape(" ".join(texts))


def _table(chart: _Chart) -> str:
    """Return the values as a table, of at most some fifty rows."""
    every = -(-len(chart.curves[0].points) // 50)
    names = [name or chart.title for name in chart.names[: len(chart.curves)]]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    by_step = [{point.step: point.value for point in curve.points} for curve in chart.curves]
    for point in reversed(chart.curves[0].points[::-1][::every]):
        cells = "".join(
            f"<td>{format_number(v) if (v := side.get(point.step)) is not None else ''}</td>" for side in by_step
        )
        rows.append(f"<tr><td>{point.step:,}</td><td>{point.seconds / 60:.1f}</td>{cells}</tr>")
    return (
        f"<details><summary>Values</summary><table><thead><tr><th>step</th><th>minutes</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></details>"
    )
