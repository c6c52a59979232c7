"""How well a model predicts a dev set: never with smoothing, whatever it is trained with."""

from __future__ import annotations

from typing import NamedTuple

import torch

from transduce.data.batch import make_batch
from transduce.data.batching import cut_microbatches, deal, plan_epoch
from transduce.data.store import TokenStore
from transduce.model.transformer import Transformer
from transduce.training.shard import empty_batch, is_sharded, let_go
from transduce.training.torch_gradients import batch_loss
from transduce.training.world import World

__all__ = ["DevLoss", "dev_loss"]


class DevLoss(NamedTuple):
    """Sums over all pairs of a dev set. ``metrics.perplexity(*loss)`` makes a perplexity of them."""

    nll_nats: float
    """Minus the sum of the log-probabilities of the reference tokens, in nats."""
    n_tokens: int
    """Reference tokens, EOS included."""


@torch.no_grad()
def dev_loss(
    model: Transformer, dev: TokenStore, *, device_tokens: int, device: torch.device, world: World | None = None
) -> DevLoss:
    """Sum minus the log-probabilities of a rank's share of a dev set under a model.

    Args:
        model: The model on ``device``, in evaluation mode.
        dev: The pairs; every one of them counts, however long.
        device_tokens: Tokens of a batch, padding included. Does not change the result.
        device: Where to compute.
        world: The ranks, among which the set is dealt out. Not given: this process is alone and has it all.

    Raises:
        DataError: The dev set is empty.
    """
    longest = int(max(dev.src_lengths.max(initial=0), dev.tgt_lengths.max(initial=0)))
    plans = plan_epoch(
        dev,
        batch_tokens=max(1, int(dev.tgt_lengths.sum()) + len(dev)),  # one plan: all pairs, sorted by length
        pool_pairs=max(1, len(dev)),
        max_pair_tokens=longest,
        seed=0,
        epoch=0,
    )
    [plan], world = plans, world or World(device)
    cuts = [cut_microbatches(dev, deal(plan, rank, world.size), device_tokens) for rank in range(world.size)]
    batches = [make_batch(dev, share.pairs) for share in cuts[world.rank]]
    if is_sharded(model):
        batches += [empty_batch()] * (max(len(cut) for cut in cuts) - len(batches))
    losses = [batch_loss(model, batch, label_smoothing=0.0, device=device) for batch in batches]
    let_go(model)
    nll_nats = torch.stack([torch.zeros((), device=device), *(loss.nll_nats for loss in losses)])
    total = nll_nats.cpu().double().sum()  # sync: once an evaluation
    return DevLoss(float(total), sum(loss.n_tokens for loss in losses))
