"""What is told to the device, and what it says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from transduce.training.device import is_out_of_memory, tiny_numbers_are_zero


def test_a_full_memory_is_told_from_other_faults() -> None:
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


def tiny_is_zero() -> bool:
    return bool(np.float32(1e-39) * np.float32(1) == 0)


def test_the_floating_point_state_is_left_as_it_was() -> None:
    assert not tiny_is_zero()
    with pytest.raises(RuntimeError, match="stopped"), tiny_numbers_are_zero():
        assert tiny_is_zero()
        raise RuntimeError("stopped")
    assert not tiny_is_zero()
