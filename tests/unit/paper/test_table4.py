"""The report of Table 4, of parsers that are made up."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser import Browser
from transduce.paper.numbers import TABLE4
from transduce.paper.parsers import ParserResult, ParserRow, SelfTraining, SetScore
from transduce.paper.table4_page import table4_page
from transduce.paper.table4_text import table4_lines

SCORE = SetScore(
    treebank="wsj", part="test", trees="/data/wsj#23", search="free", n_sentences=200, f1=71.25, low=69.5, high=73.0, recall=70.0,
    precision=72.5, complete_match=9.5, evalb_f1=71.5, n_outputs=200, n_well_formed=196, seconds=4.0, signature="labels:yes",
)  # fmt: skip
WHOLE = replace(SCORE, search="whole trees", f1=73.5, low=71.0, high=75.0, n_well_formed=200, seconds=16.0)
RESULT = ParserResult(
    row="wsj", seed=1, digest="d", n_trees=3501, n_parameters=5_120_000, step=12_000, made_of="the best model (step 9,000)",
    dev_f1=70.0, minutes=61.5, flops=2.5e15, device="some processor", n_devices=1, commits=("c",), scores=(SCORE, WHOLE),
    self_training=None, commands=("transduce train parsing-small", "transduce evaluate run"),
)  # fmt: skip
OTHER = replace(SCORE, treebank="craft", part="dev", f1=76.0, low=75.0, high=77.0, n_sentences=2780, seconds=96.0)
PUPIL = replace(
    RESULT,
    row="self-training",
    scores=(SCORE, WHOLE, OTHER, replace(OTHER, search="whole trees", f1=78.0)),
    self_training=SelfTraining(teacher="all", n_sentences=10_000, n_repaired=120, n_kept=4_940, minutes=12.5),
)
ROWS = [
    ParserRow("wsj", "wsj", (RESULT, replace(RESULT, seed=2)), None),
    ParserRow("craft", "craft", (), "the disk is full"),
    ParserRow("all", "wsj + craft", (), None),
    ParserRow("self-training", "wsj + craft + own parses", (PUPIL,), None),
]


def rows_of(lines: list[str], name: str) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in cells if row[0] == name]


def test_printed_parsers_stand_above_our_own_and_neither_in_the_others_column() -> None:
    lines = list(table4_lines(ROWS))
    for printed in TABLE4:
        found = [row for row in rows_of(lines, printed.parser) if row[1] == printed.training]
        assert [row[2:6] for row in found] == [["WSJ section 23", "", f"{printed.f1:.1f}", "printed, not run"]]
    assert lines.index(next(line for line in lines if line.startswith("| wsj "))) > max(
        number for number, line in enumerate(lines) if "WSJ section 23 |" in line
    )
    figures, *_ = rows_of(lines, "wsj")
    assert figures == [
        "wsj", "wsj", "wsj test", "free", "", "71.25 [69.50, 73.00]", "70.00", "72.50", "71.50", "98.00 %", "4 of 200",
        "50.0", "61.50",
    ]  # fmt: skip


def test_what_is_missing_says_so() -> None:
    lines = list(table4_lines(ROWS))
    assert [row[5] for name in ("craft", "all") for row in rows_of(lines, name)] == ["failed", "not run"]


def test_what_a_run_took_and_how_it_was_made() -> None:
    lines = list(table4_lines(ROWS))
    assert rows_of(lines, "wsj, seed 2")[2] == [
        "wsj, seed 2", "3,501", "5.12", "12,000", "the best model (step 9,000)", "70.00", "61.50", "2.5e+15",
        "1 x some processor",
    ]  # fmt: skip
    text = "\n".join(lines)
    assert [(*row[2:4], *row[9:]) for row in rows_of(lines, "self-training")[:3]] == [
        ("wsj test", "free", "98.00 %", "4 of 200", "50.0", "61.50"),
        ("wsj test", "whole trees", "100.00 %", "0 of 200", "12.5", ""),
        ("craft dev", "free", "98.00 %", "4 of 200", "29.0", ""),
    ]
    assert text.count("self-training on wsj test: 200 trees of `/data/wsj#23`") == 1
    assert "all has parsed 10,000 sentences in 12.50 minutes; 120 outputs were no trees, and 4,940 trees" in text
    assert "### Commands: wsj\n\n```sh\ntransduce train parsing-small\ntransduce evaluate run\n```" in text


def test_the_page_has_all_of_it_and_fetches_nothing() -> None:
    page = table4_page("Table 4", [("scale", "</script>")], "", ROWS)
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert [row["name"] for row in data["rows"]] == ["wsj", "craft", "all", "self-training"]
    assert data["rows"][3]["results"][0]["scores"][0]["share_well_formed"] == 98.0
    assert len(data["printed"]) == len(TABLE4)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_the_page_in_a_browser(browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(table4_page("Table 4, mini scale", [("scale", "mini")], "A note.", ROWS), encoding="utf-8")
    browser.open(path, scheme="dark" if scheme == "dark" else "light", width=width)
    browser.picture(tmp_path / "page.png")
    read = "return [...document.querySelectorAll(arguments[0])].map(item => item.textContent)"
    assert browser.run("return document.querySelectorAll('#chart circle.paper').length") == len(TABLE4)
    assert browser.run("return document.querySelectorAll('#chart circle.here').length") == 8
    assert browser.run(read, "#numbers tr.ours td:nth-child(6)") == [
        *["71.25 [69.50, 73.00]", "73.50 [71.00, 75.00]"] * 2, "failed", "not run",
        "71.25 [69.50, 73.00]", "73.50 [71.00, 75.00]", "76.00 [75.00, 77.00]", "78.00 [75.00, 77.00]",
    ]  # fmt: skip
    assert "craft failed: the disk is full" in browser.text("main")
    browser.click("#commands summary")
    assert browser.text("#commands pre") == "transduce train parsing-small transduce evaluate run"
    assert browser.overflow() <= 0
    assert browser.errors() == []


def test_the_page_of_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    nothing = [replace(row, results=(), failure=None) for row in ROWS]
    path.write_text(table4_page("Table 4", [], "", nothing), encoding="utf-8")
    browser.open(path)
    assert browser.text("#runs") == "Not run."
    assert browser.errors() == []


def test_numbers_that_cannot_be_and_a_search_that_is_missing_are_refused() -> None:
    for wrong in ({"seconds": 0.0}, {"n_outputs": 0}, {"n_well_formed": 201}, {"n_sentences": 0}):
        with pytest.raises(ValueError, match="a number in it cannot be"):
            replace(SCORE, **wrong)
    with pytest.raises(ValueError, match="not scored by both searches"):
        replace(RESULT, scores=(SCORE,))
