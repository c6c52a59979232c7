"""Going on in the middle of an epoch: the same steps, and nothing planned that lies before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.training.toy import toy_store
from transduce.data import batching
from transduce.data.batching import EPOCH_START, StepPlan, plan_epoch
from transduce.data.store import TokenStore

PLAN: dict[str, Any] = {"batch_tokens": 40, "pool_pairs": 50, "max_pair_tokens": 8, "seed": 3, "epoch": 2}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TokenStore:
    return toy_store(tmp_path_factory.mktemp("seek") / "store", n_pairs=300, seed=1)


@pytest.fixture(scope="module")
def whole(store: TokenStore) -> list[StepPlan]:
    return list(plan_epoch(store, **PLAN))


def test_every_place_leads_to_the_same_steps(store: TokenStore, whole: list[StepPlan]) -> None:
    assert {plan.place.pool for plan in whole} == set(range(6))
    assert [plan.place.step for plan in whole] == list(range(len(whole)))
    for number, plan in enumerate(whole):
        for start in (plan.place, whole[number - 1].place._replace(step=number) if number else EPOCH_START):
            rest = list(plan_epoch(store, **PLAN, start=start))
            assert len(rest) == len(whole) - number
            for ours, theirs in zip(rest, whole[number:], strict=True):
                assert np.array_equal(ours.pairs, theirs.pairs)
                assert (ours.n_tgt_tokens, ours.place) == (theirs.n_tgt_tokens, theirs.place)


def test_the_end_of_an_epoch_is_a_place_too(store: TokenStore, whole: list[StepPlan]) -> None:
    assert list(plan_epoch(store, **PLAN, start=whole[-1].place._replace(step=len(whole)))) == []


def test_pools_before_it_are_not_planned(
    store: TokenStore, whole: list[StepPlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[int] = []
    cut = batching._cut_batches
    monkeypatch.setattr(
        batching,
        "_cut_batches",
        lambda *arguments: planned.append(1) or cut(*arguments),  # type: ignore[func-returns-value]
    )
    late = next(plan for plan in whole if plan.place.pool == 4)
    first = next(plan_epoch(store, **PLAN, start=late.place))
    assert np.array_equal(first.pairs, late.pairs)
    assert len(planned) == 1


def test_a_place_without_a_pool_is_found_by_counting(store: TokenStore, whole: list[StepPlan]) -> None:
    first = next(plan_epoch(store, **PLAN, start=EPOCH_START._replace(step=17)))
    assert np.array_equal(first.pairs, whole[17].pairs)
    assert first.place == whole[17].place
