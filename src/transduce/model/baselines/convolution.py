"""Convolution over positions, plain or dilated, every channel with every other. Paper: section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transduce.base.errors import SettingsError
from transduce.model.baselines.direction import Direction, check_odd

__all__ = ["Convolution"]


@final
class Convolution(nn.Module):
    """A dense convolution of width k: each output is a map of k inputs, which lie ``dilation`` positions apart.

    Args:
        d_model: Channels of inputs and outputs.
        kernel: k of Table 1, the inputs that one output reads. ``causal``: the last is its own position. ``both``: the
            middle one is, so k is odd.
        dilation: 1: neighbours. k ** i in layer i of a stack: each layer reads k times as far as the one below.
        direction: ``causal`` or ``both``.

    Raises:
        SettingsError: The kernel is below 1, or even in both directions, or the dilation is below 1.

    Paper: section 4, Table 1.
    """

    def __init__(self, d_model: int, kernel: int, dilation: int = 1, direction: Direction = "both") -> None:
        super().__init__()
        check_odd("the kernel of a convolution", kernel, direction)
        if dilation < 1:
            raise SettingsError(f"the dilation of a convolution is {dilation}; 1 means neighbours, and none is below")
        self.n_after = 0 if direction == "causal" else (kernel - 1) // 2
        self.n_before = kernel - 1 - self.n_after
        self.dilation = dilation
        self.conv = nn.Conv1d(d_model, d_model, kernel)

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Return one output for each position; beyond the ends of the sentence there are zeros."""
        # Farther apart than the sentence is long, all inputs but one are zeros, however far: no need to make more of them.
        apart = min(self.dilation, x.shape[1])
        channels = F.pad(x.transpose(1, 2), (self.n_before * apart, self.n_after * apart))
        outputs = F.conv1d(channels, self.conv.weight, self.conv.bias, dilation=apart)
        return outputs.transpose(1, 2)

    if TYPE_CHECKING:
        __call__ = forward
