"""Running out of memory costs a part of a step, and changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.unit.training.toy import ToyRun, toy_model, toy_settings
from transduce.base.errors import TrainingError
from transduce.bundle.directory import read_bundle
from transduce.data.batch import Batch, batch_from_ids
from transduce.model.noise import NoiseKey
from transduce.training import gradients
from transduce.training.gradients import GradientEngine
from transduce.training.loss import LossSum
from transduce.training.memory import MemoryDial, cut_finer
from transduce.training.torch_gradients import TorchGradients

CPU = torch.device("cpu")
PAIRS = [([7] * n, [9] * (n % 3 + 1)) for n in (1, 2, 4, 4, 5, 9)]
BATCH = batch_from_ids([src for src, _ in PAIRS], [tgt for _, tgt in PAIRS])


class _SmallMemory:
    """An engine that holds no more than so many tokens at once, as a full device says so: in the middle of its work."""

    name = "torch"

    def __init__(self, engine: GradientEngine, most: int) -> None:
        self.engine, self.most, self.refused = engine, most, 0

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        sizes = [len(batch.src) * max(batch.src.shape[1], batch.tgt_in.shape[1]) for batch in microbatches]
        fitting = [batch for batch, size in zip(microbatches, sizes, strict=True) if size <= self.most]
        sums = self.engine.gradients(fitting, n_tgt_tokens=n_tgt_tokens, key=key)
        if len(fitting) < len(sizes):
            self.refused += 1
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return sums


def test_finer_parts_hold_the_same_pairs_without_needless_padding() -> None:
    parts = cut_finer(BATCH, 20)
    assert [len(part.src) for part in parts] == [2, 2, 2]  # rows of 10, two at a time
    assert [part.src.shape[1] for part in parts] == [3, 5, 10]
    assert torch.cat([part.numbers for part in parts]).tolist() == list(range(6))
    assert sum(part.n_src_tokens for part in parts) == BATCH.n_src_tokens
    assert sum(part.n_tgt_tokens for part in parts) == BATCH.n_tgt_tokens
    for part in parts:
        alone = batch_from_ids(*zip(*(PAIRS[number] for number in part.numbers.tolist()), strict=True))
        for name in ("src", "src_valid", "tgt_in", "tgt_out", "tgt_valid"):
            assert torch.equal(getattr(part, name), getattr(alone, name))
    assert cut_finer(BATCH, 60) == [BATCH]
    assert [len(part.src) for part in cut_finer(BATCH, 1)] == [1] * 6


def test_the_step_is_computed_again_in_smaller_parts(caplog: pytest.LogCaptureFixture) -> None:
    computed: list[list[Any]] = []
    told: list[int] = []
    for most in (1000, 15):
        model = toy_model()
        engine = _SmallMemory(TorchGradients(model, label_smoothing=0.1, device=CPU), most)
        dial = MemoryDial(engine, device_tokens=60, device=CPU, on_halved=told.append)
        with caplog.at_level(logging.WARNING, logger="transduce"):
            sums = dial.gradients([BATCH], n_tgt_tokens=BATCH.n_tgt_tokens, key=(1, 2))
        computed.append([parameter.grad for parameter in model.parameters()] + [sums.nats, sums.nll_nats])
        assert sums.n_tokens == BATCH.n_tgt_tokens
    assert told == [30, 15]
    assert dial.device_tokens == 15
    assert caplog.text.count("with train.device_tokens = ") == 2
    for whole, parts in zip(*computed, strict=True):
        torch.testing.assert_close(whole, parts, rtol=1e-5, atol=1e-6)  # float32 sums in another order, dropout and all
    parts = cut_finer(BATCH, dial.device_tokens)  # as the loop cuts the next steps
    dial.gradients(parts, n_tgt_tokens=BATCH.n_tgt_tokens, key=(1, 3))
    assert engine.refused == 2


def test_one_pair_that_does_not_fit_is_the_end() -> None:
    engine = _SmallMemory(TorchGradients(toy_model(), label_smoothing=0.1, device=CPU), 5)
    dial = MemoryDial(engine, device_tokens=60, device=CPU, on_halved=lambda tokens: None)
    with pytest.raises(TrainingError, match=r"a single pair of 10 tokens does not fit .* lower train\.max_pair_tokens"):
        dial.gradients([BATCH], n_tgt_tokens=BATCH.n_tgt_tokens, key=(1, 2))


def test_other_errors_are_not_taken_for_it() -> None:
    class Broken:
        name = "torch"

        def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
            raise RuntimeError("shapes cannot be multiplied")

    dial = MemoryDial(Broken(), device_tokens=60, device=CPU, on_halved=lambda tokens: None)
    with pytest.raises(RuntimeError, match="multiplied"):
        dial.gradients([BATCH], n_tgt_tokens=BATCH.n_tgt_tokens, key=(1, 2))


def test_a_run_on_a_small_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Adam divides by the size of the gradient; with this eps it does not make updates of the rounding of a gradient of zero.
    values = {"engine": "torch", "checkpoint_every": 4, "adam_eps": 1e-3}
    run, settings = ToyRun(tmp_path), toy_settings(n_steps=8, **values)
    run.trainer("large", settings).run(resume=False)
    build = gradients.build_gradient_engine

    def small(*arguments: Any, **named: Any) -> GradientEngine:
        return _SmallMemory(build(*arguments, **named), 40)

    monkeypatch.setattr("transduce.training.loop.build_gradient_engine", small)
    run.trainer("small", settings).run(resume=False)
    [(why, tokens), *_] = halved = run.log("small", "memory", "why", "device_tokens")
    assert why == "halved" and halved[-1][1] <= 40 < tokens * 2
    weights = [read_bundle(run.root / name / "checkpoints" / "step-00000008").weights() for name in ("large", "small")]
    for name, array in weights[0].items():
        np.testing.assert_allclose(weights[1][name], array, rtol=1e-4, atol=1e-4)  # rounding, a thousandfold at most
    again = run.trainer("small", toy_settings(n_steps=10, **values))
    again.run(resume=True)
    assert again._dial.device_tokens == halved[-1][1]  # it is remembered


def test_where_it_was_halved_a_resumed_run_goes_on_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps that were loaded before the dial was turned are cut as a run that is resumed cuts them."""
    build = gradients.build_gradient_engine

    class Full:
        """An engine whose memory is full once, at the third step."""

        name = "torch"

        def __init__(self, engine: GradientEngine) -> None:
            self.engine, self.calls = engine, iter(range(1, 100))

        def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
            if next(self.calls) == 3:
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
            return self.engine.gradients(microbatches, n_tgt_tokens=n_tgt_tokens, key=key)

    run = ToyRun(tmp_path, n_pairs=200)
    values = {"engine": "torch", "batch_tokens": 400, "device_tokens": 400, "validate_every": 100}
    with monkeypatch.context() as patch:
        patch.setattr("transduce.training.loop.build_gradient_engine", lambda *a, **named: Full(build(*a, **named)))
        run.trainer("whole", toy_settings(n_steps=5, **values)).run(resume=False)
        run.trainer("parts", toy_settings(n_steps=3, **values)).run(resume=False)
    run.trainer("parts", toy_settings(n_steps=5, **values)).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("parts", 5, file) == run.file("whole", 5, file)
    assert run.log("parts", "step", "step", "loss") == run.log("whole", "step", "step", "loss")
