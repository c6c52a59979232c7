"""Self-attention as Table 1 counts it, and the whole sublayer with its projections. Paper: section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transduce.model.attention import MultiHeadAttention, attention
from transduce.model.baselines.direction import Direction

__all__ = ["ProjectedSelfAttention", "SelfAttention"]


@final
class SelfAttention(nn.Module):
    """Attention of one head whose queries, keys and values are the input itself: no parameters.

    This is what n * n * d of Table 1 stands for. It leaves out the projections, which are n * d * d, and counts the
    product of queries and keys but not the one of weights and values: a factor of 2, which O(...) leaves out.

    Args:
        direction: ``causal`` or ``both``.

    Paper: section 4, Table 1.
    """

    def __init__(self, direction: Direction = "both") -> None:
        super().__init__()
        self.direction = direction

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Let each position read from all that it may read."""
        head = x.unsqueeze(1)  # [b, 1, n, d_model]
        return attention(head, head, head, _allowed(x, self.direction)).squeeze(1)

    if TYPE_CHECKING:
        __call__ = forward


@final
class ProjectedSelfAttention(nn.Module):
    """The model's own sublayer: several heads, with the projections to queries, keys, values and output.

    Args:
        d_model: Width of inputs and outputs.
        n_heads: Number of heads; divides ``d_model``.
        direction: ``causal`` or ``both``.
    """

    def __init__(self, d_model: int, n_heads: int, direction: Direction = "both") -> None:
        super().__init__()
        self.direction = direction
        self.attention = MultiHeadAttention(d_model, n_heads, d_model // n_heads, d_model // n_heads, p_dropout=0.0)

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Let each position read from all that it may read."""
        return self.attention(x, x, _allowed(x, self.direction))

    if TYPE_CHECKING:
        __call__ = forward


def _allowed(x: Tensor, direction: Direction) -> Bool[Tensor, "1 1 n n"] | None:
    """Return where True = the position may read; None: everywhere."""
    if direction == "both":
        return None
    n = x.shape[1]
    return torch.ones(1, 1, n, n, dtype=torch.bool, device=x.device).tril()
