"""What the tests of the training kernels share: rows of packed sentences, and the oracle of what is dropped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from transduce.base.errors import NativeUnavailableError
from transduce.native.model import instruction_sets
from transduce.native.training import Noise, TrainingKernels

Array = npt.NDArray[np.float32]
KEY = (0x9ABCDEF0, 0x12345678)


def usable_kernels() -> list[str]:
    """Return the names of the instruction sets; without a library, one that will be skipped."""
    try:
        return [isa.name for isa in instruction_sets()]
    except NativeUnavailableError:
        return ["none"]


def kernels_of(isa: str) -> TrainingKernels:
    """Return the kernels by the name of their instruction set."""
    if isa == "none":
        pytest.skip("the native engine is not built: there is no C++ compiler")
    return TrainingKernels(next(known for known in instruction_sets() if known.name == isa))


def philox(
    counters: tuple[npt.NDArray[np.uint64], ...], key: tuple[int, int], rounds: int
) -> list[npt.NDArray[np.uint64]]:
    """Philox4x32 as in its paper, in Python's own way: products of 64 bits."""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = counters
    k0, k1 = key
    for _ in range(rounds):
        first, second = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1 = (second >> np.uint64(32)) ^ c1 ^ np.uint64(k0), second & low
        c2, c3 = (first >> np.uint64(32)) ^ c3 ^ np.uint64(k1), first & low
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return [c0, c1, c2, c3]


def factors(
    key: tuple[int, int], site: int, threshold: int, positions: object, pairs: object, width: int, heads: object = 0
) -> npt.NDArray[np.float64]:
    """What each element of rows is multiplied by, element by element as :class:`Noise` says it: ``[..., width]``.

    Positions, pairs and heads are numbers or arrays that broadcast.
    """
    t, p, h = (np.asarray(each, np.uint64)[..., None] for each in (positions, pairs, heads))
    j = np.arange(width, dtype=np.uint64)
    q, block = j % 128 // 16, 16 * (j // 128) + j % 16
    words = philox(tuple(np.broadcast_arrays(block, t, p, np.uint64(site) | h << np.uint64(16))), key, 7)
    word = np.choose((q // 2).astype(np.int64), words)
    bits = np.where(q % 2 == 0, word & np.uint64(0xFFFF), word >> np.uint64(16))
    return np.where(bits < threshold, 0.0, 65536 / (65536 - threshold))


class Packed:
    """Packed rows of sentences, with the noise on them."""

    def __init__(self, lengths: list[int], threshold: int = 0) -> None:
        self.lengths = lengths
        self.n = sum(lengths)
        self.threshold = threshold
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self.positions = np.concatenate([np.arange(length) for length in lengths]).astype(np.int32)
        self.numbers = np.repeat(7 * np.arange(len(lengths)) + 100_000, lengths).astype(np.int32)
        self.noise = Noise(KEY, 3, threshold, self.positions, self.numbers) if threshold else None

    def factors(self, d: int) -> Tensor:
        """What the elements of rows of width d are multiplied by."""
        if not self.threshold:
            return torch.ones(self.n, d, dtype=torch.float64)
        return torch.tensor(factors(KEY, 3, self.threshold, self.positions, self.numbers, d))


def numbers(seed: int, *shape: int, scale: float = 1.0) -> Array:
    """Return normal random numbers."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def exact(x: Array) -> Tensor:
    """Return a leaf of float64 for the oracle."""
    return torch.tensor(x, dtype=torch.float64, requires_grad=True)


def gradient(x: Tensor) -> npt.NDArray[np.float64]:
    """Return what autograd left."""
    assert x.grad is not None
    return np.asarray(x.grad.numpy())


def close(ours: Array, oracle: npt.NDArray[np.float64] | Tensor, tolerance: float = 2e-6) -> None:
    """Compare with float64: errors are shares of the largest number, since sums of many signs lose that much."""
    expected = oracle.detach().numpy() if isinstance(oracle, Tensor) else oracle
    np.testing.assert_allclose(
        ours, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max(initial=0)))
    )
