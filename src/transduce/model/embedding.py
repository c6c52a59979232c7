"""Tokens as vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

__all__ = ["ScaledEmbedding"]


class ScaledEmbedding(nn.Module):
    """A learned vector for each token, multiplied by sqrt(d_model).

    With tied embeddings ``weight`` is also the matrix before the softmax, where it is not multiplied.

    Args:
        vocab_size: Number of tokens, control ids included.
        d_model: Width of a vector.

    Paper: section 3.4.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t d_model"]:
        """Look up the vectors of ids."""
        return F.embedding(ids, self.weight) * self.scale

    if TYPE_CHECKING:
        __call__ = forward
