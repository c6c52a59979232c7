"""F1 of parses on the command line: fault cases of the kind O, and the whole table of EVALB."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import CliResult, run_cli
from tests.e2e.cases import refusal
from tests.shared import case_file, data_file

QUOTES = """
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ``
QUOTE_LABEL ''
QUOTE_LABEL POS
EQ_LABEL ADVP PRT
"""
"""As docs/how-to/score-parses.md has them."""


def f1(case: str, *options: str | Path) -> CliResult:
    result = run_cli("f1", case_file(f"{case}.gold"), case_file(f"{case}.pred"), *options)
    assert result.code == 0, result.err
    return result


def row(result: CliResult, name: str) -> str:
    (found,) = (line for line in result.lines if line.startswith(f"{name}  "))
    return found.removeprefix(name).strip()


def test_b123_what_is_no_tree_is_counted_and_found_nothing() -> None:
    result = f1("B123")
    assert row(result, "failed") == "4 of 6: 4 invalid (no tree, or an empty one)"
    assert row(result, "recall") == "16.67   4 of 24 gold brackets found"
    assert row(result, "as EVALB").startswith("2.56   recall 50.00, precision 1.32; ")
    rows = f1("B123", "--sentences").lines[1:7]
    assert [line.split("\t")[1] for line in rows] == ["scored", "no tree", "no tree", "no words", "no tree", "scored"]


def test_b125_a_possessive_quote_is_one_error_unless_the_parameters_name_quotes(tmp_path: Path) -> None:
    assert row(f1("B125"), "failed") == "1 of 1: 1 of another length"
    assert json.loads(f1("B125", "--json").out)["evalb"]["n_errors"] == 1
    parameters = tmp_path / "quotes.prm"
    parameters.write_text(QUOTES, encoding="utf-8")
    result = f1("B125", "--params", parameters)
    assert row(result, "F1").startswith("80.00 ")
    assert row(result, "recall").startswith("80.00 ") and row(result, "precision").startswith("80.00 ")
    assert row(result, "tagging accuracy").startswith("83.33 ")
    assert row(f1("B125", "--params", data_file("evalb-cases/evalb/new.prm")), "F1").startswith("80.00 ")


def test_b127_wrappers_other_than_top_count_as_evalb_has_it_and_that_is_said() -> None:
    result = f1("B127")
    assert row(result, "F1").startswith("92.31 ")
    assert row(result, "recall").startswith("100.00 ") and row(result, "precision").startswith("85.71 ")
    assert result.err.startswith(f"warning: {case_file('B127.pred')}: the outermost brackets of 2 of 4 trees ")
    assert result.err.count("\n") == 1


def test_b129_equal_brackets_count_as_often_as_they_are_there() -> None:
    result = f1("B129")
    assert [row(result, name)[:5] for name in ("F1", "recall", "precision")] == ["85.71"] * 3


@pytest.mark.parametrize(("name", "parameters"), [("wsj", "COLLINS"), ("edge", "COLLINS")])
def test_the_whole_table_of_evalb_comes_out_on_request(name: str, parameters: str) -> None:
    files = [data_file(f"evalb-cases/{name}.{side}") for side in ("gld", "tst")]
    result = run_cli("f1", *files, "--params", data_file(f"evalb-cases/evalb/{parameters}.prm"), "--evalb")
    assert (result.code, result.out) == (0, data_file(f"evalb-cases/{name}.collins.out").read_text(encoding="utf-8"))


def test_the_report_is_also_json_with_a_comparison() -> None:
    gold, predicted = (data_file(f"evalb-cases/gum.{side}") for side in ("gld", "tst"))
    report = json.loads(run_cli("f1", gold, predicted, "--baseline", gold, "--json", "--sentences").out)
    assert report["f1"] == report["comparison"]["system"] and report["comparison"]["baseline"] == 100.0
    assert report["interval"]["low"] < report["f1"] < report["interval"]["high"]
    assert len(report["sentences"]) == report["n_sentences"] == 150
    assert report["n_matched"] == sum(one["n_matched"] for one in report["sentences"])
    text = run_cli("f1", gold, predicted, "--baseline", gold)
    assert (
        row(text, "baseline").startswith("100.00   difference -") and "p = 0.001 (paired bootstrap, 1,000" in text.out
    )


def test_many_errors_are_gone_through_and_where_evalb_stops_is_said(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("(TOP (S (NN tea)))\n" * 13, encoding="utf-8")
    (tmp_path / "pred").write_text("(TOP (S (NN tea)))\n" + "(TOP (S (NN milk)))\n" * 12, encoding="utf-8")
    result = run_cli("f1", tmp_path / "gold", "-", stdin=(tmp_path / "pred").read_text(encoding="utf-8"))
    assert row(result, "failed") == "12 of 13: 12 over other words"
    assert row(result, "as EVALB").endswith("what failed is left out, but it stops at sentence 13 (MAX_ERROR 10)")


def test_options_without_effect_and_wrong_parameters_are_refused(tmp_path: Path) -> None:
    gold = case_file("B129.gold")
    assert "--evalb prints EVALB's table and nothing else" in refusal(run_cli("f1", gold, gold, "--evalb", "--json"))
    (tmp_path / "my.prm").write_text("LABELLED 1\n", encoding="utf-8")
    message = refusal(run_cli("f1", gold, gold, "--params", tmp_path / "my.prm"))
    assert "my.prm, line 1: unknown keyword 'LABELLED'; did you mean LABELED?" in message
