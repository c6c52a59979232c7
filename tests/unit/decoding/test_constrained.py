from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.test_phrases import contains
from tests.unit.decoding.toy import ToyEngine, ToySession, exhaustive
from transduce.base.errors import DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.constrained import constrained_beam_search, share_slots
from transduce.decoding.engine import FloatArray, IntArray
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings

SOURCES = [[4], [5, 4], [6, 4, 4], [7], [8], []]
PHRASES = st.lists(st.lists(st.integers(4, 6), min_size=1, max_size=3).map(tuple), max_size=3)

# Sums of at most a few dozen float32 numbers in float64: only the order of additions differs.
SUM_ERROR = 1e-9


def search(
    engine: ToyEngine,
    sources: Sequence[Sequence[int]],
    required: Sequence[Sequence[tuple[int, ...]]],
    settings: DecodeSettings,
    limits: int | Sequence[int] = 5,
    minimum: int = 0,
) -> list[list[Hypothesis]]:
    n = len(sources)
    return constrained_beam_search(
        engine, sources, required, np.full(n, minimum), np.broadcast_to(np.array(limits), n), settings
    )


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.05, 0.5, 2.0, 6.0]),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.5]),
    phrases=PHRASES,
    minimum=st.integers(0, 3),
    limit=st.integers(3, 5),
    n_best=st.sampled_from([1, 3, 400]),
)
@hypothesis_settings(max_examples=60)
def test_large_beam_is_exhaustive_search(
    seed: int, spread: float, alpha: float, phrases: list[tuple[int, ...]], minimum: int, limit: int, n_best: int
) -> None:
    engine = ToyEngine.random(seed, n_words=3, spread=spread)
    # Each of at most 10 banks gets a tenth of the slots, and none can have more than 4 ** 5 candidates.
    settings = DecodeSettings(beam_size=10_000, n_best=n_best, length_alpha=alpha)
    found = search(engine, SOURCES[:2], [phrases, phrases[:1]], settings, limit, minimum)
    for source, own, hypotheses in zip(SOURCES[:2], [phrases, phrases[:1]], found, strict=True):
        own_limit = min(max(limit, sum(map(len, own))), 6)
        if own_limit < sum(map(len, own)):
            continue  # too many sequences for the oracle
        every = exhaustive(engine, source, min_tokens=minimum, max_tokens=own_limit, alpha=alpha)
        best = [item for item in every if contains(item[2], own)][:n_best]
        np.testing.assert_allclose([h.score for h in hypotheses], [score for score, _, _ in best], atol=SUM_ERROR)
        assert all(contains(h.ids, own) for h in hypotheses)
        assert hypotheses[0].ids == best[0][2]


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.01, 0.5, 2.0]),
    alpha=st.sampled_from([0.0, 0.6, 2.0]),
    beam_size=st.integers(1, 12),
)
@hypothesis_settings(max_examples=30)
def test_without_phrases_it_is_beam_search(seed: int, spread: float, alpha: float, beam_size: int) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    settings = DecodeSettings(
        beam_size=beam_size, n_best=1 + seed % beam_size, length_alpha=alpha, max_extra_tokens=7, min_tokens=seed % 3
    )
    limits = [max(len(source) + 7, settings.min_tokens) for source in SOURCES]
    required = [[] if number % 2 else [(4, 5), (6,)] for number in range(len(SOURCES))]
    plain = beam_search(engine, SOURCES, settings)
    # Also with sentences beside them that have phrases.
    found = search(engine, SOURCES, required, settings, limits, settings.min_tokens)
    assert [found[number] for number in (1, 3, 5)] == [plain[number] for number in (1, 3, 5)]


@given(seed=st.integers(0, 10_000), beam_size=st.integers(1, 4), phrases=PHRASES, limit=st.integers(0, 12))
@hypothesis_settings(max_examples=50)
def test_every_hypothesis_has_all_phrases_and_its_ordinary_score(
    seed: int, beam_size: int, phrases: list[tuple[int, ...]], limit: int
) -> None:
    engine = ToyEngine.random(seed)
    settings = DecodeSettings(beam_size=beam_size, n_best=beam_size)
    for source, hypotheses in zip(SOURCES, search(engine, SOURCES, [phrases] * 6, settings, limit), strict=True):
        assert hypotheses or limit == 0
        for hypothesis in hypotheses:
            assert contains(hypothesis.ids, phrases)
            assert len(hypothesis.ids) <= max(limit, sum(map(len, phrases)))
            log_prob = engine.log_prob(source, hypothesis.ids)
            assert hypothesis.log_prob == pytest.approx(log_prob, abs=SUM_ERROR)
            penalty = length_penalty(len(hypothesis.ids) + 1, settings.length_alpha)
            assert hypothesis.score == pytest.approx(log_prob / penalty, abs=SUM_ERROR)


def test_a_sentence_does_not_depend_on_its_neighbours() -> None:
    engine = ToyEngine.random(3)
    settings = DecodeSettings(beam_size=3, n_best=3)
    required: list[list[tuple[int, ...]]] = [[(4, 5)], [], [(6,), (6,), (7, 8)], [(8, 8, 8)], [], [(5,)]]
    together = search(engine, SOURCES, required, settings, 12)
    alone = [search(engine, [source], [own], settings, 12)[0] for source, own in zip(SOURCES, required, strict=True)]
    assert together == alone


def test_more_required_tokens_than_slots() -> None:
    engine = ToyEngine.random(5)
    phrases = [(4, 5, 6, 7, 8)] * 12  # 60 banks share 1 + 32 slots
    [[found]] = search(engine, [[4]], [phrases], DecodeSettings(beam_size=1), 80)
    assert contains(found.ids, phrases)


def test_limits_are_raised_to_the_phrases() -> None:
    [[found]] = search(ToyEngine.random(1), [[4]], [[(4, 5), (6,)]], DecodeSettings(), 1)
    assert sorted(found.ids) == [4, 5, 6]


def test_phrases_that_the_model_has_no_positions_for() -> None:
    engine = ToyEngine.random(1, max_sentence_tokens=4)
    with pytest.raises(DecodingError, match=r"have 5 tokens together, but this model has positions for 4"):
        search(engine, [[4]], [[(4, 5, 6), (7, 8)]], DecodeSettings())


class _NeverSix(ToyEngine):
    """A model with a rule: token 6 is forbidden in the second sentence of a search."""

    def start(self, sources: Sequence[Sequence[int]]) -> ToySession:
        session = _NeverSixSession(self)
        session.add(sources)
        return session


class _NeverSixSession(ToySession):
    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        log_probs = super().distribution(parents, ids).copy()
        log_probs[[number == 1 for number, _, _ in self.rows], 6] = -np.inf
        return log_probs


def test_what_a_rule_forbids_is_given_up() -> None:
    plain = ToyEngine.random(2)
    engine = _NeverSix(plain.table)
    settings = DecodeSettings(beam_size=3)
    required = [[(6,)], [(6,), (5,)]]
    first, second = search(engine, SOURCES[:2], required, settings, 8)
    assert first == search(plain, SOURCES[:1], required[:1], settings, 8)[0]
    assert second == search(engine, SOURCES[:2], [[], []], settings, 8)[1]


def test_nothing_to_search() -> None:
    assert search(ToyEngine.random(1), [], [], DecodeSettings()) == []


@given(n_slots=st.integers(1, 40), counts=st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_slots_are_all_given_where_there_are_candidates(n_slots: int, counts: list[int]) -> None:
    slots = share_slots(n_slots, counts)
    assert sum(slots) == min(n_slots, sum(counts))
    assert all(0 <= own <= count for own, count in zip(slots, counts, strict=True))
    share = n_slots // len(counts)
    assert all(own >= min(count, share) for own, count in zip(slots, counts, strict=True))


def test_more_sentences_than_rows_at_once() -> None:
    engine = ToyEngine.random(4)
    sources, settings = [*SOURCES] * 14, DecodeSettings(beam_size=3, n_best=3)
    found = search(engine, sources, [[(5, 6)]] * len(sources), settings)
    assert found == search(engine, SOURCES, [[(5, 6)]] * len(SOURCES), settings) * 14
