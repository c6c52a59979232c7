"""What the device is told before training, and how it says that it is full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

__all__ = ["is_out_of_memory", "tiny_numbers_are_zero"]


@contextmanager
def tiny_numbers_are_zero() -> Iterator[None]:
    """Let numbers below 1e-38 count as zero, which CPUs add far faster; afterwards it is as it was before.

    It matters late in a run, when Adam's moments of rare words have decayed to almost nothing.
    """
    before = bool(np.float32(1e-39) * np.float32(1) == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Say whether an error of torch means that the device's memory is full. The CPU has no error class for it.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."))
    True
    """
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
