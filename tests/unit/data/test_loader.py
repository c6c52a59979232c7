from __future__ import annotations

import itertools
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.base.errors import DataError
from transduce.data.batch import make_batch
from transduce.data.batching import StepPlan
from transduce.data.binarize import binarize
from transduce.data.loader import StepBatches, load_batches
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    binarize([SentencePair("s" * n, "t" * n) for n in range(1, 9)], bytes_pair(), tmp_path / "s", n_workers=1)
    return TokenStore.open(tmp_path / "s")


def step(*pairs: int) -> StepPlan:
    return StepPlan(np.array(pairs), n_tgt_tokens=7)


def load(
    store: TokenStore, plans: Iterable[StepPlan], rank: int = 0, world_size: int = 1
) -> Generator[StepBatches, None, None]:
    return load_batches(store, plans, device_tokens=9, rank=rank, world_size=world_size)


def loader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("load_batches")]


def test_steps_come_in_order_with_their_tensors(store: TokenStore) -> None:
    """Pair i has i + 1 tokens and EOS a side: pairs 0 and 1 fill six of the nine tokens, 0 to 2 would take twelve."""
    loaded = list(load(store, [step(0, 1, 2), step(3), step(6, 7), step(7), step(1)]))
    cut = [[[0, 1], [2]], [[3]], [[6], [7]], [[7]], [[1]]]
    assert {one.n_tgt_tokens for one in loaded} == {7}
    for microbatches, one in zip(cut, loaded, strict=True):
        for pairs, batch in zip(microbatches, one.microbatches, strict=True):
            assert torch.equal(batch.src, make_batch(store, np.array(pairs)).src)
    assert [batch.numbers.tolist() for batch in loaded[0].microbatches] == [[0, 1], [2]]
    assert loader_threads() == []


def test_ranks_get_all_pairs_once_with_their_places(store: TokenStore) -> None:
    plan = step(0, 1, 2, 3)
    ranks = [next(load(store, [plan], rank=rank, world_size=5)) for rank in range(5)]
    assert [[batch.numbers.tolist() for batch in one.microbatches] for one in ranks] == [[[0]], [[1]], [[2]], [[3]], []]
    assert {one.n_tgt_tokens for one in ranks} == {7}  # what every rank divides by is the count of them all


def test_closing_early_ends_the_thread(store: TokenStore) -> None:
    batches = load(store, itertools.repeat(step(0)))
    next(batches)
    assert len(loader_threads()) == 1
    batches.close()
    assert loader_threads() == []


def test_error_in_the_thread_is_raised_here(store: TokenStore) -> None:
    batches = load(store, [step(0), step(99)])
    next(batches)
    with pytest.raises(IndexError):
        next(batches)
    assert loader_threads() == []


def test_error_in_the_plans_is_raised_here(store: TokenStore) -> None:
    def plans() -> Iterator[StepPlan]:
        yield step(0)
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        list(load(store, plans()))
    assert loader_threads() == []
