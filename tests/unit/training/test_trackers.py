"""The log file: one JSON object a line, and no step twice."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from transduce.training.records import (
    BadStepRecord,
    CheckpointRecord,
    EpochRecord,
    Record,
    RollbackRecord,
    StartRecord,
    StepRecord,
    StopRecord,
    ValidationRecord,
    record_to_dict,
)
from transduce.training.trackers import JsonlLog, TensorBoardLog


def _start(step: int) -> StartRecord:
    return StartRecord(step, 100, None, "cpu", 10, 10, None if step == 0 else f"step-{step:08d}")


def _step(step: int, loss: float = 1.5) -> StepRecord:
    return StepRecord(step, 0, 0.1, loss, 1.0, 1.0, 0, 10, 10.0, 0.0, 1.0, math.inf)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _log(path: Path, *records: Record) -> None:
    log = JsonlLog(path)
    for record in records:
        log(record)


def test_one_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "run" / "log.jsonl"
    _log(path, _start(0), _step(1), CheckpointRecord(1, Path("a/b"), 0.1), StopRecord(1, "steps", 2.0))
    lines = _lines(path)
    assert [line["kind"] for line in lines] == ["start", "step", "checkpoint", "stop"]
    assert lines[1]["loss"] == 1.5
    assert lines[2]["path"] == str(Path("a/b"))


def test_a_path_that_the_locale_cannot_spell_is_written_as_its_bytes(tmp_path: Path) -> None:
    path = Path("größe".encode().decode("ascii", errors="surrogateescape"))  # what Python makes of it in the locale C
    _log(tmp_path / "log.jsonl", CheckpointRecord(1, path, 0.1))
    assert _lines(tmp_path / "log.jsonl")[0]["path"] == "größe"


def test_numbers_that_are_not_finite_are_null(tmp_path: Path) -> None:
    _log(tmp_path / "log.jsonl", _start(0), _step(1, loss=math.nan))
    line = _lines(tmp_path / "log.jsonl")[1]
    assert line["loss"] is None and line["eta_s"] is None
    assert "NaN" not in (tmp_path / "log.jsonl").read_text()


def test_resume_takes_out_what_will_be_done_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    _log(path, _start(0), _step(5), _step(10), CheckpointRecord(10, Path("c"), 0.1), _step(15), _step(20))
    with path.open("a") as stream:
        stream.write('{"kind": "step", "step": 2')  # a kill cut this line off
    _log(path, _start(10), _step(15))
    assert [(line["kind"], line["step"]) for line in _lines(path)] == [
        ("start", 0),
        ("step", 5),
        ("step", 10),
        ("checkpoint", 10),
        ("start", 10),
        ("step", 15),
    ]
    assert list(tmp_path.iterdir()) == [path]  # no temporary file stays


def test_a_rollback_takes_out_the_numbers_and_leaves_the_evidence(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bad, back = BadStepRecord(6, "not finite", math.nan, math.nan, None), RollbackRecord(4, 6, Path("c"))
    before: list[Record] = [_start(0), _step(4), CheckpointRecord(4, Path("c"), 0.1), _step(5)]
    _log(path, *before, ValidationRecord(5, {}, False, 0.1), EpochRecord(6, 0, 10, 0), bad, back, _step(5))
    kept = ["start", "step", "checkpoint", "epoch", "bad step", "rollback"]
    assert [line["kind"] for line in _lines(path)] == [*kept, "step"]
    _log(path, BadStepRecord(7, "exploding", 1.0, 9.0, None), RollbackRecord(4, 7, Path("c")), _step(5), _step(6))
    _log(path, CheckpointRecord(6, Path("d"), 0.1), BadStepRecord(8, "exploding", 1.0, 9.0, None), _step(8))
    _log(path, _start(6))  # a kill, and no rollback, so that step 8 is made again just as it was
    kinds = [(line["kind"], line["step"]) for line in _lines(path)]
    assert kinds[:6] == list(zip(kept, (0, 4, 4, 6, 6, 4), strict=True))
    assert kinds[6:] == [*[("bad step", 7), ("rollback", 4), ("step", 5), ("step", 6), ("checkpoint", 6), ("start", 6)]]


def test_a_new_run_begins_a_new_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    _log(path, _start(0), _step(5))
    _log(path, _start(0), _step(1))
    assert [line["step"] for line in _lines(path)] == [0, 1]


def test_every_kind_of_record_has_a_name() -> None:
    assert record_to_dict(_step(3))["kind"] == "step"
    assert record_to_dict(_start(0))["kind"] == "start"


class RecordingWriter:
    """Stands for TensorBoard's writer."""

    def __init__(self, first_step: int) -> None:
        self.first_step, self.points, self.is_closed = first_step, list[tuple[str, float, int]](), False

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.points.append((tag, scalar_value, global_step))

    def flush(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True


def test_tensorboard_gets_every_number_and_the_step_that_it_goes_on_from() -> None:
    writers: list[RecordingWriter] = []

    def make(first_step: int) -> RecordingWriter:
        writers.append(RecordingWriter(first_step))
        return writers[-1]

    listener = TensorBoardLog(make)
    listener(StartRecord(40, 100, None, "cpu", 1, 1, "checkpoints/step-00000040"))
    listener(ValidationRecord(50, {"perplexity": 3.0, "BLEU": 20.0}, is_best=True, took_s=1.0))
    listener(StopRecord(50, "steps", 1.0))
    assert (writers[0].first_step, writers[0].is_closed) == (41, True)
    assert writers[0].points == [("dev/perplexity", 3.0, 50), ("dev/BLEU", 20.0, 50)]


def test_tensorboard_replaces_the_steps_that_a_run_goes_back_behind() -> None:
    writers: list[RecordingWriter] = []

    def make(first_step: int) -> RecordingWriter:
        writers.append(RecordingWriter(first_step))
        return writers[-1]

    listener = TensorBoardLog(make)
    for record in (_start(0), _step(5), RollbackRecord(4, 5, Path("c")), _step(5, loss=1.0)):
        listener(record)
    assert [(writer.first_step, writer.is_closed) for writer in writers] == [(1, True), (5, False)]
    assert ("train/loss", 1.5, 5) in writers[0].points
    assert ("train/loss", 1.0, 5) in writers[1].points
