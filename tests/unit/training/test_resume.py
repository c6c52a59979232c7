"""What may change between a run and its continuation."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from tests.unit.training.toy import ToyRun, toy_settings, toy_store
from transduce.base.errors import TrainingError
from transduce.training.resume import plan_identity


@pytest.fixture
def run(tmp_path: Path) -> ToyRun:
    return ToyRun(tmp_path)


def test_case_b059_another_batch_size_restarts_the_epoch_and_says_so(
    run: ToyRun, caplog: pytest.LogCaptureFixture
) -> None:
    run.trainer("a", toy_settings(n_steps=3)).run(resume=False)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        run.trainer("a", toy_settings(n_steps=13, batch_tokens=45)).run(resume=True)
    assert "batch_tokens was 60 and is 45: epoch 0 starts again from its first sentence" in caplog.text
    assert run.log("a", "epoch", "n_pairs")[0] == (60,)  # every pair, counted from the new start
    assert [step for (step,) in run.log("a", "step", "step")] == list(range(1, 14))


def test_another_memory_dial_changes_nothing(run: ToyRun, caplog: pytest.LogCaptureFixture) -> None:
    run.trainer("a", toy_settings(n_steps=3)).run(resume=False)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        run.trainer("a", toy_settings(n_steps=13, device_tokens=20)).run(resume=True)
    assert caplog.text == ""
    assert run.log("a", "epoch", "n_pairs")[0] == (60,)


def test_other_data_are_seen(run: ToyRun, tmp_path: Path) -> None:
    settings = toy_settings()
    same = plan_identity(run.train, settings)
    assert plan_identity(run.train, toy_settings(lr_factor=2.0, device_tokens=7)) == same
    assert plan_identity(toy_store(tmp_path / "other", n_pairs=60, seed=5), settings) != same


def test_nothing_readable_is_an_error_and_not_a_new_start(run: ToyRun) -> None:
    run.trainer("a", toy_settings(n_steps=5)).run(resume=False)
    for file in (run.root / "a" / "checkpoints").rglob("state.json"):
        file.unlink()
    with pytest.raises(TrainingError, match="none of its checkpoints can be read"):
        run.trainer("a", toy_settings()).run(resume=True)


def test_a_run_that_was_killed_while_it_replaced_its_only_checkpoint_is_a_run(run: ToyRun) -> None:
    run.trainer("a", toy_settings(n_steps=5)).run(resume=False)
    place = run.root / "a" / "checkpoints"
    (place / ".step-00000005-abc.old").mkdir()
    (place / "step-00000005").rename(place / ".step-00000005-abc.old" / "old")
    with pytest.raises(TrainingError, match=r"holds a run already \(up to step-00000005\)"):
        run.trainer("a", toy_settings()).run(resume=False)
    (place / ".step-00000005-abc.old").mkdir()
    (place / "step-00000005").rename(place / ".step-00000005-abc.old" / "old")
    (place / ".step-00000005-abc.old" / "old" / "state.json").unlink()
    with pytest.raises(TrainingError, match="none of its checkpoints can be read"):
        run.trainer("a", toy_settings()).run(resume=True)


def test_a_lost_newest_checkpoint_costs_its_steps_only(run: ToyRun) -> None:
    run.trainer("a", toy_settings(n_steps=10)).run(resume=False)
    shutil.rmtree(run.root / "a" / "checkpoints" / "step-00000010")
    assert run.trainer("a", toy_settings(n_steps=12)).run(resume=True).step == 12
    assert [step for (step,) in run.log("a", "step", "step")] == list(range(1, 13))
