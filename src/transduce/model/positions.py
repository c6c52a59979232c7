"""Positions: what tells the model the order of its tokens, since attention alone does not see it. Paper: section 3.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.base.errors import SettingsError

__all__ = ["LearnedPositions", "Positions", "SinusoidalPositions", "sinusoidal_table"]

_FIRST_TABLE = 256
"""Positions that the first sinusoidal table holds; longer sentences double it."""


def sinusoidal_table(n_positions: int, d_model: int) -> Float[Tensor, "n_positions d_model"]:
    """Compute the positional encodings of the first positions, in float64.

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)) and PE(pos, 2i + 1) is the cosine of the same angle, so that
    PE(pos + k) is a rotation of PE(pos), the same for every pos.

    Args:
        n_positions: Number of rows; row 0 is the position of the first token.
        d_model: Width, an even number.

    Paper: section 3.5.

    >>> [round(x, 3) for x in sinusoidal_table(2, 512)[1, :2].tolist()]
    [0.841, 0.54]
    """
    positions = torch.arange(n_positions, dtype=torch.float64).unsqueeze(1)
    divisors = 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = positions / divisors  # [n_positions, d_model / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class SinusoidalPositions(nn.Module):
    """Adds sines and cosines of the position. No parameters, and no longest sentence.

    Args:
        d_model: Width of the vectors, an even number.
    """

    max_tokens: int | None = None

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        # Not a buffer: it is no part of the weights, and a change of precision must not round it twice.
        self._table = torch.empty(0, d_model, device="cpu")

    def forward(self, x: Float[Tensor, "b t d_model"], start: int) -> Float[Tensor, "b t d_model"]:
        """Add the positions ``start``, ``start + 1``, ... to the vectors.

        Args:
            x: Embedded tokens.
            start: Position of the first of them; 0 for whole sentences, more for the next token of a cached step.
        """
        end = start + x.shape[1]
        return x + self._rows(end, x)[start:end]

    if TYPE_CHECKING:
        __call__ = forward

    def table(self, n_positions: int) -> Float[Tensor, "rows d_model"]:
        """Return what is added to at least the first ``n_positions`` tokens, in float32 on the CPU."""
        return self._rows(n_positions, torch.empty(0, device="cpu"))

    def _rows(self, n_positions: int, like: Tensor) -> Tensor:
        """Return a table of at least so many rows, of the type and on the device of another tensor."""
        table = self._table
        if len(table) < n_positions or table.dtype != like.dtype or table.device != like.device:
            size = max(_FIRST_TABLE, len(table))
            while size < n_positions:
                size *= 2
            table = sinusoidal_table(size, self.d_model).to(device=like.device, dtype=like.dtype)
            self._table = table
        return table


class LearnedPositions(nn.Module):
    """Adds a learned vector for each position. Encoder and decoder have one each; the paper does not say.

    Args:
        n_positions: Longest sentence, in tokens, EOS included.
        d_model: Width of the vectors.

    Paper: section 3.5 and Table 3, row E.
    """

    def __init__(self, n_positions: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_positions, d_model))

    @property
    def max_tokens(self) -> int | None:
        """Longest sentence that can be placed, in tokens, EOS included."""
        return len(self.weight)

    def forward(self, x: Float[Tensor, "b t d_model"], start: int) -> Float[Tensor, "b t d_model"]:
        """Add the vectors of the positions ``start``, ``start + 1``, ... to the vectors.

        Args:
            x: Embedded tokens.
            start: Position of the first of them; 0 for whole sentences, more for the next token of a cached step.

        Raises:
            SettingsError: There are fewer learned positions than tokens.
        """
        end = start + x.shape[1]
        return x + self.table(end)[start:end]

    if TYPE_CHECKING:
        __call__ = forward

    def table(self, n_positions: int) -> Float[Tensor, "rows d_model"]:
        """Return what is added to at least the first ``n_positions`` tokens.

        Raises:
            SettingsError: There are fewer learned positions than that.
        """
        if n_positions > len(self.weight):
            raise SettingsError(
                f"model.n_positions: a sentence of {n_positions} tokens has no place in a model with {len(self.weight)} "
                f"learned positions; cut the sentence, or train with a larger n_positions or with positions = 'sinusoidal'"
            )
        return self.weight


Positions = SinusoidalPositions | LearnedPositions
"""Either of the two. ``max_tokens`` is the longest sentence that can be placed; None: any."""
