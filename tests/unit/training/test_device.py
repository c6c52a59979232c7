"""Choosing a device, and randomness from seed and step alone."""

from __future__ import annotations

import pytest
import torch

from transduce.base.errors import TrainingError
from transduce.training.device import choose_device, seed_step


def _draw(seed: int, step: int) -> float:
    seed_step(seed, step)
    return float(torch.rand(()))


def test_cuda_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingError, match=r"train\.device is 'cuda', but .*; set train\.device to 'auto' or 'cpu'"):
        choose_device("cuda")


def test_mps_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(TrainingError, match=r"train\.device is 'mps'"):
        choose_device("mps")


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_auto_takes_the_fastest(monkeypatch: pytest.MonkeyPatch, has_cuda: bool, has_mps: bool, expected: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert choose_device("auto").type == expected


def test_randomness_comes_from_seed_and_step_alone() -> None:
    assert _draw(1, 2) == _draw(1, 2)
    different = {_draw(seed, step) for seed in (-1, 0, 1, 2) for step in (0, 1, 2)}
    assert len(different) == 12
