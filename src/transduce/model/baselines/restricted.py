"""Self-attention restricted to a neighbourhood, computed by blocks, so that its work grows with n and not with n * n."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transduce.model.attention import attention
from transduce.model.baselines.direction import Direction, check_odd

__all__ = ["RestrictedSelfAttention", "neighbours"]


@final
class RestrictedSelfAttention(nn.Module):
    """Attention of one head in which each position reads r positions only: no parameters, as in :class:`SelfAttention`.

    A block of r neighbouring queries may see 2r - 1 keys together, so these are what it is multiplied with: the work is
    less than twice that of the pairs that are wanted, in matrix products of a useful size. (One query at a time would do no
    more work than that of the wanted pairs, in products of a vector and a matrix, which are several times slower.)

    Args:
        neighbourhood: r of Table 1: positions that one position reads, itself included. ``causal``: itself and the r - 1
            before it. ``both``: itself and (r - 1) / 2 on either side, so r is odd.
        direction: ``causal`` or ``both``.

    Raises:
        SettingsError: The neighbourhood is below 1, or even in both directions.

    Paper: section 4, Table 1.
    """

    def __init__(self, neighbourhood: int, direction: Direction = "both") -> None:
        super().__init__()
        check_odd("the neighbourhood of restricted self-attention", neighbourhood, direction)
        self.neighbourhood = neighbourhood
        self.direction = direction

    def forward(self, x: Float[Tensor, "b n d_model"]) -> Float[Tensor, "b n d_model"]:
        """Let each position read from its neighbourhood; at the ends of the sentence from what there is of it."""
        (b, n, d_model), r = x.shape, self.neighbourhood
        n_blocks = -(-n // r)
        n_after = 0 if self.direction == "causal" else (r - 1) // 2
        n_filled = n_blocks * r - n
        queries = F.pad(x, (0, 0, 0, n_filled)).view(b, n_blocks, r, d_model)
        keys = F.pad(x, (0, 0, r - 1 - n_after, n_after + n_filled))
        keys = keys.unfold(1, 2 * r - 1, r).transpose(-2, -1)  # [b, blocks, 2r - 1, d_model]
        allowed = _allowed_in_blocks(n, r, n_after, x.device)
        return attention(queries, keys, keys, allowed).flatten(1, 2)[:, :n]

    if TYPE_CHECKING:
        __call__ = forward


def neighbours(n: int, neighbourhood: int, direction: Direction) -> Bool[Tensor, "n n"]:
    """Return the neighbourhood as a matrix: True = the position of the row may read that of the column.

    With it, masked attention over all pairs is the slow oracle of :class:`RestrictedSelfAttention`.

    >>> neighbours(4, 3, "both").int()
    tensor([[1, 1, 0, 0],
            [1, 1, 1, 0],
            [0, 1, 1, 1],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    check_odd("the neighbourhood", neighbourhood, direction)
    n_after = 0 if direction == "causal" else (neighbourhood - 1) // 2
    everything = torch.ones(n, n, dtype=torch.bool)
    return everything.tril(n_after).triu(n_after - neighbourhood + 1)


def _allowed_in_blocks(n: int, r: int, n_after: int, device: torch.device) -> Bool[Tensor, "1 blocks r keys"]:
    """Return where True = a query of a block may read one of the block's keys: in reach, and inside the sentence."""
    offsets = torch.arange(2 * r - 1, device=device) - torch.arange(r, device=device).unsqueeze(1)  # [r, 2r - 1]
    in_reach = (offsets >= 0) & (offsets < r)
    starts = torch.arange(0, n, r, device=device).unsqueeze(1)  # [blocks, 1]
    keys = starts + torch.arange(2 * r - 1, device=device) - (r - 1 - n_after)  # positions; outside at both ends
    queries = starts + torch.arange(r, device=device)
    inside = ((keys >= 0) & (keys < n)).unsqueeze(1)
    # Queries that only fill the last block may read whatever is in reach: none may be left without a key, since a
    # softmax over nothing is NaN, and its gradient too, though nobody reads the answer.
    filling = (queries >= n).unsqueeze(2)
    return (in_reach & (inside | filling)).unsqueeze(0)
