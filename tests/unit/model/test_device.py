"""Choosing a device."""

from __future__ import annotations

import pytest
import torch

from transduce.base.errors import SettingsError
from transduce.model.device import choose_device


def test_cuda_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingsError, match=r"train\.device is 'cuda', but .*; set train\.device to 'auto' or 'cpu'"):
        choose_device("cuda", setting="train.device")


def test_mps_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(SettingsError, match=r"train\.device is 'mps'"):
        choose_device("mps", setting="train.device")


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_auto_takes_the_fastest(monkeypatch: pytest.MonkeyPatch, has_cuda: bool, has_mps: bool, expected: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert choose_device("auto", setting="train.device").type == expected
