"""How many tokens fit the memory that is free."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.unit.training.toy import ToyRun, toy_model, toy_settings
from transduce.data.batch import make_batch
from transduce.training import fit
from transduce.training.fit import activation_bytes, fit_device_tokens
from transduce.training.settings import TrainSettings
from transduce.training.torch_gradients import TorchGradients

CPU = torch.device("cpu")


@pytest.fixture
def run(tmp_path: Path) -> ToyRun:
    return ToyRun(tmp_path)


def _fit(run: ToyRun, settings: TrainSettings) -> int:
    model = toy_model()
    tokens = fit_device_tokens(model, TorchGradients(model, label_smoothing=0.1, device=CPU), run.train, settings, CPU)
    assert all(parameter.grad is None for parameter in model.parameters())
    return tokens


def test_what_is_kept_grows_with_the_pairs(run: ToyRun) -> None:
    model = toy_model()
    longest = int(run.train.tgt_lengths.argmax())
    one, four = (activation_bytes(model, make_batch(run.train, np.full(n, longest, dtype=np.int64))) for n in (1, 4))
    width = int(run.train.tgt_lengths[longest]) + 1
    assert one > 4 * 16 * width * 10  # there are more than ten vectors of d_model = 16 for each token of each side
    assert 3.5 * one < four < 4.0 * one  # the sinusoids and what hangs on no pair are there once


def test_a_small_budget_is_one_microbatch(run: ToyRun) -> None:
    assert _fit(run, toy_settings(batch_tokens=400, device_tokens="auto")) == 450
    assert _fit(run, toy_settings(batch_tokens=10**6, device_tokens="auto")) == 8192  # more would be no faster


def test_less_memory_means_less_tokens(
    run: ToyRun, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = toy_settings(batch_tokens=10**6, device_tokens="auto")
    reserved = fit._LOGITS_BYTES + fit._state_bytes(toy_model())
    found = []
    for for_tokens in (100_000_000, 20_000_000, 10_000_000, 1):
        monkeypatch.setattr(fit, "free_memory_bytes", lambda n=for_tokens: int((n + reserved) / fit._SHARE))
        with caplog.at_level(logging.WARNING, logger="transduce"):
            found.append(_fit(run, settings))
    assert 8192 >= found[0] > found[1] > found[2] > found[3] == 256
    assert abs(found[1] - 2 * found[2]) <= 2  # as far as it goes, it goes in a line
    assert "memory are free; training may not fit" in caplog.text
    monkeypatch.setattr(fit, "free_memory_bytes", lambda: None)
    assert _fit(run, settings) == 8192


def test_the_processes_of_a_machine_share_its_memory(run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = toy_settings(batch_tokens=10**6, device_tokens="auto")
    reserved = (fit._LOGITS_BYTES + fit._state_bytes(toy_model())) / fit._SHARE
    found = []
    for n_processes in (1, 2):
        for name, value in {"WORLD_SIZE": 4, "RANK": 1, "LOCAL_WORLD_SIZE": n_processes, "MASTER_PORT": 1}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("MASTER_ADDR", "localhost")
        monkeypatch.setattr(fit, "free_memory_bytes", lambda n=n_processes: int(n * (25_000_000 + reserved)))
        found.append(_fit(run, settings))
    assert 256 < found[0] < 8192
    assert abs(found[0] - found[1]) <= 1  # twice the memory for two of them


def test_a_run_finds_it_once_and_keeps_it(run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = toy_settings(n_steps=2, device_tokens="auto")
    run.trainer("a", settings).run(resume=False)
    assert run.log("a", "memory", "step", "device_tokens", "why") == [(0, 67, "fitted")]
    monkeypatch.setattr(fit, "free_memory_bytes", lambda: 1)  # less is free now, and the run is to go on as it was
    again = run.trainer("a", toy_settings(n_steps=4, device_tokens="auto"))
    again.run(resume=True)
    assert again._dial.device_tokens == 67
    assert len(run.log("a", "memory", "step")) == 1
    other = run.trainer("a", toy_settings(n_steps=5, device_tokens=30))
    other.run(resume=True)
    assert other._dial.device_tokens == 30
