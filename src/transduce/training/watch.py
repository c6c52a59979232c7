"""Which updates are refused: those whose loss or gradient is not finite, or whose gradient is far above the usual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["WATCHED_STEPS", "GradientWatch"]

WATCHED_STEPS = 64
"""The median is taken over the gradients of so many last updates that were made; before there are as many, no norm is too large."""


@final
class GradientWatch:
    """Decides on each update, on the device and without waiting for it.

    A norm is compared with the median of the last ones, which neither a few wild steps nor the slow fall of the norm in the
    course of training can move far. Norms of refused updates are left out.

    Args:
        device: Where the gradients are.
        max_factor: Refuse a gradient whose norm is more than so many times the median. None: only what is not finite.
        state: What :meth:`state` returned before an interruption.

    >>> watch = GradientWatch(torch.device("cpu"), max_factor=10.0, state=[1.0] * WATCHED_STEPS)
    >>> [float(watch.refuse(torch.tensor(1.0), torch.tensor(norm))) for norm in (9.0, 11.0, math.nan)]
    [0.0, 1.0, 1.0]
    """

    def __init__(self, device: torch.device, *, max_factor: float | None, state: Sequence[float] = ()) -> None:
        self._max_factor = max_factor
        missing = (math.nan,) * (WATCHED_STEPS - len(state))
        self._norms = torch.tensor((*missing, *state), dtype=torch.float32, device=device)  # the oldest first

    def refuse(self, nats: Float[Tensor, ""], grad_norm: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """Return 1.0 when an update must not be made, else 0.0.

        Args:
            nats: The loss of the step.
            grad_norm: The norm of its gradient, before any clipping.
        """
        bad = ~torch.isfinite(grad_norm + nats)
        if self._max_factor is not None:
            norm = grad_norm.to(self._norms.dtype)
            # As long as a place is not filled, the median is nan, and nothing is above it.
            bad = bad | (norm > self._max_factor * self._norms.median())
            self._norms = torch.where(bad, self._norms, torch.cat([self._norms[1:], norm[None]]))
        return bad.to(grad_norm.dtype)

    def state(self) -> tuple[float, ...]:
        """Return the norms that are watched as numbers, for a checkpoint."""
        return tuple(norm for norm in self._norms.tolist() if not math.isnan(norm))  # sync: once a checkpoint
