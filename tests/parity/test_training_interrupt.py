"""Stops at awkward moments: in the middle of a step, of an evaluation, and on a full disk. Nothing is half-applied."""

from __future__ import annotations

import os
import random
import resource
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.base.errors import TrainingError
from transduce.bundle.run import list_checkpoints
from transduce.model.transformer import Transformer
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.loop import Trainer
from transduce.training.records import Record
from transduce.training.settings import TrainSettings

N_STEPS = 9


def _settings(**values: Any) -> TrainSettings:
    """Dropout, some microbatches a step, and a moving average."""
    defaults = {"n_steps": N_STEPS, "device_tokens": 25, "checkpoint_every": 4, "validate_every": 4, "ema_decay": 0.9}
    return toy_settings(**{**defaults, "engine": "torch", **values})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    run = ToyRun(tmp_path_factory.mktemp("runs"))
    run.trainer("whole", _settings()).run(resume=False)
    return run


def _assert_equal_to_whole(run: ToyRun, name: str) -> None:
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file(name, N_STEPS, file) == run.file("whole", N_STEPS, file)
    assert run.log(name, "validation", "step", "scores") == run.log("whole", "validation", "step", "scores")


def _at_forward_pass(trainer: Trainer, number: int) -> None:
    """Send the process a signal in the middle of a forward pass; there are several in a step."""
    count = iter(range(1, 10_000))
    trainer._model.decoder.register_forward_hook(
        lambda module, inputs, output: os.kill(os.getpid(), signal.SIGTERM) if next(count) == number else None
    )


@pytest.mark.parametrize("number", [2, 8, 14])
def test_stopped_while_gradients_are_summed(run: ToyRun, number: int) -> None:
    name = f"within-{number}"
    trainer = run.trainer(name, _settings(validate_every=100))
    _at_forward_pass(trainer, number)
    with pytest.raises(TrainingInterrupted):
        trainer.run(resume=False)
    run.trainer(name, _settings()).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        if number < 14:  # later, the evaluation of step 4 has been passed over, which changes no weight, but the state
            assert run.file(name, N_STEPS, file) == run.file("whole", N_STEPS, file)
    assert run.log(name, "step", "step", "loss") == run.log("whole", "step", "step", "loss")


def test_a_signal_leaves_an_evaluation_at_once_and_the_next_run_makes_up_for_it(run: ToyRun) -> None:
    seen: list[str] = []

    def slow(model: Transformer) -> Mapping[str, float]:
        seen.append("begun")
        os.kill(os.getpid(), signal.SIGTERM)
        seen.append("ended")
        return {}

    trainer = run.trainer("evaluating", _settings(), validators=[slow])
    with pytest.raises(TrainingInterrupted, match="stopped at step 4"):
        trainer.run(resume=False)
    assert seen == ["begun"]
    assert trainer._model.training
    assert run.log("evaluating", "validation", "step") == []
    run.trainer("evaluating", _settings()).run(resume=True)
    _assert_equal_to_whole(run, "evaluating")


def test_nothing_hangs_on_the_random_generators_of_others(run: ToyRun) -> None:
    """Python's, numpy's and torch's are disturbed at every step: a checkpoint has no need to hold them."""

    def disturb(record: Record) -> None:
        random.seed(record.step)
        np.random.seed(record.step)
        torch.manual_seed(record.step)

    run.trainer("disturbed", _settings(), listeners=[disturb]).run(resume=False)
    _assert_equal_to_whole(run, "disturbed")
    # The type checks of these tests ask Python's for numbers, so it is left out here.
    states = np.random.get_state(), torch.random.get_rng_state()
    run.trainer("quiet", _settings()).run(resume=False)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(np.random.get_state(), states[0], strict=True))
    assert torch.equal(torch.random.get_rng_state(), states[1])


@contextmanager
def _no_file_larger_than(n_bytes: int) -> Iterator[None]:
    """Let every write beyond this size fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("n_bytes", [100, 2_000, 20_000, 40_000])
def test_a_full_disk_ends_in_one_sentence_and_the_last_checkpoint_stands(run: ToyRun, n_bytes: int) -> None:
    name = f"full-{n_bytes}"
    settings = _settings(checkpoint_every=2, validate_every=100, n_steps=3, log_every=100)
    run.trainer(name, settings).run(resume=False)
    settings = _settings(checkpoint_every=2, validate_every=100, log_every=100)
    trainer = run.trainer(name, settings)
    trainer._listeners = []  # the log would be what fails first
    with _no_file_larger_than(n_bytes), pytest.raises(TrainingError, match="cannot be written") as caught:
        trainer.run(resume=True)
    assert "\n" not in str(caught.value)
    assert "make room, and --resume goes on from step-00000003" in str(caught.value)
    assert [path.name for path in list_checkpoints(run.root / name)][-1] == "step-00000003"
    assert not list((run.root / name / "checkpoints").glob(".*"))
    run.trainer(name, settings).run(resume=True)
    whole = {path.name: path.read_bytes() for path in _newest(run, "whole").glob("*.safetensors")}
    assert {path.name: path.read_bytes() for path in _newest(run, name).glob("*.safetensors")} == whole


def _newest(run: ToyRun, name: str) -> Path:
    return list_checkpoints(run.root / name)[-1]
