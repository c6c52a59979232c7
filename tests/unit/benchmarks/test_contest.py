"""What the decoding benchmark runs, and how it shows the results."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from contest.contenders import CONTENDERS, settings_of
from contest.table import Record, tables
from peers.job import Job, Report, by_length, read_job, run_job

RECORD = Record(
    shape="small",
    set="test",
    task="file",
    beam=4,
    contender="ct2",
    precision="float32",
    setting="1x2",
    repeat=0,
    n_sentences=10,
    n_src_tokens=50,
    n_tgt_tokens=40,
    seconds=1.0,
    latencies=(),
    ready_s=0.5,
    first_s=1.5,
    peak_bytes=10_000_000,
    bleu=30.0,
    load_average=0.0,
    when="",
)
WORK = {"small": {"n_layers": (1, 1), "d_model": 10, "d_ff": 20, "vocab_size": 30}}
JOB = Job(
    weights="",
    engine="",
    sources="",
    n_sentences=2,
    one_by_one=False,
    beam=1,
    precision="float32",
    workers=1,
    threads=1,
    batch=1,
    batch_type="examples",
    length_alpha=0.6,
    max_extra_tokens=50,
    started=0.0,
)


def test_settings_of_a_contender_have_different_names() -> None:
    for contender in CONTENDERS:
        for task in ("file", "latency", "start"):
            labels = [setting.label for setting in settings_of(contender, "float32", task)]
            assert len(set(labels)) == len(labels) > 0


def test_the_peer_to_beat_gets_every_setting() -> None:
    ct2 = next(contender for contender in CONTENDERS if contender.name == "ct2")
    settings = list(settings_of(ct2, "int8", "file"))
    assert {(each.workers, each.threads) for each in settings} == {(1, 2), (2, 1)}
    assert {(each.batch, each.batch_type) for each in settings} == {
        (32, "examples"),
        (64, "examples"),
        (2048, "tokens"),
    }
    assert {each.passive for each in settings} == {True, False}


def test_a_table_shows_medians_beside_the_best_setting_of_the_peer() -> None:
    records = [replace(RECORD, seconds=seconds) for seconds in (1.0, 2.0, 4.0)]  # 10, 5 and 2.5 sentences a second
    records += [replace(RECORD, setting="2x1", seconds=2.5)]
    records += [replace(RECORD, contender="native", seconds=seconds) for seconds in (0.5, 1.0, 1.25)]  # 20, 10, 8
    rows = [line for line in tables(records, WORK, None) if line.startswith(("| ct2", "| native"))]
    assert [row.split(" | ")[3:5] for row in rows] == [
        ["10.0 [8.0 .. 20.0]", "2.00"],
        ["5.0 [2.5 .. 10.0]", "1.00"],
        ["4.0 [4.0 .. 4.0]", "0.80"],
    ]


def test_a_table_shows_latencies_and_who_had_fewer_sentences() -> None:
    latencies = tuple(0.001 * number for number in range(1, 22))
    records = [
        replace(RECORD, task="latency", latencies=latencies),
        replace(RECORD, task="latency", contender="hf", n_sentences=2, latencies=(0.1, 0.1)),
    ]
    text = "\n".join(tables(records, WORK, None))
    assert "11.0 / 20.0" in text  # of 1 to 21 ms: the middle, and 95 % of the way from the first to the last
    assert "| hf (first 2) |" in text


def test_a_record_comes_back_from_its_line() -> None:
    record = replace(RECORD, latencies=(0.5, 1.0))
    assert Record.of(json.loads(json.dumps(record.line()))) == record


def test_batches_are_cut_by_length() -> None:
    assert by_length([[1], [1, 2, 3], [1, 2]], 2) == [[1, 2], [0]]


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_driver_reports_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_by_one: bool) -> None:
    (tmp_path / "sources.json").write_text("[[5, 6], [7], [8]]")
    job = replace(JOB, sources=str(tmp_path / "sources.json"), one_by_one=one_by_one, started=time.monotonic())
    (tmp_path / "job.json").write_text(json.dumps(asdict(job)))
    monkeypatch.setattr(sys, "argv", ["driver", str(tmp_path / "job.json"), str(tmp_path / "report.json")])
    calls: list[int] = []

    def translate(sources: list[list[int]]) -> list[list[int]]:
        calls.append(len(sources))
        return [source[::-1] for source in sources]

    run_job(read_job(), translate)
    report = Report(**json.loads((tmp_path / "report.json").read_text()))
    assert report.hypotheses == [[6, 5], [7]]
    assert report.n_tokens == 3 + 2  # three ids and two times EOS
    assert calls == ([1, 1] if one_by_one else [2])
    assert len(report.latencies) == (2 if one_by_one else 0)
    assert 0 <= report.ready_s <= report.first_s
    assert report.peak_bytes > 1_000_000
