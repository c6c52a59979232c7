from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from tests.browser import Browser
from tests.unit.paper.measured_rows import measured, rows
from transduce.paper.numbers import TABLE2
from transduce.paper.runs import TABLE3
from transduce.paper.scale import SCALES
from transduce.paper.table2_page import table2_page
from transduce.paper.table2_text import table2_lines
from transduce.paper.table3_page import table3_page
from transduce.paper.table3_text import count_verdicts, table3_lines


def cells(lines: list[str], name: str) -> list[list[str]]:
    """Return the rows of all tables whose first cell is a name."""
    split = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in split if row[0] == name]


def test_a_row_that_was_not_run_says_so_wherever_a_measured_number_is_due() -> None:
    numbers, conclusions, flavours, costs = cells(list(table3_lines(rows())), "A-h4")
    assert numbers[2:] == ["", "not run", "5.00", "not run", "25.5", "not run", "-0.30", "not run", "+1.6%", "not run"]
    assert (conclusions[3], conclusions[4], conclusions[6]) == ("-0.30", "not run", "not run")
    assert flavours[1:] == ["not run"] * 4
    assert set(costs[2:]) == {"not run"}


def test_a_failed_row_says_so() -> None:
    numbers = cells(list(table3_lines(rows())), "E-learned")[0]
    assert (numbers[5], numbers[7]) == ("failed", "failed")


def test_measured_numbers_stand_beside_printed_ones() -> None:
    numbers, conclusion, flavours, costs = cells(list(table3_lines(rows())), "A-h1")
    assert numbers[4:] == [
        "5.29", "8.08 ± 0.31 (3)", "24.9", "30.11 ± 0.31 (3)",
        "-0.90", "-1.30 [-2.20, -0.40]", "+7.5%", "+4.1% [+1.0%, +7.3%]",
    ]  # fmt: skip
    assert conclusion[2:] == ["BLEU worse (text)", "-0.90", "-1.30 [-2.20, -0.40]", "3 seeds", "borne out"]
    assert flavours[1:] == ["30.11 ± 0.31 (3)"] * 2 + ["31.11 ± 0.31 (3)", "30.11 ± 0.31 (3)"]
    assert costs[1:7] == ["1 2 3", "0.12 ± 0.31 (3)", "2.0e13", "4.0e13", "6.6e11", "1.3e12"]


def test_a_row_without_its_base_model_says_what_is_missing() -> None:
    alone = [replace(row, differences={}, measured=None if row.row == "base" else row.measured) for row in rows()]
    numbers, conclusion, _, _ = cells(list(table3_lines(alone)), "A-h1")
    assert (numbers[7], numbers[9], conclusion[4]) == ("30.11 ± 0.31 (3)", "base not run", "base not run")


def test_the_measured_bleu_beside_the_papers_is_of_the_same_flavour() -> None:
    lines = list(table2_lines({"base-en-de": measured(25.2, 5.1), "base-en-fr": measured(35.2, 5.1)}))
    heads = cells(lines, "system")
    assert [head[2:4] for head in heads] == [
        ["here, split BLEU", "here, sacreBLEU"],
        ["here, tokenized BLEU", "here, sacreBLEU"],
    ]
    german, french = cells(lines, "Transformer (base)")
    assert (german[2:4], french[2:4]) == (["26.20", "25.20"], ["35.20", "35.20"])


def test_no_cost_for_a_point_where_there_is_none() -> None:
    base, _ = cells(list(table2_lines({"base-en-de": measured(-1.0, 5.1)})), "Transformer (base)")
    assert (base[2], base[8:10]) == ("0.00", ["no points", "no points"])


def test_verdicts_are_counted() -> None:
    counted = count_verdicts(rows())
    # A-h1 and the perplexity of D-ls0.0; C-n2; the BLEU of D-ls0.0; and 21 conclusions in all.
    assert counted == {"borne out": 2, "contradicted": 1, "not decided": 1, "not run": 17}


def test_table_2_shows_other_systems_as_printed_only() -> None:
    lines = list(table2_lines({"base-en-de": measured(25.2, 5.1)}))
    german, french = cells(lines, "GNMT + RL")
    assert german[:3] == ["GNMT + RL", "24.6", "printed, not run"]
    assert french[2] == "printed, not run"
    base, other = cells(lines, "Transformer (base)")
    assert base == [
        "Transformer (base)", "27.3", "26.20", "25.20", "3.3e18", "4.0e13", "2.0e13", "1.2e17", "1.5e12", "7.6e11", "0.12",
    ]  # fmt: skip
    assert other[2:4] == ["not run", "not run"]
    for row in TABLE2:
        printed = [line[1] for line in cells(lines, row.system)]  # of both tasks
        assert printed == ["" if bleu is None else f"{bleu:g}" for bleu in (row.bleu_en_de, row.bleu_en_fr)]


def test_the_page_holds_all_rows_and_no_text_can_end_its_script() -> None:
    page = table3_page("Table 3", [("scale", "</script><b>")], "", rows())
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert [row["name"] for row in data["rows"]] == list(TABLE3)
    assert data["facts"] == [["scale", "</script><b>"]]
    by_name = {row["name"]: row for row in data["rows"]}
    assert by_name["A-h4"]["here"] is None and by_name["A-h4"]["differences"] == {}
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


def test_the_page_of_table_2_has_printed_numbers_only_as_printed() -> None:
    page = table2_page("Table 2", [], "", {"base-en-de": measured(25.2, 5.1)}, scale="full")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    german, french = json.loads(found[1])["tasks"]
    ours = {system["name"]: system for system in german["systems"]}
    assert ours["Transformer (base)"]["here"]["scores"][0] == ["BLEU", 25.2, None]
    assert (german["flavour"], french["flavour"]) == ("split BLEU", "tokenized BLEU")
    assert [ours[name]["here"] for name in ("Transformer (big)", "GNMT + RL")] == [None, None]
    assert all(system["here"] is None for system in french["systems"])


def test_what_is_of_another_test_set_is_not_drawn_among_the_papers_systems(browser: Browser, tmp_path: Path) -> None:
    drawn = {}
    for scale in SCALES:
        path = tmp_path / f"{scale}.html"
        path.write_text(
            table2_page("Table 2", [], "", {"base-en-de": measured(25.2, 5.1)}, scale=scale), encoding="utf-8"
        )
        browser.open(path)
        assert browser.errors() == []
        drawn[scale] = browser.run("return document.querySelectorAll('circle.here').length")
        cells: list[str] = browser.run("return [...document.querySelectorAll('tr.ours')][0].innerText.split('\\t')")
        assert cells[1:4] == ["27.3", "26.20", "25.20"]  # printed, the same flavour, sacreBLEU
    assert drawn == {"smoke": 0, "mini": 0, "full": 1}
