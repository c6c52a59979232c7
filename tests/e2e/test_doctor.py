"""``doctor`` with files, and ``inspect`` of a run, by the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.conftest import Toy
from transduce.training.account import read_ledger


def test_doctor_looks_at_two_files_and_at_the_prepared_directory(toy: Toy) -> None:
    dev, test = toy.files["dev"], toy.files["test"]
    parts: list[str | Path] = ["--dev-src", dev[0], "--dev-tgt", dev[1], "--test-src", test[0], "--test-tgt", test[1]]
    page = run_cli("doctor", *toy.files["train"], "small", *parts, "--no-timing")
    assert page.code == 0, page.err
    assert page.lines[0] == f"train: {toy.files['train'][0]} + {toy.files['train'][1]}"
    assert "  pairs          4,000; looked at 4,000 (all of them)" in page.lines
    assert any(line.startswith("  parameters") for line in page.lines)
    report = json.loads(run_cli("doctor", toy.data, "--no-timing", "--sample", "1000", "--json").out)
    assert report["parts"]["train"][0]["sample_pairs"] == 1000
    assert report["forecast"]["n_pairs"] == 4000
    assert {"kind", "weight", "rank", "text", "change"} == report["findings"][0].keys()


def test_doctor_times_real_steps(toy: Toy) -> None:
    done = run_cli(
        "doctor",
        toy.data,
        "--json",
        "--set",
        "model.d_model=32",
        "--set",
        "model.d_ff=32",
        "--set",
        "train.batch_tokens=300",
    )
    assert done.code == 0, done.err
    needs = json.loads(done.out)["forecast"]
    assert needs["step_s"] > 0
    assert needs["device"] == "cpu"


def test_mistakes_are_the_users(tmp_path: Path, toy: Toy) -> None:
    for arguments in (["nothing.en", "nothing.de"], ["a.en"], ["small"], ["--no-timing"], [toy.data, "--dev", "x.tsv"]):
        result = run_cli("doctor", *arguments)
        assert result.code == 2, (arguments, result.out)
        assert not result.out


def test_a_run_has_a_ledger_and_inspect_prints_it(toy: Toy, tmp_path: Path) -> None:
    session = read_ledger(toy.run / "ledger.json")[0]  # other tests may have gone on with the run since
    assert session.ended == "steps"
    assert session.costs.steps == session.last_step > 0
    assert session.costs.flops >= session.costs.needed_flops > 0
    page = tmp_path / "curves.html"
    shown = run_cli("inspect", toy.run, "--curves", page)
    assert shown.code == 0, shown.err
    assert "FLOPs, paper" in shown.out
    assert "peak memory" in shown.out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    report = json.loads(run_cli("inspect", toy.run, "--json").out)
    assert report["ledger"]["total"]["flops"] == session.costs.flops
    assert report["run"]["step"] == session.last_step


def test_curves_of_a_bundle_are_refused(toy: Toy, tmp_path: Path) -> None:
    result = run_cli("inspect", toy.run / "model", "--curves", tmp_path / "a.html")
    assert result.code == 2
    assert "log of the run cannot be read" in result.err


def test_tensorboard_is_asked_for_by_its_extra(toy: Toy, tmp_path: Path) -> None:
    try:
        import tensorboard  # type: ignore[import-not-found,unused-ignore] # noqa: F401
    except ImportError:
        result = run_cli("train", "--data", toy.data, "--out", tmp_path / "run", "--set", "train.tensorboard=true")
        assert result.code == 2
        assert "pip install 'transduce[tensorboard]'" in result.err
    else:
        pytest.skip("TensorBoard is installed here")
