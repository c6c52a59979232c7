"""What the device is told before training, and where randomness comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

__all__ = ["is_out_of_memory", "seed_step", "tiny_numbers_are_zero"]


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


def seed_step(seed: int, step: int) -> None:
    """Fix the randomness of one step (dropout) from the run's seed and the number of the step alone.

    A run that resumes at a step so draws what the uninterrupted run draws, and no checkpoint has to hold the state of a
    random generator. Step 0 is the making of the initial weights.

    Args:
        seed: ``train.seed``.
        step: The update, from 1; or 0.
    """
    # SeedSequence mixes: neighbouring steps, or seed 1 at step 2 and seed 2 at step 1, have nothing in common.
    mixed = np.random.SeedSequence([seed % 2**64, step]).generate_state(1, np.uint64)
    torch.manual_seed(int(mixed[0]))


def is_out_of_memory(error: RuntimeError) -> bool:
    """Say whether an error of torch means that the device's memory is full. The CPU has no error class for it.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."))
    True
    """
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
