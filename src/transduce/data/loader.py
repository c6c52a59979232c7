"""The tensors of the next steps, made in the background while the model computes."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from transduce.data.batch import Batch, make_batch
from transduce.data.batching import StepPlan
from transduce.data.parallel import map_in_order
from transduce.data.store import TokenStore

__all__ = ["StepBatches", "load_batches"]

_AHEAD = 3


@dataclass(frozen=True)
class StepBatches:
    """The tensors of one step."""

    microbatches: tuple[Batch, ...]
    """What goes through the model, one after another, before the update."""
    n_tgt_tokens: int
    """Real target tokens of the whole step, EOS included: what the summed loss is divided by."""


def load_batches(store: TokenStore, plans: Iterable[StepPlan]) -> Generator[StepBatches, None, None]:
    """Yield the tensors of each planned step, in order. A thread makes those of the next steps meanwhile.

    The thread ends when the plans do, or when the iterator is closed; its errors are raised here. Plans are
    taken as steps are, at most a few ahead, so they may be endless.

    Args:
        store: Where the pairs are.
        plans: The steps, from :func:`transduce.data.batching.plan_epoch`.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="load_batches") as thread:
        yield from map_in_order(thread, partial(_load_step, store), plans, n_ahead=_AHEAD)


def _load_step(store: TokenStore, plan: StepPlan) -> StepBatches:
    return StepBatches(tuple(make_batch(store, indexes) for indexes in plan.microbatches), plan.n_tgt_tokens)
