"""The feed-forward network: the same two linear maps at every position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.noise import Dropout

__all__ = ["FeedForward"]


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2.

    Args:
        d_model: Width of inputs and outputs.
        d_ff: Width between the two maps.
        p_dropout: Dropout on the inner activations. Not in the paper, so 0 there.

    Paper: section 3.3, equation 2.
    """

    def __init__(self, d_model: int, d_ff: int, p_dropout: float) -> None:
        super().__init__()
        self.in_proj = nn.Linear(d_model, d_ff)
        self.out_proj = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(p_dropout)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        """Transform each position by itself."""
        y: Tensor = self.out_proj(self.dropout(self.in_proj(x).relu()))
        return y

    if TYPE_CHECKING:
        __call__ = forward
