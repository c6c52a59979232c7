"""``transduce reproduce`` at its smallest scale: real processes, a stop in between, and the report."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli import run_cli

ROWS = ("--rows", "base,A-h1")


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction that was stopped after its first row."""
    out = tmp_path_factory.mktemp("reproduce") / "table3"
    command = [sys.executable, "-m", "transduce", "reproduce", "table3", "--scale", "smoke", "--out", str(out), *ROWS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (out / "runs" / "base-seed1" / "result.json").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert process.returncode == 130, said
    assert "Give the same command again to go on" in said
    assert "to do        2 runs" in said and "timed        base-seed1" in said  # the estimate came first
    return out


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_stopped_reproduction_goes_on(stopped: Path) -> None:
    report = (stopped / "report.md").read_text(encoding="utf-8")
    line = next(line for line in report.splitlines() if line.startswith("| A-h1 | n_heads=1"))
    assert line.count("not run") == 5  # parameters, perplexity, BLEU, and both differences
    first = stopped / "runs" / "base-seed1" / "result.json"
    written = first.stat().st_mtime_ns

    went_on = run_cli("reproduce", "table3", "--scale", "smoke", "--out", stopped, *ROWS, "--json")
    assert went_on.code == 0, went_on.err
    assert "A-h1-seed1: started" in went_on.err and "base-seed1: started" not in went_on.err
    assert first.stat().st_mtime_ns == written  # a finished row is not run again

    found = {row["row"]: row for row in json.loads(went_on.out)["rows"]}
    assert found["base"]["measured"]["n_parameters"] == found["A-h1"]["measured"]["n_parameters"]
    assert set(found["A-h1"]["differences"]) == {"BLEU", "perplexity"}
    assert found["C-n2"]["measured"] is None
    assert [score["name"] for score in found["base"]["measured"]["scores"]][:2] == ["BLEU", "BLEU lc"]
    costs = found["base"]["measured"]["cost"]
    assert costs["flops"] > 0 and costs["paper_flops"] > 0

    again = run_cli("reproduce", "table3", "--scale", "smoke", "--out", stopped, *ROWS)
    assert again.code == 0 and "only the report is written" in again.err
    page = (stopped / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "<!--" not in page.partition("<body>")[0].replace("<!doctype", "")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_directory_holds_one_reproduction(stopped: Path) -> None:
    other = run_cli("reproduce", "table2", "--scale", "smoke", "--out", stopped)
    assert other.code == 2
    assert "holds a reproduction of table3, smoke scale" in other.err


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_table_4_of_toy_treebanks(tmp_path: Path) -> None:
    out = tmp_path / "table4"
    command = ("reproduce", "table4", "--scale", "smoke", "--out", out)
    first = run_cli(*command, "--rows", "news")
    assert first.code == 0, first.err
    line = next(line for line in (out / "report.md").read_text().splitlines() if line.startswith("| self-training "))
    assert "not run" in line
    alone = run_cli(*command, "--rows", "self-training")
    assert alone.code == 2 and "needs the model of row 'all' (seed 1), which is not finished" in alone.err

    done = run_cli(*command, "--json")
    assert done.code == 0, done.err
    assert "news-seed1: started" not in done.err  # a finished row is not run again
    report = json.loads(done.out)
    found = {row["row"]: row["results"][0] for row in report["rows"]}
    assert list(found) == ["news", "notes", "all", "self-training"]
    assert [len(result["scores"]) for result in found.values()] == [2, 2, 4, 4]
    assert found["all"]["n_trees"] == 120 and found["self-training"]["n_trees"] == 140  # half of 40 parses
    assert found["self-training"]["self_training"]["teacher"] == "all"
    assert all(score["n_outputs"] == 10 for result in found.values() for score in result["scores"])
    assert len(report["printed"]) == 12 and report["failures"] == {}

    changed = run_cli(*command, "--set", "train.n_steps=100")
    assert changed.code == 2 and "holds a run with other settings" in changed.err
    again = run_cli(*command)
    assert again.code == 0 and "nothing is left to run of 4 rows: only the report is written" in again.err


def test_table_4_needs_treebanks(tmp_path: Path) -> None:
    trees, out = tmp_path / "a.trees", tmp_path / "out"
    trees.write_text("(S (NN a))\n")
    for arguments, message in (
        (("--scale", "full"), "--train wsj=DIRECTORY#02-21 --dev wsj=DIRECTORY#22 --test wsj=DIRECTORY#23"),
        (("--train", f"a={trees}"), "no dev set is given (a), by which a model is chosen; give --dev a=TREES"),
        (("--train", f"a={tmp_path}/none", "--dev", f"a={trees}"), "none"),
        (("--train", f"a={trees}", "--dev", f"a={trees}", "--rows", "b"), "there is no row 'b'"),
        (("--train", f"a={trees}", "--dev", f"a={trees}", "--set", "model.x=1"), "--set model.x=1: unknown setting"),
        (("--data", tmp_path), "--data has no effect with table4"),
        (
            (
                "--train",
                f"a={trees}",
                "--dev",
                f"a={trees}",
                "--set",
                "decode.whole_trees=false",
                "--set",
                "decode.min_tokens=1",
            ),
            "whole_trees does not go with min_tokens",
        ),
    ):
        found = run_cli("reproduce", "table4", *arguments, "--out", out)
        assert found.code == 2, arguments
        assert message in " ".join(found.err.replace("│", " ").split()), found.err
        assert not out.exists()
    other = run_cli("reproduce", "table3", "--raw", trees, "--out", out)
    assert other.code == 2 and "--raw has no effect with table3" in " ".join(other.err.replace("│", " ").split())


def test_mistakes_are_found_before_anything_is_made(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, message in (
        (("table3", "--rows", "A-h99"), "table3 has no row 'A-h99'"),
        (("table3", "--seeds", "1,x"), "give whole numbers from 0 with commas"),
        (("table3", "--seeds", "1,-1"), "give whole numbers from 0 with commas"),
        (("table3", "--estimate", "--jobs", "2"), "--jobs has no effect with --estimate"),
        (("table2", "--scale", "full", "--data", tmp_path), "the rows are of 2 tasks"),
    ):
        found = run_cli("reproduce", *arguments, "--out", out)
        assert found.code == 2, arguments
        assert message in " ".join(found.err.replace("│", " ").split()), found.err
        assert not out.exists()
