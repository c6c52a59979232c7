"""Recurrent layers: each position needs the state of the one before. Paper: section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["Lstm", "Recurrent"]


@final
class Recurrent(nn.Module):
    """The plainest recurrence: h_t = tanh(x_t + h_{t-1} W), from a learned state h_0.

    Its matrix products are n * d * d multiply-adds exactly, the entry of Table 1: the input is added as it is, where the
    usual layer has a second matrix for it (another n * d * d, which need not wait for anything). The state it begins with is
    learned, so that the first step is a product like the others.

    Args:
        d_model: Width of inputs, state and outputs.

    Paper: section 4, Table 1.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model, d_model))
        self.start = nn.Parameter(torch.zeros(d_model))
        nn.init.orthogonal_(self.weight)  # neither shrinks nor stretches the state, however long the sentence

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Return the state at each position."""
        state = self.first(x.shape[0])
        states = []
        for x_t in x.unbind(1):
            state = self.step(x_t, state)
            states.append(state)
        return torch.stack(states, dim=1)

    if TYPE_CHECKING:
        __call__ = forward

    def first(self, n_sentences: int) -> Float[Tensor, "b d_model"]:
        """Return the state before the first position."""
        return self.start.expand(n_sentences, -1)

    def step(self, x_t: Float[Tensor, "b d_model"], state: Float[Tensor, "b d_model"]) -> Float[Tensor, "b d_model"]:
        """Return the state at a position.

        Args:
            x_t: The input there.
            state: The state at the position before.
        """
        return torch.addmm(x_t, state, self.weight).tanh()


@final
class Lstm(nn.Module):
    """The recurrent layer of the paper's time, as torch has it: 8 matrices of d x d, four of them for the input.

    Args:
        d_model: Width of inputs, state and outputs.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(d_model, d_model, batch_first=True)

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Return the state at each position."""
        states: Tensor = self.lstm(x)[0]
        return states

    if TYPE_CHECKING:
        __call__ = forward
