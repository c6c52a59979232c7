"""What training costs by the paper's formula: time, times devices, times what one device is taken to sustain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transduce.training.rate import paper_tflops

__all__ = ["SUSTAINED_SHARE", "DeviceRating", "Precision", "cost_per_point", "rate_device", "training_flops"]

Precision = Literal["float32", "tf32", "bfloat16"]

SUSTAINED_SHARE = 0.9
"""What the paper takes of the peak that a data sheet has: its 9.5 TFLOP/s for a P100 are 0.90 of NVIDIA's 10.6."""

_PEAKS: tuple[tuple[tuple[str, ...], dict[Precision, float]], ...] = (
    (("H100", "PCIe"), {"float32": 51.2, "tf32": 378.0, "bfloat16": 756.0}),
    (("H100", "NVL"), {"float32": 60.0, "tf32": 417.5, "bfloat16": 835.5}),
    (("H200", "NVL"), {"float32": 60.0, "tf32": 417.5, "bfloat16": 835.5}),
    (("H100",), {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4}),
    (("H200",), {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4}),
    (("A100",), {"float32": 19.5, "tf32": 156.0, "bfloat16": 312.0}),
    (("V100", "PCIE"), {"float32": 14.0}),
    (("V100",), {"float32": 15.7}),
    (("T4",), {"float32": 8.1}),
    (("L4",), {"float32": 30.3, "tf32": 60.0, "bfloat16": 121.0}),
)
"""Peaks of dense matrix products in TFLOP/s, from NVIDIA's data sheets (SXM boards where no other is named; sparsity not
counted), by words of the device's name. The more particular name comes first."""


@dataclass(frozen=True)
class DeviceRating:
    """What one device is taken to sustain."""

    tflops: float
    """10^12 floating-point operations a second."""
    source: str
    """Where the number is from, in words."""


def rate_device(name: str, precision: Precision) -> DeviceRating | None:
    """Return what a GPU is taken to sustain, by its name: the paper's number where it has one.

    Args:
        name: As the driver has it, such as ``NVIDIA A100-SXM4-80GB``.
        precision: Of the matrix products. A card that has no units for it is rated with float32.

    Returns:
        The rating; None for a device that is not known, such as a CPU.

    Paper: section 6.1, footnote 5.

    >>> rate_device("Tesla P100-SXM2-16GB", "float32").tflops
    9.5
    >>> rate_device("NVIDIA A100-SXM4-80GB", "bfloat16")
    DeviceRating(tflops=280.8, source='0.9 of the 312 of its data sheet (dense bfloat16)')
    """
    words = name.replace("-", " ").split()
    printed = paper_tflops(name)
    if printed is not None:
        return DeviceRating(printed, "the paper's footnote 5")
    for needed, peaks in _PEAKS:
        if all(word in words for word in needed):
            kind: Precision = precision if precision in peaks else "float32"
            source = f"{SUSTAINED_SHARE} of the {peaks[kind]:g} of its data sheet (dense {kind})"
            return DeviceRating(round(SUSTAINED_SHARE * peaks[kind], 2), source)
    return None


def training_flops(seconds: float, n_devices: int, tflops: float) -> float:
    """Return the operations of a training run as the paper estimates them.

    Args:
        seconds: Time trained.
        n_devices: How many devices worked.
        tflops: What one of them sustains, in 10^12 operations a second.

    Paper: section 6.1.

    >>> f"{training_flops(12 * 3600, 8, 9.5):.1e}"
    '3.3e+18'
    """
    return seconds * n_devices * tflops * 1e12


def cost_per_point(flops: float, bleu: float) -> float | None:
    """Return the operations for each point of BLEU; None where there is no point.

    >>> f"{cost_per_point(3.3e18, 27.3):.2g}"
    '1.2e+17'
    """
    return flops / bleu if bleu > 0 else None
