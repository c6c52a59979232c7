"""The report of runs that are made up: what each of them left behind is written as a run would write it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from transduce.base.errors import DataError
from transduce.metrics.flavours import all_flavours
from transduce.paper.scale import Scale
from transduce.pipeline.reproduction.plan import plan_runs
from transduce.pipeline.reproduction.report import ReproduceReport, write_report
from transduce.pipeline.reproduction.results import (
    RESULT_FILE,
    SENTENCES_FILE,
    TRANSLATIONS_FILE,
    RunCost,
    RunResult,
    begin_run,
    write_failure,
    write_result,
)
from transduce.training.account import Costs

REFERENCES = ["Ein Hund läuft über die grüne Wiese .", "Zwei Kinder spielen am Ufer des Sees ."] * 4
WORSE = ["Ein Hund läuft über eine Wiese .", "Zwei Kinder spielen am See ."] * 4
N_TOKENS = 10


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "dev").mkdir(parents=True)
    (tmp_path / "data" / "dev" / "tgt.txt").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    (tmp_path / "data" / "report.json").write_text("{}", encoding="utf-8")
    return tmp_path / "data"


def finished(
    out: Path, row: str, seed: int = 1, *, says: Sequence[str] = REFERENCES, nats: float = 1.5, commit: str = "c0ffee"
) -> Path:
    """Write a finished run that translated so, and for which each word-piece costs so much."""
    run = plan_runs("table3", "mini", [row], [seed])[0]
    begin_run(run, out)
    directory = run.directory(out)
    (directory / TRANSLATIONS_FILE).write_text("\n".join(says) + "\n", encoding="utf-8")
    lines = [json.dumps({"log_prob": -N_TOKENS * nats, "n_tokens": N_TOKENS}) for _ in REFERENCES]
    (directory / SENTENCES_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    costs = Costs(
        wall_s=40.0, training_s=36.0, evaluation_s=3.0, checkpoint_s=1.0, steps=10, pairs=100, src_tokens=900,
        tgt_tokens=1000, padding_positions=50, flops=7_000, needed_flops=6_000, paper_flops=1.0, energy_joules=None,
    )  # fmt: skip
    cost = RunCost(
        costs=costs, device="CPU", n_devices=1, tflops=0.1, tflops_source="a matrix product", paper_flops=3.6e12
    )
    result = RunResult(
        row=row, seed=seed, digest=run.digest, part="dev", n_parameters=1000, step=10, made_of="the last checkpoint",
        perplexity=2.718281828459045**nats, n_tokens=N_TOKENS * len(REFERENCES),
        scores=all_flavours(list(says), REFERENCES, language="de"), cost=cost, commits=(commit,),
    )  # fmt: skip
    write_result(run, out, result)
    return directory


def report(out: Path, data: Path, scale: Scale = "mini") -> ReproduceReport:
    return write_report("table3", scale, out, {"en-de": data})


def row_of(report: ReproduceReport, name: str) -> Mapping[str, Any]:
    return next(row for row in report.content["rows"] if row["row"] == name)


def verdicts(report: ReproduceReport, name: str) -> dict[str, str]:
    return {each["metric"]: each["verdict"] for each in row_of(report, name)["conclusions"]}


def test_nothing_but_what_was_measured_stands_where_it_is_due(tmp_path: Path, data: Path) -> None:
    finished(tmp_path, "base")
    finished(tmp_path, "A-h1", says=WORSE)
    found = report(tmp_path, data)
    assert row_of(found, "A-h4")["measured"] is None and row_of(found, "A-h4")["differences"] == {}
    assert verdicts(found, "A-h1") == {"BLEU": "borne out"}
    assert found.content["verdicts"] == {"borne out": 1, "contradicted": 0, "not decided": 0, "not run": 20}


def test_equal_outputs_are_the_same_and_not_worse(tmp_path: Path, data: Path) -> None:
    for row in ("base", "A-h1", "A-h16"):
        finished(tmp_path, row)
    found = report(tmp_path, data)
    assert verdicts(found, "A-h16") == {"BLEU": "borne out"}
    assert verdicts(found, "A-h1") == {"BLEU": "not decided"}
    assert "| +0.00 [+0.00, +0.00] |" in found.report.read_text(encoding="utf-8")


def test_models_that_translate_nothing_are_not_the_same(tmp_path: Path, data: Path) -> None:
    for row in ("base", "E-learned"):
        finished(tmp_path, row, says=["x"] * len(REFERENCES))
    assert verdicts(report(tmp_path, data), "E-learned") == {"BLEU": "not decided"}


def test_without_the_base_model_nothing_is_concluded(tmp_path: Path, data: Path) -> None:
    finished(tmp_path, "A-h1")
    found = report(tmp_path, data)
    assert verdicts(found, "A-h1") == {"BLEU": "not run"}
    assert "| base not run |" in found.report.read_text(encoding="utf-8")


def test_equal_seeds_make_the_interval(tmp_path: Path, data: Path) -> None:
    for seed, base, row in ((1, 1.50, 1.40), (2, 1.52, 1.43), (3, 1.48, 1.37)):
        finished(tmp_path, "base", seed, nats=base)
        finished(tmp_path, "D-ls0.0", seed, nats=row, says=WORSE)
    found = report(tmp_path, data)
    difference = row_of(found, "D-ls0.0")["differences"]["perplexity"]
    assert difference["over"] == "3 seeds" and difference["value"] == pytest.approx(-0.1)
    assert difference["interval"]["low"] == pytest.approx(-0.1 - 4.303 * 0.01 / 3**0.5)  # of -0.10, -0.09 and -0.11
    # Three equal differences of BLEU: an interval of no width, on the side of "worse".
    assert verdicts(found, "D-ls0.0") == {"perplexity": "borne out", "BLEU": "borne out"}


def test_a_difference_is_that_of_the_cells_where_base_has_more_seeds(tmp_path: Path, data: Path) -> None:
    for seed, nats in ((1, 1.50), (2, 1.52), (3, 1.54)):
        finished(tmp_path, "base", seed, nats=nats)
    finished(tmp_path, "D-ls0.0", 1, nats=1.51)
    difference = row_of(report(tmp_path, data), "D-ls0.0")["differences"]["perplexity"]
    assert difference["over"] == "1 seed against 3" and difference["value"] == pytest.approx(-0.01)


def test_a_damaged_file_of_a_run_is_named(tmp_path: Path, data: Path) -> None:
    finished(tmp_path, "base")
    directory = finished(tmp_path, "A-h1")
    whole = (directory / SENTENCES_FILE).read_text()
    (directory / SENTENCES_FILE).write_text("".join(whole.splitlines(keepends=True)[:1]))
    with pytest.raises(
        DataError, match=r"A-h1-seed1: is damaged \(1 losses for .* remove this directory, and run again"
    ):
        report(tmp_path, data)
    (directory / SENTENCES_FILE).write_text(whole)
    (directory / TRANSLATIONS_FILE).write_text("")
    with pytest.raises(DataError, match=r"A-h1-seed1: is damaged \(0 hypotheses"):
        report(tmp_path, data)
    result = json.loads((directory / RESULT_FILE).read_text())
    wrongs: list[dict[str, Any]] = [{"scores": []}, {"perplexity": float("nan")}, {"n_parameters": -1}]
    for wrong in wrongs:
        (directory / RESULT_FILE).write_text(json.dumps(result | wrong))
        with pytest.raises(DataError, match=r"result\.json.* damaged"):
            report(tmp_path, data)


def test_two_seeds_that_disagree_decide_nothing(tmp_path: Path, data: Path) -> None:
    for seed, nats in ((1, 1.30), (2, 1.45)):
        finished(tmp_path, "base", seed)
        finished(tmp_path, "C-n8", seed, nats=nats)
    assert verdicts(report(tmp_path, data), "C-n8") == {"perplexity": "not decided"}  # Student's t is 12.7 for two


def test_a_copy_of_a_run_is_not_another_seed(tmp_path: Path, data: Path) -> None:
    directory = finished(tmp_path, "base")
    for name in ("base-seed1.bak", "base-seed1-old", "base-seed2"):
        shutil.copytree(directory, directory.parent / name)
    write_failure(plan_runs("table3", "mini", ["A-h1"], [1])[0], begun(tmp_path, "A-h1"), "the disk is full")
    shutil.copytree(tmp_path / "runs" / "A-h1-seed1", tmp_path / "runs" / "A-h1-seed1.bak")
    found = report(tmp_path, data)
    assert row_of(found, "base")["measured"]["seeds"] == (1,)
    assert (found.n_finished, list(found.failures)) == (1, ["A-h1-seed1"])


def begun(out: Path, row: str) -> Path:
    begin_run(plan_runs("table3", "mini", [row], [1])[0], out)
    return out


def test_runs_of_other_settings_are_left_out(tmp_path: Path, data: Path) -> None:
    directory = finished(tmp_path, "base")
    path = directory / "result.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"digest": "0" * 16}), encoding="utf-8")
    assert row_of(report(tmp_path, data), "base")["measured"] is None


def test_a_failed_row_says_so_with_its_words(tmp_path: Path, data: Path) -> None:
    finished(tmp_path, "base")
    run = plan_runs("table3", "mini", ["A-h1"], [1])[0]
    begin_run(run, tmp_path)
    write_failure(run, tmp_path, "no space left\non the device")
    text = report(tmp_path, data).report.read_text(encoding="utf-8")
    assert "- A-h1-seed1: no space left on the device; see runs/A-h1-seed1/output.txt" in text


def test_it_names_what_trained_the_runs_and_how_they_were_searched(tmp_path: Path, data: Path) -> None:
    finished(tmp_path, "base", commit="1111111111111111")
    finished(tmp_path, "A-h1", commit="2222222222222222")
    text = report(tmp_path, data).report.read_text(encoding="utf-8")
    assert "- trained at commit: 111111111111, 222222222222\n" in text
    assert "- search: beam 4, length penalty 0.6, at most 50 tokens more than the source\n" in text
    assert "at most 5 tokens more" in report(tmp_path, data, "smoke").report.read_text(encoding="utf-8")
