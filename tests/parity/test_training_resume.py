"""Interrupted and resumed = uninterrupted, bit for bit."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.records import Listener, Record, StepRecord
from transduce.training.settings import TrainSettings

N_STEPS = 12


class _CrashError(Exception):
    """What ends a run without warning."""


def _settings(**values: Any) -> TrainSettings:
    """Dropout, two microbatches a step, and log lines, evaluations and checkpoints that do not fall together."""
    defaults = {"n_steps": N_STEPS, "device_tokens": 40, "validate_every": 4, "checkpoint_every": 4, "log_every": 3}
    return toy_settings(**{**defaults, "keep_checkpoints": 2, "max_grad_norm": 1.0, **values})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    run = ToyRun(tmp_path_factory.mktemp("runs"))
    run.trainer("whole", _settings()).run(resume=False)
    return run


def _assert_equal_to_whole(run: ToyRun, name: str) -> None:
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file(name, N_STEPS, file) == run.file("whole", N_STEPS, file)
    kept = [sorted(path.name for path in (run.root / which / "checkpoints").iterdir()) for which in (name, "whole")]
    assert kept[0] == kept[1]
    for kind, fields in (
        ("step", ("step", "epoch", "learning_rate", "loss", "nll", "grad_norm", "tgt_tokens")),
        ("validation", ("step", "scores", "is_best")),
        ("epoch", ("step", "epoch", "n_pairs")),
    ):
        assert run.log(name, kind, *fields) == run.log("whole", kind, *fields)


def _at(step: int, action: Listener) -> Listener:
    """Do something when a step is logged: after its update, before its evaluation and checkpoint."""

    def listen(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == step:
            action(record)

    return listen


def _interrupt(record: Record) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _crash(record: Record) -> None:
    raise _CrashError


def test_the_toy_run_has_an_epoch_end_and_a_middle(run: ToyRun) -> None:
    # What the steps below are chosen by: 6 ends an epoch; 3 and 9 are in the middle of one.
    assert run.log("whole", "epoch", "step") == [(6,), (12,)]


@pytest.mark.parametrize("step", [3, 6, 9])
def test_interrupted_by_a_signal(run: ToyRun, step: int) -> None:
    name = f"signal-{step}"
    with pytest.raises(TrainingInterrupted):
        run.trainer(name, _settings(), listeners=[_at(step, _interrupt)]).run(resume=False)
    assert (run.root / name / "checkpoints" / f"step-{step:08d}").is_dir()
    run.trainer(name, _settings()).run(resume=True)
    _assert_equal_to_whole(run, name)


@pytest.mark.parametrize("step", [3, 9])
def test_killed_between_checkpoints(run: ToyRun, step: int) -> None:
    name = f"crash-{step}"
    with pytest.raises(_CrashError):
        run.trainer(name, _settings(), listeners=[_at(step, _crash)]).run(resume=False)
    run.trainer(name, _settings()).run(resume=True)
    _assert_equal_to_whole(run, name)


def test_interrupted_again_and_again(run: ToyRun) -> None:
    for step in (3, 6, 9):
        with pytest.raises(TrainingInterrupted):
            run.trainer("often", _settings(), listeners=[_at(step, _interrupt)]).run(resume=True)
    run.trainer("often", _settings()).run(resume=True)
    _assert_equal_to_whole(run, "often")


def test_case_b055_two_epochs_in_one_go_or_in_two(run: ToyRun) -> None:
    every = {"log_every": 1, "validate_every": 100, "checkpoint_every": 100}
    run.trainer("one-go", _settings(**every)).run(resume=False)
    run.trainer("two-goes", _settings(n_steps=6, **every)).run(resume=False)
    run.trainer("two-goes", _settings(**every)).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("two-goes", N_STEPS, file) == run.file("one-go", N_STEPS, file)
    assert run.log("two-goes", "step", "epoch", "loss") == run.log("one-go", "step", "epoch", "loss")


def test_interrupted_where_an_evaluation_is_due(run: ToyRun) -> None:
    # The signal comes when step 4 is logged, before its evaluation; the resumed run makes up for it.
    settings = _settings(n_steps=6, log_every=1, validate_every=2)
    with pytest.raises(TrainingInterrupted):
        run.trainer("due", settings, listeners=[_at(4, _interrupt)]).run(resume=False)
    assert run.log("due", "validation", "step") == [(2,)]
    run.trainer("due", settings).run(resume=True)
    assert run.log("due", "validation", "step") == [(2,), (4,), (6,)]
