from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.base.errors import DataError
from transduce.data.batch import make_batch
from transduce.data.batching import StepPlan
from transduce.data.binarize import binarize
from transduce.data.loader import load_batches
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    binarize([SentencePair("s" * n, "t" * n) for n in range(1, 9)], bytes_pair(), tmp_path / "s", n_workers=1)
    return TokenStore.open(tmp_path / "s")


def step(*microbatches: list[int]) -> StepPlan:
    return StepPlan(tuple(np.array(pairs) for pairs in microbatches), n_tgt_tokens=7)


def loader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("load_batches")]


def test_steps_come_in_order_with_their_tensors(store: TokenStore) -> None:
    plans = [step([0, 1], [2]), step([3]), step([4, 5], [6, 7]), step([7]), step([1])]
    loaded = list(load_batches(store, plans))
    assert [len(one.microbatches) for one in loaded] == [2, 1, 2, 1, 1]
    assert {one.n_tgt_tokens for one in loaded} == {7}
    for plan, one in zip(plans, loaded, strict=True):
        for indexes, batch in zip(plan.microbatches, one.microbatches, strict=True):
            assert torch.equal(batch.src, make_batch(store, indexes).src)
    assert loader_threads() == []


def test_closing_early_ends_the_thread(store: TokenStore) -> None:
    batches = load_batches(store, itertools.repeat(step([0])))
    next(batches)
    assert len(loader_threads()) == 1
    batches.close()
    assert loader_threads() == []


def test_error_in_the_thread_is_raised_here(store: TokenStore) -> None:
    batches = load_batches(store, [step([0]), step([99])])
    next(batches)
    with pytest.raises(IndexError):
        next(batches)
    assert loader_threads() == []


def test_error_in_the_plans_is_raised_here(store: TokenStore) -> None:
    def plans() -> Iterator[StepPlan]:
        yield step([0])
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        list(load_batches(store, plans()))
    assert loader_threads() == []
