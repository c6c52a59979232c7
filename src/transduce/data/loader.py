"""The tensors of the next steps, made in the background while the model computes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from transduce.data.batch import Batch, make_batch
from transduce.data.batching import IntArray, Share, StepPlan, cut_microbatches, deal
from transduce.data.bpe_dropout import DroppedPairs
from transduce.data.parallel import map_in_order
from transduce.data.store import TokenStore

__all__ = ["Resegment", "StepBatches", "load_batches"]

Resegment = Callable[[IntArray], DroppedPairs]
"""Cuts some pairs of the store into pieces anew."""

_AHEAD = 3


@dataclass(frozen=True)
class StepBatches:
    """The tensors of one step, or of one device's share of it."""

    microbatches: tuple[Batch, ...]
    """What goes through the model, one after another, before the update. A device may have none."""
    n_tgt_tokens: int
    """Real target tokens of the whole step on all devices, EOS included: what the summed loss is divided by."""


def load_batches(
    store: TokenStore,
    plans: Iterable[StepPlan],
    *,
    device_tokens: int,
    rank: int = 0,
    world_size: int = 1,
    resegment: Resegment | None = None,
) -> Generator[StepBatches, None, None]:
    """Yield the tensors of each planned step, in order. A thread makes those of the next steps meanwhile.

    The thread ends when the plans do, or when the iterator is closed; its errors are raised here. Plans are
    taken as steps are, at most a few ahead, so they may be endless.

    Args:
        store: Where the pairs are.
        plans: The steps, from :func:`transduce.data.batching.plan_epoch`.
        device_tokens: Tokens of a microbatch at most, EOS and padding included, on its wider side.
        rank: The device whose share is loaded, from 0.
        world_size: The number of devices.
        resegment: Gives the pairs of a step other pieces than those in the store. Each device does so for the whole step,
            since the loss is divided by the tokens of all of it.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="load_batches") as thread:
        load = partial(_load_step, store, device_tokens, rank, world_size, resegment)
        yield from map_in_order(thread, load, plans, n_ahead=_AHEAD)


def _load_step(
    store: TokenStore, device_tokens: int, rank: int, world_size: int, resegment: Resegment | None, plan: StepPlan
) -> StepBatches:
    own = deal(plan, rank, world_size)
    if resegment is None:
        shares = cut_microbatches(store, own, device_tokens)
        return StepBatches(tuple(make_batch(store, share.pairs, share.numbers) for share in shares), plan.n_tgt_tokens)
    pairs = resegment(plan.pairs)  # a pair stands there at its place in the global batch
    shares = cut_microbatches(pairs, Share(own.numbers, own.numbers), device_tokens)
    return StepBatches(tuple(make_batch(pairs, share.pairs, share.numbers) for share in shares), pairs.n_tgt_tokens)
