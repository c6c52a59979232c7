"""Which checkpoints stay."""

from __future__ import annotations

from pathlib import Path

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.bundle.run import list_checkpoints
from transduce.training.records import CheckpointRecord, Record
from transduce.training.retention import prune_checkpoints


def _make(run_dir: Path, *steps: int) -> None:
    for step in steps:
        (run_dir / "checkpoints" / f"step-{step:08d}").mkdir(parents=True)


def _steps(run_dir: Path) -> list[int]:
    return [int(path.name[5:]) for path in list_checkpoints(run_dir)]


def test_the_newest_are_kept(tmp_path: Path) -> None:
    _make(tmp_path, 2, 4, 6, 8)
    prune_checkpoints(tmp_path, toy_settings(keep_checkpoints=3, checkpoint_every=2))
    assert _steps(tmp_path) == [4, 6, 8]
    assert len(list((tmp_path / "checkpoints").iterdir())) == 3


def test_a_stop_between_regular_steps_leaves_no_trace_in_the_end(tmp_path: Path) -> None:
    settings = toy_settings(keep_checkpoints=2, checkpoint_every=2)
    _make(tmp_path, 2, 4, 5)
    prune_checkpoints(tmp_path, settings)
    assert _steps(tmp_path) == [4, 5]  # the run may go on from 5
    _make(tmp_path, 6)
    prune_checkpoints(tmp_path, settings)
    assert _steps(tmp_path) == [4, 6]  # as if it had never stopped


def test_some_stay_for_good(tmp_path: Path) -> None:
    _make(tmp_path, *range(2, 14, 2))
    prune_checkpoints(tmp_path, toy_settings(keep_checkpoints=2, checkpoint_every=2, keep_every=4))
    assert _steps(tmp_path) == [4, 8, 10, 12]


def test_those_of_the_clock_are_as_good_as_those_of_the_count(tmp_path: Path) -> None:
    _make(tmp_path, 3, 5, 7, 9)
    settings = toy_settings(keep_checkpoints=3, checkpoint_every="none", checkpoint_minutes=1.0)
    prune_checkpoints(tmp_path, settings, timed=(3, 5, 9))
    assert _steps(tmp_path) == [3, 5, 9]  # 7 was a stop


def test_pruning_nothing_is_no_error(tmp_path: Path) -> None:
    prune_checkpoints(tmp_path, toy_settings(keep_checkpoints=1, checkpoint_every=1))
    assert _steps(tmp_path) == []


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
