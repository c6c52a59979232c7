from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from transduce.decoding.beam import beam_search
from transduce.decoding.diverse import diverse_search
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import EOS_ID

SOURCES = [[4], [5, 4], [6, 4, 4], [7], [8], []]

spreads = st.sampled_from([0.01, 0.5, 2.0])


def diverse(beam_size: int, n_groups: int, diversity: float = 0.5, n_best: int | None = None) -> DecodeSettings:
    return DecodeSettings(
        search="diverse", beam_size=beam_size, n_groups=n_groups, diversity=diversity, n_best=n_best or beam_size,
        max_extra_tokens=6,
    )  # fmt: skip


@given(seed=st.integers(0, 10_000), spread=spreads, width=st.integers(1, 6))
@hypothesis_settings(max_examples=12, deadline=None)
def test_one_group_is_a_beam_search(seed: int, spread: float, width: int) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    settings = diverse(width, 1, diversity=3.0)
    assert diverse_search(engine, SOURCES, settings) == beam_search(engine, SOURCES, settings)


@given(seed=st.integers(0, 10_000), spread=spreads, width=st.integers(1, 4), n_groups=st.integers(2, 4))
@hypothesis_settings(max_examples=12, deadline=None)
def test_without_diversity_all_groups_are_one_beam_search(seed: int, spread: float, width: int, n_groups: int) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    found = diverse_search(engine, SOURCES, diverse(width * n_groups, n_groups, diversity=0.0))
    plain = DecodeSettings(beam_size=width, n_best=width, max_extra_tokens=6)
    assert found == beam_search(engine, SOURCES, plain)


@given(seed=st.integers(0, 10_000), spread=spreads, diversity=st.sampled_from([0.1, 1.0, 9.0]))
@hypothesis_settings(max_examples=12, deadline=None)
def test_first_group_neighbours_and_n_best(seed: int, spread: float, diversity: float) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    together = diverse_search(engine, SOURCES, diverse(6, 3, diversity))
    of_first_group = beam_search(engine, SOURCES, DecodeSettings(beam_size=2, n_best=2, max_extra_tokens=6))
    for source, found, first in zip(SOURCES, together, of_first_group, strict=True):
        assert set(first) <= set(found)
        assert len({h.ids for h in found}) == len(found)
        assert found == sorted(found, key=lambda h: -h.score)
        assert diverse_search(engine, [source], diverse(6, 3, diversity)) == [found]
        assert diverse_search(engine, [source], diverse(6, 3, diversity, n_best=1)) == [found[:1]]
        for h in found:
            assert h.log_prob == pytest.approx(engine.log_prob(source, h.ids), abs=1e-9)  # order of float64 sums


@pytest.mark.parametrize(
    ("diversity", "expected"),
    [
        (0.2, {4}),  # log 0.5 - log 0.3 = 0.51: two losses of 0.2 do not bring 4 below 5
        (0.3, {4, 5}),  # two losses of 0.3 do, so the third group takes 5
        (0.6, {4, 5}),  # one loss is enough; 4 and 5 have then lost once each, and 4 is first again: 0.92 above 6
        (1.0, {4, 5, 6}),  # now 6 is first
    ],
)
def test_a_token_loses_for_each_hypothesis_that_took_it(diversity: float, expected: set[int]) -> None:
    table = np.full((1, 7, 7, 7), 1e-12)
    table[0, 0, :, 4], table[0, 0, :, 5], table[0, 0, :, 6] = 0.5, 0.3, 0.2
    table[0, 1:, :, EOS_ID] = 1.0
    engine = ToyEngine(np.log(table / table.sum(axis=-1, keepdims=True)).astype(np.float32))
    [found] = diverse_search(engine, [[0]], diverse(3, 3, diversity))
    assert {h.ids for h in found} == {(token,) for token in expected}


def test_nothing_in_nothing_out() -> None:
    assert diverse_search(ToyEngine.random(0), [], diverse(4, 2)) == []
