"""The moving average of the weights, and what is evaluated and kept with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.unit.training.toy import ToyRun, toy_model, toy_settings
from transduce.base.errors import SettingsError
from transduce.bundle.directory import read_bundle
from transduce.model.build import export_weights
from transduce.model.transformer import Transformer
from transduce.training.ema import WeightAverage
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.records import Record, StepRecord

NAME = "encoder.layers.0.feed_forward.in_proj.weight"


def test_the_average_by_hand() -> None:
    model = toy_model()
    average, start = WeightAverage(model, decay=0.9), export_weights(model)[NAME].astype(np.float64)
    with torch.no_grad():
        model.get_parameter(NAME).add_(1.0)
    average.add(step=1)  # early: the decay is (1 + 1) / (10 + 1), and not 0.9
    expected = start * 2 / 11 + (start + 1.0) * 9 / 11
    np.testing.assert_allclose(average.export()[NAME], expected, rtol=1e-6)  # float32
    average.add(step=1000)
    np.testing.assert_allclose(average.export()[NAME], expected * 0.9 + (start + 1.0) * 0.1, rtol=1e-6)


def test_the_weights_are_back_after_a_look_through_the_average() -> None:
    model = toy_model()
    average = WeightAverage(model, decay=0.9)
    initial = export_weights(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.1)
    weights = export_weights(model)
    with average.in_model():
        assert all((export_weights(model)[name] == array).all() for name, array in initial.items())
    assert all((export_weights(model)[name] == array).all() for name, array in weights.items())


def test_the_average_is_what_is_scored_and_kept(tmp_path: Path) -> None:
    run, seen = ToyRun(tmp_path), []

    def validate(model: Transformer) -> Mapping[str, float]:
        seen.append(export_weights(model))
        return {}

    settings = toy_settings(n_steps=4, validate_every=4, checkpoint_every=4, ema_decay=0.5)
    trainer = run.trainer("a", settings, validators=[validate])
    result = trainer.run(resume=False)
    raw = export_weights(trainer._model)
    for path in (run.root / "a" / "best", result.checkpoints[-1]):
        kept = read_bundle(path).weights()
        assert all((kept[name] == array).all() for name, array in seen[-1].items())
        assert any((kept[name] != array).any() for name, array in raw.items())


def test_it_changes_nothing_of_the_training(tmp_path: Path) -> None:
    run = ToyRun(tmp_path)
    with_it, without = (run.trainer(name, toy_settings(ema_decay=ema)) for name, ema in (("a", 0.9), ("b", "none")))
    for trainer in (with_it, without):
        trainer.run(resume=False)
    weights = [export_weights(trainer._model) for trainer in (with_it, without)]
    assert all((weights[0][name] == array).all() for name, array in weights[1].items())


def test_interrupted_and_resumed_is_uninterrupted(tmp_path: Path) -> None:
    run, settings = ToyRun(tmp_path), toy_settings(ema_decay=0.9, device_tokens=40, checkpoint_every=10)

    def stop(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == 4:
            os.kill(os.getpid(), signal.SIGTERM)

    run.trainer("whole", settings).run(resume=False)
    with pytest.raises(TrainingInterrupted):
        run.trainer("parts", settings, listeners=[stop]).run(resume=False)
    run.trainer("parts", settings).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("parts", 10, file) == run.file("whole", 10, file)


@pytest.mark.parametrize("number", [1, 2])
def test_a_signal_while_it_is_put_in_or_out_harms_no_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    run, settings = ToyRun(tmp_path), toy_settings(ema_decay=0.9)
    run.trainer("whole", settings).run(resume=False)
    copy, count = WeightAverage._copy, iter(range(1, 100))

    def copy_half(self: WeightAverage, weights: Mapping[str, torch.Tensor]) -> None:
        if next(count) == number:
            copy_some(self, dict(list(weights.items())[:5]))
            os.kill(os.getpid(), signal.SIGTERM)
        copy(self, weights)

    def copy_some(self: WeightAverage, weights: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, weight in weights.items():
                self._weights[name].copy_(weight)

    monkeypatch.setattr(WeightAverage, "_copy", copy_half)
    with pytest.raises(TrainingInterrupted, match="stopped at step 5"):
        run.trainer("parts", settings).run(resume=False)
    run.trainer("parts", settings).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("parts", 10, file) == run.file("whole", 10, file)


def test_it_takes_the_place_of_the_average_of_checkpoints() -> None:
    with pytest.raises(SettingsError, match="set average_last = 1"):
        toy_settings(ema_decay=0.9, average_last=2)
