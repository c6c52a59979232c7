"""The only step from ids to tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True)
class Batch:
    """Some sentence pairs as padded tensors: one microbatch."""

    src: Int[Tensor, "b s"]
    """Source ids; every sentence ends with EOS, then PAD."""
    src_valid: Bool[Tensor, "b s"]
    """True = real source token (EOS is real)."""
    tgt_in: Int[Tensor, "b t"]
    """Decoder input: BOS and the target ids, then PAD."""
    tgt_out: Int[Tensor, "b t"]
    """Labels: the target ids and EOS, then PAD."""
    tgt_valid: Bool[Tensor, "b t"]
    """True = real target token (EOS is real): what the loss sums over."""
    n_src_tokens: int
    """Real source tokens, EOS included."""
    n_tgt_tokens: int
    """Real target tokens, EOS included."""

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device, copied only where it is elsewhere."""
        return Batch(
            *(x.to(device, non_blocking=True) for x in (self.src, self.src_valid, self.tgt_in, self.tgt_out, self.tgt_valid)),
            n_src_tokens=self.n_src_tokens,
            n_tgt_tokens=self.n_tgt_tokens,
        )
