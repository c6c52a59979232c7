"""The residual connection around a sublayer, and where its layer normalization stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.noise import Dropout

__all__ = ["NormOrder", "residual"]

NormOrder = Literal["post", "pre"]
"""``post``: LayerNorm(x + Sublayer(x)), the paper. ``pre``: x + Sublayer(LayerNorm(x)), with one more norm after the stack."""


def residual(
    x: Float[Tensor, "b t d_model"],
    sublayer: Callable[[Tensor], Tensor],
    layer_norm: nn.LayerNorm,
    dropout: Dropout,
    order: NormOrder,
) -> Float[Tensor, "b t d_model"]:
    """Add what a sublayer says to what it was told.

    Args:
        x: The stream through the stack.
        sublayer: Attention or feed-forward network, a function of the stream.
        layer_norm: The normalization of this sublayer.
        dropout: Applied to the sublayer's output before it is added. Paper: section 5.4.
        order: ``post`` normalizes the sum, ``pre`` what the sublayer is told.

    Paper: section 3.1.
    """
    y: Tensor
    match order:
        case "post":
            y = layer_norm(x + dropout(sublayer(x)))
        case "pre":
            y = x + dropout(sublayer(layer_norm(x)))
    return y
