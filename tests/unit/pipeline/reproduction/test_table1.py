"""The whole report of Table 1 at the smallest scale."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser
from transduce.base.errors import DataError
from transduce.model.baselines.build import LAYER_KINDS
from transduce.pipeline.reproduction.table1 import reproduce_table1
from transduce.pipeline.reproduction.table1_page import table1_page
from transduce.pipeline.reproduction.table1_report import Table1Report
from transduce.pipeline.reproduction.table1_tables import report_tables
from transduce.pipeline.reproduction.table1_times import WORKS, Timing


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Table1Report:
    return reproduce_table1(tmp_path_factory.mktemp("table1") / "out", scale="smoke")


def cells(report: Table1Report, title: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The rows of a table by their first two cells."""
    table = next(table for table in report_tables(report) if table.title == title)
    return {(row[0], row[1]): row[2:] for row in table.rows}


def test_three_files_are_written_and_nothing_else(report: Table1Report) -> None:
    out = report.page.parent
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.json", "report.md"]
    found: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert found == json.loads(json.dumps(report.as_dict()))
    assert (out / "report.html").read_text(encoding="utf-8") == table1_page(report)
    markdown = (out / "report.md").read_text(encoding="utf-8")
    for table in report_tables(report):
        assert f"## {table.title}\n" in markdown
        assert all(len(row) == len(table.head) for row in table.rows)


def test_the_worked_examples_stand_in_the_report(report: Table1Report) -> None:
    """50 tokens: paths 1, 49, about 17, 4 and n / r."""
    paths = {
        (path["kind"], path["direction"]): (path["paper"], path["measured"])
        for path in report.as_dict()["paths"]
        if path["n"] == 50
    }
    assert paths == {
        ("self-attention", "causal"): (1, 1),
        ("self-attention", "both"): (1, 1),
        ("recurrent", "causal"): (49, 49),
        ("convolution", "causal"): (17, 25),
        ("convolution", "both"): (17, 49),
        ("dilated convolution", "causal"): (4, 4),
        ("dilated convolution", "both"): (4, None),
        ("restricted self-attention", "causal"): (4, 4),  # 50 / 15; 14 back in each layer
        ("restricted self-attention", "both"): (4, 7),  # 7 on either side
    }


def test_what_must_wait_stands_beside_the_paper(report: Table1Report) -> None:
    table = cells(report, "Sequential operations")
    assert table["recurrent", "O(n)"] == ("8", "50", "8", "50")
    assert table["self-attention", "O(1)"] == ("1", "1", "1", "1")


def test_every_layer_is_timed(report: Table1Report) -> None:
    for kind in LAYER_KINDS:
        for work in WORKS:
            assert report.curve(kind, work)[0] == report.lengths() == [8, 16, 32, 64, 128]
    # n * n * d is a power of n exactly; with projections the exponent lies between 1 and 2
    assert report.counted_exponent("self-attention") == pytest.approx(2)
    assert report.counted_exponent("recurrent") == pytest.approx(1)
    assert 1 < report.counted_exponent("projected self-attention") < 2


def timed(report: Table1Report, seconds: dict[str, list[float]]) -> Table1Report:
    """A report with these medians at its first lengths; layers that are not named were left out."""
    lengths = report.lengths()
    timings = [
        Timing(
            kind, work, n, (values[at],) if at < len(values) else (), values[at] if at < len(values) else 0, "too long"
        )
        for kind in LAYER_KINDS
        for work in WORKS
        for values in [seconds.get(kind, [])]
        for at, n in enumerate(lengths)
    ]
    return replace(report, scale="mini", timings=tuple(timings))


def test_crossovers_in_words(report: Table1Report) -> None:
    flat, steep = [4.0] * 5, [1.0, 2.0, 4.0, 8.0, 16.0]
    texts = [
        timed(report, {"self-attention": ours, "recurrent": theirs})
        for ours, theirs in ((steep, flat), (steep, [20.0] * 5), (steep[:2], flat), ([9.0] * 5, flat), ([], flat))
    ]
    assert [each.crossing_text(each.crossovers()[0]) for each in texts] == [
        "from n = 32 on",
        "at no n up to 128",
        "at no n up to 16",
        "at every n from 8 on",
        "not timed",
    ]


def test_counted_crossovers(report: Table1Report) -> None:
    """2 n n d = n d d at d / 2; 4 n d d + 2 n n d = 8 n d d at 2 d."""
    assert [crossing.counted for crossing in report.crossovers()] == [32, 32, 128, 128]


def test_a_busy_machine_is_told(report: Table1Report) -> None:
    quiet = timed(report, {"recurrent": [1.0, 2.0]})
    assert quiet.warning() == ""
    busy = replace(quiet, timings=tuple(replace(t, processor_s=t.processor_s / 4) for t in quiet.timings))
    assert busy.warning().startswith("Other work had the processor for 75% of the time")
    assert report.warning().endswith("mean nothing.")


def test_a_layer_that_was_left_out_is_drawn_as_far_as_it_goes(report: Table1Report) -> None:
    page = table1_page(timed(report, {"self-attention": [1.0, 2.0], "recurrent": [3.0]}))
    assert "A dash: left out (too long)." in page
    assert "NaN" not in page
    assert "None" not in page


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="this is a file, and the output needs a directory"):
        reproduce_table1(tmp_path / "file", scale="smoke")


class Page(HTMLParser):
    """Collects tags that want something from elsewhere, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [str(value) for name, value in attrs if name in ("src", "href") and value != "data:,"]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content, such as a path."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(report: Table1Report) -> None:
    page = table1_page(report)
    parser = Page()
    parser.feed(page)
    assert (parser.outside, parser.open) == ([], [])
    assert not re.search(r"https?://|@import|url\(", page)
    assert "<!--" not in page
    assert page.count("<svg") == page.count('role="img"') == page.count("<desc id=") == 4


_PROBE = """
const svg = document.querySelector("svg"), box = svg.getBoundingClientRect();
const read = () => [...document.querySelectorAll("figure")].map(
  figure => figure.querySelector(".at-n").textContent.trim() + ": " + figure.querySelector("output").textContent);
const point = document.querySelectorAll("svg .c0 circle")[3].getBoundingClientRect();  // of self-attention at n = 64
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: point.left + 2, clientY: box.top + 50, bubbles: true}));
const hovered = read();
svg.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true}));
return [hovered, read()];"""


def test_a_browser_shows_it_without_errors(browser: Browser, report: Table1Report) -> None:
    browser.open(report.page, width=1200)
    hovered, at_8 = browser.run(_PROBE)
    assert browser.errors() == []
    assert hovered[0] == "n = 64: 262,144"  # 64 * 64 * 64
    assert hovered[1] == ": "  # paths are measured at 8 and 50
    assert all(text.startswith("n = 64: ") for text in hovered[2:])
    assert at_8[:2] == ["n = 8: 4,096", "n = 8: 1"]
