"""The memory dial: how many tokens go through the model at once, found before the first step and halved when memory runs out.

The cut of a step into microbatches changes no update (up to the rounding of sums): the loss is a sum over pairs, and
dropout is drawn by the place of a pair in the step. So a step that does not fit is cut finer and computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import final

import torch

from transduce.base.errors import TrainingError
from transduce.base.log import logger
from transduce.data.batch import Batch
from transduce.model.noise import NoiseKey
from transduce.training.device import is_out_of_memory
from transduce.training.gradients import GradientEngine
from transduce.training.loss import LossSum

__all__ = ["MemoryDial", "cut_finer"]


@final
class MemoryDial:
    """A gradient engine that cuts a step finer when the device's memory is full.

    It is a :class:`~transduce.training.gradients.GradientEngine` around another one. Each device turns its own dial:
    gradients are sums, so devices need not cut alike. Whoever cuts the next steps looks at ``device_tokens``: a step that was cut
    with an older number is cut anew only where it does not fit.

    Args:
        engine: Computes the gradients.
        device_tokens: Tokens of a microbatch at most, padding included, on its wider side.
        device: Where the engine computes.
        on_halved: Is told the new number when the dial was turned.
    """

    def __init__(
        self,
        engine: GradientEngine,
        *,
        device_tokens: int,
        device: torch.device,
        on_halved: Callable[[int], None],
    ) -> None:
        self.name = engine.name
        self.device_tokens = device_tokens
        self._engine, self._device, self._on_halved = engine, device, on_halved

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Do what :class:`~transduce.training.gradients.GradientEngine` says, in as many parts as memory asks for.

        Raises:
            TrainingError: Not even one pair fits.
        """
        while True:
            try:
                return self._engine.gradients(microbatches, n_tgt_tokens=n_tgt_tokens, key=key)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
            # Outside of the handler: the error holds every tensor of the computation that failed.
            self._halve(max((len(batch.src) for batch in microbatches), default=1), _widest(microbatches))
            microbatches = [part for batch in microbatches for part in cut_finer(batch, self.device_tokens)]

    def _halve(self, n_pairs: int, n_tokens: int) -> None:
        if n_pairs == 1 and n_tokens >= self.device_tokens:
            raise TrainingError(
                f"a single pair of {n_tokens} tokens does not fit the memory of {self._device}; lower "
                "train.max_pair_tokens, choose a smaller model, and resume: the run goes on from its last checkpoint"
            )
        before = self.device_tokens
        # A microbatch may be smaller than the dial allows: then half of what failed is what must fit.
        self.device_tokens = max(1, min(before, n_tokens) // 2)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        logger.warning(
            "the memory of %s is full: the step is computed again in smaller parts, with train.device_tokens = %d in place "
            "of %d from now on; the updates stay the same",
            self._device,
            self.device_tokens,
            before,
        )
        self._on_halved(self.device_tokens)


def cut_finer(batch: Batch, device_tokens: int) -> list[Batch]:
    """Cut a microbatch into as few equal ones of at most ``device_tokens`` as it takes, in its order, with no needless padding.

    Args:
        batch: The microbatch, on the CPU.
        device_tokens: Tokens at most, padding included, on the wider side; a longer pair is a part of its own.
    """
    width = max(batch.src.shape[1], batch.tgt_in.shape[1])
    n_rows = max(1, device_tokens // width)
    if len(batch.src) <= n_rows:
        return [batch]
    n_parts = -(-len(batch.src) // n_rows)
    bounds = [len(batch.src) * part // n_parts for part in range(n_parts + 1)]
    return [_take_rows(batch, slice(start, end)) for start, end in pairwise(bounds)]


def _take_rows(batch: Batch, rows: slice) -> Batch:
    n_src, n_tgt = (int(valid[rows].sum(dim=1).max()) for valid in (batch.src_valid, batch.tgt_valid))
    return Batch(
        src=batch.src[rows, :n_src],
        src_valid=batch.src_valid[rows, :n_src],
        tgt_in=batch.tgt_in[rows, :n_tgt],
        tgt_out=batch.tgt_out[rows, :n_tgt],
        tgt_valid=batch.tgt_valid[rows, :n_tgt],
        numbers=batch.numbers[rows],
        n_src_tokens=int(batch.src_valid[rows].sum()),
        n_tgt_tokens=int(batch.tgt_valid[rows].sum()),
    )


def _widest(microbatches: Sequence[Batch]) -> int:
    """Return the tokens of the largest microbatch, padding included, on its wider side."""
    return max((len(batch.src) * max(batch.src.shape[1], batch.tgt_in.shape[1]) for batch in microbatches), default=1)
