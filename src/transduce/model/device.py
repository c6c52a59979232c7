"""Where a model runs."""

from __future__ import annotations

from typing import Literal

import torch

from transduce.base.errors import SettingsError

__all__ = ["DeviceName", "choose_device"]

DeviceName = Literal["auto", "cpu", "cuda", "mps"]


def choose_device(name: DeviceName, *, setting: str) -> torch.device:
    """Return the device of a name; ``auto`` is CUDA if there is any, else Apple MPS, else the CPU.

    Args:
        name: What is asked for.
        setting: The setting that asks, for the message.

    Raises:
        SettingsError: The device is not on this machine, or this build of torch cannot use it.

    >>> choose_device("cpu", setting="train.device")
    device(type='cpu')
    """
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "cuda" and not has_cuda:
        why = (
            f"this build of torch ({torch.__version__}) has no CUDA"
            if torch.version.cuda is None
            else "no GPU is found"
        )
        raise SettingsError(f"{setting} is 'cuda', but {why}; set {setting} to 'auto' or 'cpu', or mend that")
    if name == "mps" and not has_mps:
        raise SettingsError(
            f"{setting} is 'mps', but there is no Apple GPU that torch can use; set {setting} to 'auto'"
        )
    if name == "auto":
        name = "cuda" if has_cuda else "mps" if has_mps else "cpu"
    return torch.device(name)
