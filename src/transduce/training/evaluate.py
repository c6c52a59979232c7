"""How well a model predicts a dev set: never with smoothing, whatever it is trained with."""

from __future__ import annotations

from typing import NamedTuple

import torch

from transduce.data.batch import make_batch
from transduce.data.batching import plan_epoch
from transduce.data.store import TokenStore
from transduce.model.transformer import Transformer
from transduce.training.step import batch_loss

__all__ = ["DevLoss", "dev_loss"]


class DevLoss(NamedTuple):
    """Sums over all pairs of a dev set. ``metrics.perplexity(*loss)`` makes a perplexity of them."""

    nll_nats: float
    """Minus the sum of the log-probabilities of the reference tokens, in nats."""
    n_tokens: int
    """Reference tokens, EOS included."""


@torch.no_grad()
def dev_loss(model: Transformer, dev: TokenStore, *, device_tokens: int, device: torch.device) -> DevLoss:
    """Sum minus the log-probabilities of a dev set under a model.

    Args:
        model: The model on ``device``, in evaluation mode.
        dev: The pairs; every one of them counts, however long.
        device_tokens: Tokens of a batch, padding included. Does not change the result.
        device: Where to compute.

    Raises:
        DataError: The dev set is empty.
    """
    longest = int(max(dev.src_lengths.max(initial=0), dev.tgt_lengths.max(initial=0)))
    plans = plan_epoch(
        dev,
        batch_tokens=max(1, int(dev.tgt_lengths.sum()) + len(dev)),  # one plan: all pairs, sorted by length
        device_tokens=device_tokens,
        pool_pairs=max(1, len(dev)),
        max_pair_tokens=longest,
        seed=0,
        epoch=0,
    )
    losses = [
        batch_loss(model, make_batch(dev, indexes), label_smoothing=0.0, device=device)
        for plan in plans
        for indexes in plan.microbatches
    ]
    nll_nats = torch.stack([loss.nll_nats for loss in losses]).cpu().double().sum()  # sync: once an evaluation
    return DevLoss(float(nll_nats), sum(loss.n_tokens for loss in losses))
