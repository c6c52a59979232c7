"""Which pairs make up each step: batches of about equal tokens and little padding, in an order fixed by the seed.

An epoch is planned like this:

1. All pairs that are not too long are shuffled and cut into pools.
2. A pool is sorted by length and cut into *global batches* of about ``batch_tokens`` target tokens. Sentences of a batch
   are then of about one length, which is what keeps padding small.
3. The batches of a pool are shuffled, so that short and long ones come in any order.
4. A global batch is dealt out to the devices, and each device's share is cut into microbatches that fit it.

Only step 4 knows the devices: the update is the same on any number of devices of any size.

Paper: section 5.1.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.data.store import PairIds, TokenStore

__all__ = [
    "EPOCH_START",
    "EpochPlace",
    "IntArray",
    "Share",
    "StepPlan",
    "count_too_long",
    "cut_microbatches",
    "deal",
    "padding_share",
    "plan_epoch",
]

IntArray = npt.NDArray[np.int64]


class EpochPlace(NamedTuple):
    """A place in an epoch, between two steps, that can be gone to without planning what lies before it."""

    step: int = 0
    """Steps of the epoch before this place."""
    pool: int = 0
    """The number of a pool that begins at or before this place."""
    steps_before_pool: int = 0
    """Steps of the epoch before that pool."""


EPOCH_START = EpochPlace()
"""The place before the first step."""


@dataclass(frozen=True)
class StepPlan:
    """The pairs of one step: one global batch."""

    pairs: IntArray
    """``[n]``: indexes of pairs in the store, by length."""
    n_tgt_tokens: int
    """Real target tokens of the whole step, EOS included: what the summed loss is divided by."""
    place: EpochPlace = EPOCH_START
    """Where the epoch stands before the step."""


@dataclass(frozen=True)
class Share:
    """Some pairs of a global batch."""

    pairs: IntArray
    """``[b]``: indexes of pairs in the store."""
    numbers: IntArray
    """``[b]``: the place of each in the global batch, which is what its dropout is drawn by."""

    def __len__(self) -> int:
        return len(self.pairs)

    def _take(self, places: slice) -> Share:
        return Share(self.pairs[places], self.numbers[places])


def plan_epoch(
    store: TokenStore,
    *,
    batch_tokens: int,
    pool_pairs: int,
    max_pair_tokens: int,
    seed: int,
    epoch: int,
    start: EpochPlace = EPOCH_START,
) -> Iterator[StepPlan]:
    """Plan the steps of one pass over a store. Nothing is read but lengths.

    Every pair occurs once, but for those with a longer side than ``max_pair_tokens``; :func:`count_too_long` counts them.
    The pools, and the batches of a pool, are cut into equal shares, so that none at the end is a small one.

    Args:
        store: The pairs.
        batch_tokens: Target tokens of a global batch, EOS included, padding excluded: at most this many, give or take a pair.
        pool_pairs: At most this many pairs are shuffled and sorted together.
        max_pair_tokens: Leave out pairs with a longer side than this, EOS not counted.
        seed: With ``epoch``, fixes the plan: the same on every machine and with every version of numpy.
        epoch: Number of the pass, from 0.
        start: Where to begin: pools before it are not planned, so that going on late in an epoch costs no more than early.

    Raises:
        DataError: No pair is left.

    Paper: section 5.1.
    """
    kept = np.flatnonzero(_longer_side(store) <= max_pair_tokens)
    if len(kept) == 0:
        raise DataError(
            f"{store.directory}: none of its {plural(len(store), 'pair')} has at most {max_pair_tokens} tokens a side; "
            f"there is nothing to train on (train.max_pair_tokens sets the limit)"
        )
    return _plan(store, kept, batch_tokens, pool_pairs, _Shuffler(seed, epoch), start)


def deal(plan: StepPlan, rank: int = 0, world_size: int = 1) -> Share:
    """Return the share of one device in a global batch: every ``world_size``-th pair, so that all shares are of like lengths.

    Args:
        plan: The step.
        rank: Which device, from 0.
        world_size: How many devices there are. A device may get nothing.

    >>> deal(StepPlan(np.array([7, 3, 5]), n_tgt_tokens=12), rank=1, world_size=2).pairs
    array([3])
    """
    return Share(plan.pairs, np.arange(len(plan.pairs)))._take(slice(rank, None, world_size))


def cut_microbatches(store: PairIds, share: Share, device_tokens: int) -> tuple[Share, ...]:
    """Cut a share into the fewest microbatches that fit a device, and make those about equal.

    Equal ones have less padding than full ones and a small rest.

    Args:
        store: The pairs.
        share: From :func:`deal`.
        device_tokens: Tokens of a microbatch, EOS and padding included, on its wider side: at most this many. A longer
            pair is a microbatch of its own.
    """
    if not len(share):
        return ()
    widths = _longer_side(store, share.pairs).astype(np.int64) + 1
    if int(widths.max()) * len(widths) <= device_tokens:
        return (share,)
    n_runs = len(_run_ends(widths, device_tokens))
    smaller = range(int(widths.sum()) // n_runs, device_tokens, max(1, device_tokens // 64))
    fits = bisect_left(smaller, -n_runs, key=lambda size: -len(_run_ends(widths, size)))
    ends = _run_ends(widths, smaller[fits] if fits < len(smaller) else device_tokens)
    return tuple(share._take(slice(start, end)) for start, end in pairwise([0, *ends]))


def count_too_long(store: TokenStore, max_pair_tokens: int) -> int:
    """Count the pairs that :func:`plan_epoch` leaves out because a side is longer than ``max_pair_tokens``."""
    return int(np.count_nonzero(_longer_side(store) > max_pair_tokens))


def padding_share(store: TokenStore, plans: Iterable[StepPlan], device_tokens: int) -> float:
    """Return the share of padding among all tokens of the padded tensors of some steps, both sides together: 0 to 1."""
    n_real = n_all = 0
    for plan in plans:
        for share in cut_microbatches(store, deal(plan), device_tokens):
            for lengths in (store.src_lengths[share.pairs] + 1, store.tgt_lengths[share.pairs] + 1):
                n_real += int(lengths.sum())
                n_all += int(lengths.max()) * len(share)
    return 1 - n_real / n_all if n_all else 0.0


class _Shuffler:
    """Random orders that stay the same for good.

    Only the raw 64-bit stream of PCG64 is used, which numpy promises never to change; it does not promise that of
    ``Generator.permutation``. Sorting random keys gives each order with equal probability (equal keys do not occur in practice).
    """

    def __init__(self, seed: int, epoch: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed % (1 << 64), epoch]))  # a seed may be negative

    def order(self, n: int) -> IntArray:
        """Return the numbers 0 to n - 1 in random order."""
        keys = np.asarray(self._bits.random_raw(n), dtype=np.uint64)
        return np.argsort(keys, kind="stable").astype(np.int64)

    def skip(self, n: int) -> None:
        """Go on as if the orders of ``n`` things in all had been asked for."""
        self._bits.advance(n)


def _plan(
    store: TokenStore, kept: IntArray, batch_tokens: int, pool_pairs: int, shuffler: _Shuffler, start: EpochPlace
) -> Iterator[StepPlan]:
    shuffled = kept[shuffler.order(len(kept))]
    shuffler.skip(start.steps_before_pool)
    step = start.steps_before_pool
    for number, pool in list(enumerate(np.array_split(shuffled, -(-len(shuffled) // pool_pairs))))[start.pool :]:
        batches = _cut_batches(store, pool[_length_order(store, pool)], batch_tokens)
        steps_before_pool = step
        for batch in (batches[place] for place in shuffler.order(len(batches))):
            if step >= start.step:
                n_tgt_tokens = int(store.tgt_lengths[batch].sum()) + len(batch)
                yield StepPlan(batch, n_tgt_tokens, EpochPlace(step, number, steps_before_pool))
            step += 1


def _length_order(store: TokenStore, pool: IntArray) -> IntArray:
    """Return the order of a pool by the longer side, and then by how much the source is longer than the target.

    The second order rises where the longer side is even and falls where it is odd. So the end of one length and the start
    of the next, which often stand in one batch, are pairs of the same shape.
    """
    src, tgt = store.src_lengths[pool], store.tgt_lengths[pool]
    longer = np.maximum(src, tgt)
    return np.lexsort((np.where(longer % 2 == 0, src - tgt, tgt - src), longer)).astype(np.int64)


def _cut_batches(store: TokenStore, pairs: IntArray, batch_tokens: int) -> list[IntArray]:
    """Cut sorted pairs into the fewest equal shares of target tokens that are not larger than ``batch_tokens``."""
    ends = np.cumsum(store.tgt_lengths[pairs].astype(np.int64) + 1)
    n_batches = -(-int(ends[-1]) // batch_tokens)
    marks = ends[-1] * np.arange(1, n_batches) // n_batches
    return [batch for batch in np.split(pairs, np.searchsorted(ends, marks, side="right")) if len(batch)]


def _run_ends(widths: IntArray, max_tokens: int) -> list[int]:
    """Return where runs end that are as long as they can be with a padded size of at most ``max_tokens``."""
    ends: list[int] = []
    start = 0
    while start < len(widths):
        # Every pair takes at least one token, so no run is longer than max_tokens pairs.
        sizes = np.maximum.accumulate(widths[start : start + max_tokens])
        sizes *= np.arange(1, len(sizes) + 1)
        start += max(1, int(np.searchsorted(sizes, max_tokens, side="right")))
        ends.append(start)
    return ends


def _longer_side(store: PairIds, pairs: IntArray | slice = slice(None)) -> npt.NDArray[np.int32]:
    return np.maximum(store.src_lengths[pairs], store.tgt_lengths[pairs])
