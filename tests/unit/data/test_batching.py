from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared import case_file
from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.data.batching import (
    EPOCH_START,
    EpochPlace,
    StepPlan,
    count_too_long,
    cut_microbatches,
    deal,
    padding_share,
    plan_epoch,
)
from transduce.data.binarize import binarize
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair

Make = pytest.TempPathFactory


def store_of(lengths: Sequence[tuple[int, int]], directory: Path) -> TokenStore:
    binarize([SentencePair("s" * s, "t" * t) for s, t in lengths], bytes_pair(), directory / "store", n_workers=1)
    return TokenStore.open(directory / "store")


def plan(
    store: TokenStore,
    *,
    batch_tokens: int = 60,
    pool_pairs: int = 40,
    max_pair_tokens: int = 25,
    seed: int = 1,
    epoch: int = 0,
    start: EpochPlace = EPOCH_START,
) -> Iterator[StepPlan]:
    return plan_epoch(
        store,
        batch_tokens=batch_tokens,
        pool_pairs=pool_pairs,
        max_pair_tokens=max_pair_tokens,
        seed=seed,
        epoch=epoch,
        start=start,
    )


def global_batches(plans: Iterator[StepPlan]) -> list[list[int]]:
    return [step.pairs.tolist() for step in plans]


def microbatches(store: TokenStore, step: StepPlan, device_tokens: int = 30) -> list[list[int]]:
    return [share.pairs.tolist() for share in cut_microbatches(store, deal(step), device_tokens)]


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=80),
    batch_tokens=st.integers(1, 200),
    device_tokens=st.integers(1, 100),
    pool_pairs=st.integers(1, 90),
    seed=st.integers(-(2**63), 2**63 - 1),
)
def test_what_every_plan_keeps(
    tmp_path_factory: Make,
    lengths: list[tuple[int, int]],
    batch_tokens: int,
    device_tokens: int,
    pool_pairs: int,
    seed: int,
) -> None:
    lengths = [*lengths, (3, 3)]  # at least one pair is short enough
    store = store_of(lengths, tmp_path_factory.mktemp("plan"))
    plans = list(plan(store, batch_tokens=batch_tokens, pool_pairs=pool_pairs, seed=seed))
    used = sorted(i for step in plans for i in step.pairs.tolist())
    assert used == [i for i, pair in enumerate(lengths) if max(pair) <= 25]  # each kept pair exactly once
    assert len(lengths) - len(used) == count_too_long(store, 25)
    for step in plans:
        pairs = step.pairs.tolist()
        cut = microbatches(store, step, device_tokens)
        assert [i for batch in cut for i in batch] == pairs
        assert step.n_tgt_tokens == sum(lengths[i][1] + 1 for i in pairs)
        assert step.n_tgt_tokens <= batch_tokens + max(lengths[i][1] + 1 for i in pairs)
        for batch in cut:
            assert len(batch) == 1 or len(batch) * (max(max(lengths[i]) for i in batch) + 1) <= device_tokens
        dealt = [deal(step, rank, 3) for rank in range(3)]
        places = [place for share in dealt for place in zip(share.numbers.tolist(), share.pairs.tolist(), strict=True)]
        assert sorted(places) == list(enumerate(pairs))


@pytest.fixture(scope="module")
def store(tmp_path_factory: Make) -> TokenStore:
    rng = np.random.default_rng(0)
    return store_of([(int(s), int(t)) for s, t in rng.integers(1, 25, size=(300, 2))], tmp_path_factory.mktemp("plan"))


def test_seed_and_epoch_decide_the_plan(store: TokenStore) -> None:
    assert global_batches(plan(store)) == global_batches(plan(store))
    assert global_batches(plan(store)) != global_batches(plan(store, seed=2))
    assert global_batches(plan(store)) != global_batches(plan(store, epoch=1))


def test_the_order_is_that_of_sorted_raw_bits(tmp_path: Path) -> None:
    """The raw stream of PCG64 is a promise of numpy's. With one pair a pool, the plan shows the order itself."""
    store = store_of([(1, 1)] * 10, tmp_path)
    keys = np.random.PCG64(np.random.SeedSequence([5, 2])).random_raw(10)
    assert [b for [b] in global_batches(plan(store, pool_pairs=1, seed=5, epoch=2))] == sorted(
        range(10), key=keys.tolist().__getitem__
    )


def test_pools_and_batches_have_no_small_rest(store: TokenStore) -> None:
    """301 tokens and a limit of 300 make two batches of about 150, not one of 300 and one of 1."""
    sizes = [step.n_tgt_tokens for step in plan(store, pool_pairs=299, batch_tokens=300)]
    assert min(sizes) > 200
    assert max(sizes) <= 300 + 25


def test_short_and_long_batches_are_mixed(store: TokenStore) -> None:
    means = [np.mean(store.tgt_lengths[batch]) for batch in global_batches(plan(store, pool_pairs=300))]
    assert means != sorted(means)


def test_a_later_step_is_reached_without_the_earlier_ones(store: TokenStore) -> None:
    whole = global_batches(plan(store))
    assert global_batches(itertools.islice(plan(store), 20, None)) == whole[20:]


def test_a_batch_that_fits_a_device_is_not_searched_for_a_cut(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual case on a large device, at every step: one comparison is enough."""
    steps = list(plan(store))
    searched = []
    monkeypatch.setattr("transduce.data.batching._run_ends", lambda widths, size: searched.append(size))
    whole = [microbatches(store, step, device_tokens=60 * 26) for step in steps]
    assert searched == []
    assert [batch for [batch] in whole] == global_batches(iter(steps))


def test_padding_by_hand(tmp_path: Path) -> None:
    """Two pairs in one microbatch: sources of 2 and 4 with EOS (2 padded of 8), targets of 3 and 3 (none of 6)."""
    store = store_of([(1, 2), (3, 2)], tmp_path)
    assert padding_share(store, plan(store), 30) == pytest.approx(2 / 14)  # one division in float64
    assert padding_share(store, [], 30) == 0


def test_sorting_leaves_little_padding(store: TokenStore) -> None:
    unsorted = StepPlan(np.arange(300), n_tgt_tokens=0)
    assert padding_share(store, plan(store, pool_pairs=300), 60) < padding_share(store, [unsorted], 60) / 3


def test_pair_longer_than_a_batch(tmp_path: Path) -> None:
    """Case B031: the long pair is left out and counted, or is a batch of one; nothing dies."""
    pairs = list(map(SentencePair, read_lines(case_file("B031.src")), read_lines(case_file("B031.tgt"))))
    binarize(pairs, bytes_pair(), tmp_path / "s", n_workers=1)
    store = TokenStore.open(tmp_path / "s")
    assert count_too_long(store, 256) == 1
    skipped = list(plan(store, batch_tokens=200, max_pair_tokens=256))
    assert sorted(i for batch in global_batches(iter(skipped)) for i in batch) == [0, 1, 2, 3, 4]
    kept = list(plan(store, batch_tokens=200, max_pair_tokens=100_000))
    assert [5] in [batch for step in kept for batch in microbatches(store, step, 200)]


def test_nothing_left_is_said_at_once(tmp_path: Path) -> None:
    store = store_of([(3, 3), (4, 1)], tmp_path)
    with pytest.raises(DataError, match="none of its 2 pairs has at most 2 tokens a side"):
        plan(store, max_pair_tokens=2)
