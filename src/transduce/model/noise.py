"""Dropout that depends on nothing but the step, the pair, the position and the place in the model.

What is dropped is a pure function: counter-based random numbers (Philox4x32 with 7 rounds; Salmon et al., 2011) of the
step's key and of the counters below. So a step drops the same numbers however its pairs are cut into microbatches, padded,
and dealt out to threads and devices, on every kind of device, and a resumed run needs no state of a generator.

Counters of one row (a position in a sentence, in a place of the model): the block, the position, the number of the pair in
the global batch of the step, and the place (with the head in the upper half, for attention weights). A row of more than 128
numbers takes 16 blocks for each 128. :meth:`Noise.keep` says which bits decide which number; the C++ kernels draw the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

__all__ = ["Dropout", "Noise", "NoiseKey", "drop_threshold", "noise_key", "number_dropouts", "philox"]

NoiseKey = tuple[int, int]
"""Two numbers of 32 bits."""

_ROUNDS = 7
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_LANES = 16
_GROUP = 128  # numbers that 16 blocks decide: each block has 4 words of two halves
_CHANCES = 1 << 16


def noise_key(seed: int, step: int) -> NoiseKey:
    """Return the key of all dropout of a step.

    Args:
        seed: ``train.seed``.
        step: The update, from 1.
    """
    # SeedSequence mixes: neighbouring steps, or seed 1 at step 2 and seed 2 at step 1, have nothing in common.
    first, second = np.random.SeedSequence([seed % 2**64, step]).generate_state(2, np.uint32)
    return int(first), int(second)


def drop_threshold(p_dropout: float) -> int:
    """Return how many of 65,536 equal chances drop a number: the resolution of every dropout probability.

    >>> drop_threshold(0.1) / 65536
    0.100006103515625
    """
    return min(_CHANCES - 1, round(p_dropout * _CHANCES))


def philox(
    counters: tuple[Tensor, Tensor, Tensor, Tensor], key: Int[Tensor, " words"], n_rounds: int = _ROUNDS
) -> list[Tensor]:
    """Return four random words of 32 bits for each counter.

    Args:
        counters: Four words of int64 that hold 32 bits each; their shapes broadcast.
        key: Two words, likewise. It is a tensor, so that compiled code need not be compiled anew for every step.
        n_rounds: Rounds; 7 pass every test of randomness that is known, 10 are the usual margin.

    >>> zero = torch.zeros((), dtype=torch.int64)
    >>> [f"{int(word):08x}" for word in philox((zero, zero, zero, zero), torch.zeros(2, dtype=torch.int64))]
    ['5f6fb709', '0d893f64', '4f121f81', '4f730a48']
    """
    c0, c1, c2, c3 = counters
    k0, k1 = key.unbind()
    for _ in range(n_rounds):
        # A product of two words fills 64 bits, whose sign means nothing: shift, then take the sign's copies away.
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = ((p1 >> 32) & _LOW) ^ c1 ^ k0, p1 & _LOW, ((p0 >> 32) & _LOW) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _KEY_STEPS[0]) & _LOW, (k1 + _KEY_STEPS[1]) & _LOW
    return [c0, c1, c2, c3]  # each depends on all four counters by now, and has their common shape


@dataclass(frozen=True)
class Noise:
    """What is dropped from one microbatch."""

    key: Int[Tensor, " words"]
    """Of the step: the two numbers of :func:`noise_key`, on the device of the model."""
    numbers: Int[Tensor, " b"]
    """The place of each sentence pair in the global batch, likewise."""

    @classmethod
    def of(cls, key: NoiseKey, numbers: Int[Tensor, " b"]) -> Noise:
        """Return the noise of a microbatch, on the device of ``numbers``."""
        return cls(torch.tensor(key, dtype=torch.int64).to(numbers.device, non_blocking=True), numbers)

    @contextmanager
    def active(self, model: nn.Module) -> Iterator[None]:
        """Let every :class:`Dropout` of a model drop by this noise inside the block."""
        dropouts = [module for module in model.modules() if isinstance(module, Dropout)]
        for dropout in dropouts:
            dropout.noise = self
        try:
            yield
        finally:
            for dropout in dropouts:
                dropout.noise = None

    def keep(self, site: int, n_positions: int, width: int, threshold: int) -> Bool[Tensor, "b t width"]:
        """Say which numbers are kept.

        Number j of a row, with g = j // 128, q = j % 128 // 16 and lane = j % 16, is decided by block 16 g + lane: by the low
        half (q even) or the high half (q odd) of its word q // 2. It is dropped where that half is below ``threshold``.

        Args:
            site: The place in the model, with the head in the upper 16 bits.
            n_positions: Rows of each sentence.
            width: Numbers of each row.
            threshold: From :func:`drop_threshold`.
        """
        device, n_groups = self.numbers.device, -(-width // _GROUP)
        words = philox(
            (
                torch.arange(n_groups * _LANES, device=device),
                torch.arange(n_positions, device=device)[:, None],
                self.numbers[:, None, None].long(),
                torch.tensor(site, device=device),
            ),
            self.key,
        )
        halves = torch.stack([half for word in words for half in (word & 0xFFFF, word >> 16)], dim=-1)
        b, t, _, _ = halves.shape
        by_group = halves.view(b, t, n_groups, _LANES, 8).transpose(-1, -2)  # [b, t, g, q, lane]
        return by_group.reshape(b, t, n_groups * _GROUP)[..., :width] >= threshold

    def drop(self, x: Float[Tensor, "b t d"], p_dropout: float, site: int) -> Float[Tensor, "b t d"]:
        """Drop from rows of positions: what is kept grows so that the expected value stays.

        Args:
            x: Rows, the first of which are at position 0.
            p_dropout: Probability that a number is dropped.
            site: The place in the model.
        """
        threshold = drop_threshold(p_dropout)
        kept = self.keep(site, x.shape[1], x.shape[2], threshold)
        return x * kept * (_CHANCES / (_CHANCES - threshold))

    def drop_weights(self, x: Float[Tensor, "b h tq tk"], p_dropout: float, site: int) -> Float[Tensor, "b h tq tk"]:
        """Drop from attention weights: a row is a query of a head.

        Args:
            x: Weights.
            p_dropout: Probability that a weight is dropped.
            site: The place in the model.
        """
        threshold = drop_threshold(p_dropout)
        heads = [self.keep(site | head << 16, x.shape[2], x.shape[3], threshold) for head in range(x.shape[1])]
        return x * torch.stack(heads, dim=1) * (_CHANCES / (_CHANCES - threshold))


class Dropout(nn.Module):
    """Dropout in one place of the model. Paper: section 5.4.

    In a training step it drops by the :class:`Noise` of the step. Used without one, as in a notebook, it draws from torch's
    own generator like ``nn.Dropout``.

    Args:
        p: Probability that a number is dropped.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.site = 0
        """The place in the model, given by :func:`number_dropouts`."""
        self.noise: Noise | None = None
        """What is dropped by, while :meth:`Noise.active` lasts."""

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        """Drop from rows of positions."""
        if self.noise is None or not self.training or self.p == 0.0:
            return F.dropout(x, self.p, self.training)
        return self.noise.drop(x, self.p, self.site)

    if TYPE_CHECKING:
        __call__ = forward

    def weights(self, x: Float[Tensor, "b h tq tk"]) -> Float[Tensor, "b h tq tk"]:
        """Drop from attention weights."""
        if self.noise is None or not self.training or self.p == 0.0:
            return F.dropout(x, self.p, self.training)
        return self.noise.drop_weights(x, self.p, self.site)


def number_dropouts(model: nn.Module) -> None:
    """Give every :class:`Dropout` of a model its place: its number in the order of the model's modules."""
    dropouts = (module for module in model.modules() if isinstance(module, Dropout))
    for site, dropout in enumerate(dropouts):
        dropout.site = site
