"""Which checkpoints stay."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.bundle.run import list_checkpoints
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.records import CheckpointRecord, Record, StepRecord
from transduce.training.retention import prune_checkpoints
from transduce.training.settings import TrainSettings


def _make(run_dir: Path, *steps: int) -> None:
    for step in steps:
        (run_dir / "checkpoints" / f"step-{step:08d}").mkdir(parents=True)


def _prune(run_dir: Path, settings: TrainSettings, timed: Sequence[int] = ()) -> None:
    """Prune as if the newest checkpoint had just been written."""
    prune_checkpoints(run_dir, settings, list_checkpoints(run_dir)[-1], timed)


def _steps(run_dir: Path) -> list[int]:
    return [int(path.name[5:]) for path in list_checkpoints(run_dir)]


def test_the_newest_are_kept(tmp_path: Path) -> None:
    _make(tmp_path, 2, 4, 6, 8)
    _prune(tmp_path, toy_settings(keep_checkpoints=3, checkpoint_every=2))
    assert _steps(tmp_path) == [4, 6, 8]
    assert len(list((tmp_path / "checkpoints").iterdir())) == 3


def test_a_stop_between_regular_steps_leaves_no_trace_in_the_end(tmp_path: Path) -> None:
    settings = toy_settings(keep_checkpoints=2, checkpoint_every=2)
    _make(tmp_path, 2, 4, 5)
    _prune(tmp_path, settings)
    assert _steps(tmp_path) == [4, 5]  # the run may go on from 5
    _make(tmp_path, 6)
    _prune(tmp_path, settings)
    assert _steps(tmp_path) == [4, 6]  # as if it had never stopped


def test_some_stay_for_good(tmp_path: Path) -> None:
    _make(tmp_path, *range(2, 14, 2))
    _prune(tmp_path, toy_settings(keep_checkpoints=2, checkpoint_every=2, keep_every=4))
    assert _steps(tmp_path) == [4, 8, 10, 12]


def test_those_of_the_clock_are_as_good_as_those_of_the_count(tmp_path: Path) -> None:
    _make(tmp_path, 3, 5, 7, 9)
    settings = toy_settings(keep_checkpoints=3, checkpoint_every="none", checkpoint_minutes=1.0)
    _prune(tmp_path, settings, timed=(3, 5, 9))
    assert _steps(tmp_path) == [3, 5, 9]  # 7 was a stop


def test_pruning_nothing_is_no_error(tmp_path: Path) -> None:
    _make(tmp_path, 1)
    _prune(tmp_path, toy_settings(keep_checkpoints=1, checkpoint_every=1))
    assert _steps(tmp_path) == [1]


def test_what_was_just_written_stays_whatever_stands_above_it(tmp_path: Path) -> None:
    _make(tmp_path, 1000, 2000, 2500, 3000)
    written = tmp_path / "checkpoints" / "step-00002500"
    prune_checkpoints(tmp_path, toy_settings(keep_checkpoints=1, checkpoint_every=1000), written)
    assert _steps(tmp_path) == [2500, 3000]


def test_after_a_damaged_checkpoint_the_new_ones_are_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run, settings = ToyRun(tmp_path), toy_settings(n_steps=20, checkpoint_every=5, keep_checkpoints=2)
    run.trainer("a", settings).run(resume=False)
    file = run.root / "a" / "checkpoints" / "step-00000020" / "state.safetensors"
    file.write_bytes(file.read_bytes()[:-1])

    def stop(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == 17:
            os.kill(os.getpid(), signal.SIGTERM)

    with (
        caplog.at_level(logging.WARNING, logger="transduce"),
        pytest.raises(TrainingInterrupted, match="step-00000017"),
    ):
        run.trainer("a", settings, listeners=[stop]).run(resume=True)
    assert _steps(run.root / "a") == [15, 17]
    assert (run.root / "a" / "checkpoints" / "damaged-step-00000020").is_dir()  # nothing of it is lost
    assert "step-00000020 is now damaged-step-00000020: the run makes its steps again" in caplog.text
    result = run.trainer("a", settings).run(resume=True)
    assert [path.name for path in result.checkpoints] == ["step-00000015", "step-00000020"]
    run.trainer("whole", settings).run(resume=False)
    assert run.file("a", 20, "state.safetensors") == run.file("whole", 20, "state.safetensors")


def test_the_clock_saves_a_run(tmp_path: Path) -> None:
    run, saved = ToyRun(tmp_path), []

    def note(record: Record) -> None:
        if isinstance(record, CheckpointRecord):
            saved.append(record.step)

    clock = toy_settings(n_steps=4, checkpoint_every="none", checkpoint_minutes=1e-9)
    run.trainer("a", clock, listeners=[note]).run(resume=False)
    assert saved == [1, 2, 3, 4]
    run.trainer("b", toy_settings(n_steps=4, checkpoint_every=4)).run(resume=False)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("a", 4, file) == run.file("b", 4, file)  # it decides no update


def test_those_of_the_clock_are_known_after_a_resume(tmp_path: Path) -> None:
    run = ToyRun(tmp_path)
    clock = {"checkpoint_every": "none", "checkpoint_minutes": 1e-9, "keep_checkpoints": 4}
    run.trainer("a", toy_settings(n_steps=3, **clock)).run(resume=False)
    run.trainer("a", toy_settings(n_steps=5, **clock)).run(resume=True)
    assert _steps(run.root / "a") == [2, 3, 4, 5]
