"""How many operations a second a device sustains: the number by which the paper turns hours into FLOPs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import torch

__all__ = ["PAPER_TFLOPS", "DeviceRate", "device_rate", "paper_tflops"]

PAPER_TFLOPS = {"K80": 2.8, "K40": 3.7, "M40": 6.0, "P100": 9.5}
"""Sustained single-precision TFLOP/s of one GPU. Paper: section 6.1, footnote 5."""

_MEASURED_WIDTH = {"cpu": 1024, "cuda": 8192, "mps": 4096}
_N_TRIES = 3


@dataclass(frozen=True)
class DeviceRate:
    """What one device is taken to sustain."""

    device: str
    """Its name, such as ``Tesla P100-SXM2-16GB``."""
    tflops: float
    """10^12 floating-point operations a second."""
    source: Literal["declared", "paper", "measured"]
    """From the setting, from the paper's footnote, or the best of three float32 matrix products on this device."""


def device_rate(device: torch.device, name: str, *, declared_tflops: float | None) -> DeviceRate:
    """Return the rate of a device: as declared, else as the paper has it, else measured, which takes a tenth of a second.

    Args:
        device: Where to measure, with as many threads as torch has now.
        name: What the device is called.
        declared_tflops: Of one device; None: not declared.

    Paper: section 6.1, footnote 5.

    >>> device_rate(torch.device("cpu"), "Tesla P100-PCIE-16GB", declared_tflops=None).tflops
    9.5
    """
    if declared_tflops is not None:
        return DeviceRate(name, declared_tflops, "declared")
    tflops = paper_tflops(name)
    if tflops is not None:
        return DeviceRate(name, tflops, "paper")
    return DeviceRate(name, _measure(device), "measured")


def paper_tflops(name: str) -> float | None:
    """Return the paper's number for a GPU, by its name; None: it has none. Paper: section 6.1, footnote 5.

    >>> paper_tflops("Tesla K40m"), paper_tflops("Quadro M4000")
    (3.7, None)
    """
    words = name.replace("-", " ").split()
    models = {word.rstrip("cdmst") for word in words}  # K40c, K40m ...: the same chip on another board
    return next((tflops for model, tflops in PAPER_TFLOPS.items() if model in models), None)


def _measure(device: torch.device) -> float:
    """Return the TFLOP/s of a large square float32 matrix product. No random number is drawn: a run counts on its own."""
    width = _MEASURED_WIDTH.get(device.type, _MEASURED_WIDTH["cpu"])
    factor = torch.full((width, width), 0.5, device=device)
    product = factor @ factor  # the first one also loads the library
    best_s = float("inf")
    for _ in range(_N_TRIES):
        _wait(device)
        start_s = time.perf_counter()
        torch.mm(factor, factor, out=product)
        _wait(device)
        best_s = min(best_s, time.perf_counter() - start_s)
    return 2 * width**3 / best_s / 1e12


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
