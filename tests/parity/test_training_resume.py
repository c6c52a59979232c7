"""Interrupted and resumed = uninterrupted, bit for bit."""

from __future__ import annotations

import os
import signal

import pytest

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.records import Listener, Record, StartRecord, StepRecord
from transduce.training.settings import TrainSettings

N_STEPS = 20


class _CrashError(Exception):
    """What ends a run without warning."""


def _settings(**values: object) -> TrainSettings:
    """Dropout, several microbatches a step, and log lines that span more than one step."""
    return toy_settings(**{"n_steps": N_STEPS, "log_every": 3, "keep_checkpoints": 2, "max_grad_norm": 1.0, **values})


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
    """Do something right before a step of the log, in the middle of the run: with ``log_every`` 1, at every step."""

    def listen(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == step:
            action(record)

    return listen


def _interrupt(record: Record) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _crash(record: Record) -> None:
    raise _CrashError


# The epochs of the toy run end at steps that test_epoch_ends_are_where_we_think checks.
@pytest.mark.parametrize("step", [3, 6, 9, 15])
def test_interrupted_by_a_signal(run: ToyRun, step: int) -> None:
    name = f"signal-{step}"
    with pytest.raises(TrainingInterrupted):
        run.trainer(name, _settings(), listeners=[_at(step, _interrupt)]).run(resume=False)
    run.trainer(name, _settings()).run(resume=True)
    _assert_equal_to_whole(run, name)


@pytest.mark.parametrize("step", [6, 12, 18])
def test_killed_between_checkpoints(run: ToyRun, step: int) -> None:
    name = f"crash-{step}"
    with pytest.raises(_CrashError):
        run.trainer(name, _settings(), listeners=[_at(step, _crash)]).run(resume=False)
    run.trainer(name, _settings()).run(resume=True)
    _assert_equal_to_whole(run, name)


def test_interrupted_again_and_again(run: ToyRun) -> None:
    for step in (3, 6, 9, 12):
        with pytest.raises(TrainingInterrupted):
            run.trainer("often", _settings(), listeners=[_at(step, _interrupt)]).run(resume=True)
    run.trainer("often", _settings()).run(resume=True)
    _assert_equal_to_whole(run, "often")


def test_case_b055_two_epochs_in_one_go_or_in_two(run: ToyRun) -> None:
    (end_of_first,), (end_of_second,), *_ = run.log("whole", "epoch", "step")
    every = {"log_every": 1, "validate_every": 100, "checkpoint_every": 100}
    run.trainer("one-go", _settings(n_steps=end_of_second, **every)).run(resume=False)
    run.trainer("two-goes", _settings(n_steps=end_of_first, **every)).run(resume=False)
    run.trainer("two-goes", _settings(n_steps=end_of_second, **every)).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("two-goes", end_of_second, file) == run.file("one-go", end_of_second, file)
    assert run.log("two-goes", "step", "epoch", "loss") == run.log("one-go", "step", "epoch", "loss")


def test_interrupted_where_an_evaluation_is_due(run: ToyRun) -> None:
    # Step 15 is logged, evaluated and saved; the signal comes before the evaluation, which the resumed run makes up for.
    with pytest.raises(TrainingInterrupted):
        run.trainer("due", _settings(), listeners=[_at(15, _interrupt)]).run(resume=False)
    assert [step for (step,) in run.log("due", "validation", "step")] == [5, 10]
    run.trainer("due", _settings()).run(resume=True)
    assert [step for (step,) in run.log("due", "validation", "step")] == [5, 10, 15, 20]


def test_weights_moved_with_the_first_update(run: ToyRun) -> None:
    records: list[Record] = []
    trainer = run.trainer("first", _settings(n_steps=1), listeners=[records.append])
    before = {name: parameter.detach().clone() for name, parameter in trainer._model.named_parameters()}
    trainer.run(resume=False)
    assert isinstance(records[0], StartRecord)
    assert all((before[name] != parameter).any() for name, parameter in trainer._model.named_parameters())
