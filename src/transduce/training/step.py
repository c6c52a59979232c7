"""One optimizer update: forward and backward over its microbatches, and the sums that tell how it went.

Everything stays on the device. Whether a gradient is finite is found there and acted on there; the host learns of it
when it reads the tally, once in ``log_every`` steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.base.errors import TrainingError
from transduce.data.batch import Batch
from transduce.model.noise import NoiseKey
from transduce.training.gradients import GradientEngine
from transduce.training.optimizer import update
from transduce.training.shard import whole
from transduce.training.watch import GradientWatch

__all__ = ["MAX_REFUSED_IN_A_ROW", "StepSums", "Tally", "TallyReading", "train_step"]

MAX_REFUSED_IN_A_ROW = 10
"""So many updates in a row that had to be refused, and the run is given up: it will not recover."""


class StepSums(NamedTuple):
    """How one step went; all on the device."""

    nats: Float[Tensor, ""]
    """Smoothed loss, summed over the step's real target tokens."""
    nll_nats: Float[Tensor, ""]
    """Minus the log-probabilities of the correct tokens, summed."""
    grad_norm: Float[Tensor, ""]
    """Norm of the gradient of the mean loss, before any clipping."""
    refused: Float[Tensor, ""]
    """1.0: loss or gradient was not finite or far too large, and weights and moments stay as they were; else 0.0."""


def train_step(
    engine: GradientEngine,
    optimizer: torch.optim.Optimizer,
    microbatches: Sequence[Batch],
    *,
    n_tgt_tokens: int,
    key: NoiseKey,
    lr: float,
    max_grad_norm: float | None,
    watch: GradientWatch,
) -> StepSums:
    """Make one update from the gradient of the mean loss over all real target tokens of the step.

    Each microbatch's loss is a sum and is divided by the step's token count, not its own: many small microbatches
    give the update of one large batch, whatever their lengths.

    Args:
        engine: Computes the gradients.
        optimizer: What ``build_optimizer`` returned.
        microbatches: The step's pairs, on the CPU.
        n_tgt_tokens: Real target tokens in all of them, EOS included.
        key: Of the step's dropout.
        lr: Learning rate.
        max_grad_norm: Scale the gradient down to this norm; None: never.
        watch: Says which updates are refused.
    """
    loss = engine.gradients(microbatches, n_tgt_tokens=n_tgt_tokens, key=key)
    parameters = (parameter for group in optimizer.param_groups for parameter in group["params"])
    grad_norm = whole(torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None]))
    refused = watch.refuse(loss.nats, grad_norm)
    update(optimizer, lr=lr, refuse=refused, max_grad_norm=max_grad_norm, grad_norm=grad_norm)
    return StepSums(loss.nats, loss.nll_nats, grad_norm, refused)


@dataclass(frozen=True)
class TallyReading:
    """A tally's numbers on the host. Means are over the tokens of updates that were made, and nan when there are none."""

    loss: float
    nll: float
    grad_norm: float
    n_refused: int


@final
class Tally:
    """Sums over steps, kept on the device.

    Args:
        device: Where the steps are computed.
        state: What :meth:`state` returned before an interruption, so that the next means come out as without it.
    """

    _N_WINDOW = 3  # the first sums begin anew with each window: nats, nll_nats, tokens
    _N_SUMS = 6  # then, for the whole run: updates refused, those in a row, the longest row

    def __init__(self, device: torch.device, state: Sequence[float] = ()) -> None:
        dtype = torch.float32 if device.type == "mps" else torch.float64  # MPS has no float64
        self._sums = torch.tensor(tuple(state) or (0.0,) * self._N_SUMS, dtype=dtype, device=device)
        self._grad_norm = torch.zeros((), device=device)

    def add(self, sums: StepSums, n_tgt_tokens: int) -> None:
        """Count one step. A refused update counts nothing but itself, so that one nan does not hide all other losses."""
        refused = sums.refused.to(self._sums.dtype)
        tokens = torch.full_like(refused, n_tgt_tokens)
        window = torch.stack([sums.nats.to(refused.dtype), sums.nll_nats.to(refused.dtype), tokens])
        self._sums[: self._N_WINDOW] += torch.where(refused.bool(), 0.0, window)
        n_refused, in_a_row, longest = self._sums[self._N_WINDOW :]
        n_refused += refused
        in_a_row.add_(1.0).mul_(refused)
        torch.maximum(longest, in_a_row, out=longest)
        self._grad_norm = sums.grad_norm

    def new_window(self) -> None:
        """Begin the means from zero. Counts of refused updates go on."""
        self._sums[: self._N_WINDOW] = 0.0

    def state(self) -> tuple[float, ...]:
        """Return the sums as numbers, for a checkpoint."""
        return tuple(self._sums.tolist())  # sync: once a checkpoint

    def read(self) -> TallyReading:
        """Return the means of the window.

        Raises:
            TrainingError: Too many updates in a row were refused.
        """
        *sums, grad_norm = [*self._sums.tolist(), float(self._grad_norm)]  # sync: once in log_every steps
        nats, nll_nats, n_tokens, n_refused, _, longest = sums
        if longest >= MAX_REFUSED_IN_A_ROW:
            raise TrainingError(
                f"{MAX_REFUSED_IN_A_ROW} updates in a row had a loss or gradient that is not finite, or a gradient more than "
                "train.max_grad_factor times the usual, and none of them was made; "
                "lower the learning rate (train.lr_factor or train.peak_lr), raise train.warmup_steps or set "
                "train.max_grad_norm, and go on from the last checkpoint"
            )
        loss, nll = (nats / n_tokens, nll_nats / n_tokens) if n_tokens else (math.nan, math.nan)
        return TallyReading(loss=loss, nll=nll, grad_norm=grad_norm, n_refused=round(n_refused))
