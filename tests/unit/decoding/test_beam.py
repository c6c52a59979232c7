from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine, exhaustive
from transduce.base.errors import DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.greedy import greedy_search
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL

SOURCES = [[4], [5, 4], [6, 4, 4], [7], [8], []]

# Sums of at most a few dozen float32 numbers in float64: only the order of additions differs.
SUM_ERROR = 1e-9


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.05, 0.5, 2.0, 6.0]),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.5]),
    min_tokens=st.integers(0, 3),
    extra=st.integers(0, 2),
    n_best=st.sampled_from([1, 2, 5, 400]),
)
@hypothesis_settings(max_examples=60, deadline=None)
def test_large_beam_is_exhaustive_search(
    seed: int, spread: float, alpha: float, min_tokens: int, extra: int, n_best: int
) -> None:
    engine = ToyEngine.random(seed, n_words=3, spread=spread)
    max_tokens = max(1, min_tokens + extra)
    settings = DecodeSettings(
        beam_size=400, n_best=n_best, length_alpha=alpha, min_tokens=min_tokens, max_tokens=max_tokens
    )  # 400 > 3 ** 5 = 243 prefixes and their endings: nothing is ever dropped
    for source, found in zip(SOURCES[:2], beam_search(engine, SOURCES[:2], settings), strict=True):
        best = exhaustive(engine, source, min_tokens=min_tokens, max_tokens=max_tokens, alpha=alpha)[:n_best]
        np.testing.assert_allclose([h.score for h in found], [score for score, _, _ in best], atol=SUM_ERROR)
        np.testing.assert_allclose([h.log_prob for h in found], [log_prob for _, log_prob, _ in best], atol=SUM_ERROR)
        assert len({h.ids for h in found}) == len(found) == len(best)
        assert found[0].ids == best[0][2]


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.01, 0.5, 2.0]), alpha=st.sampled_from([0.0, 0.6, 1.5]))
@hypothesis_settings(max_examples=60, deadline=None)
def test_beam_of_one_is_greedy_search(seed: int, spread: float, alpha: float) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    settings = DecodeSettings(beam_size=1, length_alpha=alpha, max_extra_tokens=12, min_tokens=seed % 3)
    assert [found[0] for found in beam_search(engine, SOURCES, settings)] == greedy_search(engine, SOURCES, settings)


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.01, 0.5, 2.0]),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    beam_size=st.integers(1, 12),
)
@hypothesis_settings(max_examples=30, deadline=None)
def test_results_do_not_depend_on_neighbours_or_n_best(seed: int, spread: float, alpha: float, beam_size: int) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    wide = DecodeSettings(beam_size=beam_size, n_best=beam_size, length_alpha=alpha, max_extra_tokens=8)
    narrow = wide.replace(n_best=1)
    together = beam_search(engine, SOURCES, wide)
    backwards = beam_search(engine, SOURCES[::-1], wide)[::-1]
    alone = [beam_search(engine, [source], wide)[0] for source in SOURCES]
    assert together == backwards == alone
    assert [found[:1] for found in together] == beam_search(engine, SOURCES, narrow)


def test_n_best_is_sorted_and_holds_the_true_log_probabilities() -> None:
    engine = ToyEngine.random(5, spread=1.0)
    settings = DecodeSettings(beam_size=6, n_best=6, max_extra_tokens=8)
    for source, found in zip(SOURCES, beam_search(engine, SOURCES, settings), strict=True):
        assert len({h.ids for h in found}) == len(found) == 6
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        for h in found:
            assert h.log_prob == pytest.approx(engine.log_prob(source, h.ids), abs=SUM_ERROR)
            assert h.score == pytest.approx(h.log_prob / length_penalty(len(h.ids) + 1, 0.6), abs=SUM_ERROR)


def test_search_goes_on_while_a_longer_hypothesis_can_win() -> None:
    # EOS has probability 0.6 at once: log 0.6 = -0.51. The other way is 0.4 and then certain: three tokens and EOS with
    # log 0.4 = -0.92, which a length penalty of alpha 2, (9 / 6) ** 2 = 2.25, turns into -0.41.
    engine = chain_engine(first=0.4, rest=1 - 1e-6)
    [[best]] = beam_search(engine, [[0]], DecodeSettings(beam_size=2, length_alpha=2.0))
    assert best.ids == (4, 4, 4)
    assert best.score == pytest.approx(np.log(0.4) / 2.25, abs=1e-4)  # the certain steps are certain to 1e-6
    # Without the penalty nothing that is open at -0.92 can win any more.
    assert beam_search(engine, [[0]], DecodeSettings(beam_size=2, length_alpha=0.0))[0][0].ids == ()


def test_search_stops_when_no_open_hypothesis_can_win() -> None:
    # EOS has probability 0.9: log 0.9 = -0.105. What is open has log 0.1 = -2.30, and at the limit of 50 tokens the
    # penalty is (56 / 6) ** 0.6 = 3.82: -0.60 at best. So one step settles it, whatever stands beside it.
    engine = chain_engine(first=0.1, rest=0.5)
    beam_search(engine, [[0]], DecodeSettings(beam_size=2, max_extra_tokens=49))
    assert len(engine.rows_per_step) == 1


def test_settled_sentences_leave_the_batch() -> None:
    engine = ToyEngine.random(1)
    engine.table[5, 0, :, EOS_ID] = -1e-3  # settled at the first step: what is open has at most log 0.01 or so
    engine.table[5, 0, :, N_CONTROL:] = -9.0
    beam_search(engine, [[4], [5]], DecodeSettings(beam_size=3, max_extra_tokens=10))
    assert engine.rows_per_step[0] == 2
    assert max(engine.rows_per_step[1:]) <= 3


def test_eos_outside_the_beam_is_not_accepted() -> None:
    # Three tokens are more probable than EOS (0.3, 0.25, 0.25 against 0.2) at every step: with a beam of 3 nothing may
    # end before the limit, with a beam of 4 EOS is accepted at once.
    table = np.full((9, 7, 9, 9), 1e-9)
    table[..., 4], table[..., 5], table[..., 6], table[..., EOS_ID] = 0.3, 0.25, 0.25, 0.2
    engine = ToyEngine(np.log(table / table.sum(axis=-1, keepdims=True)).astype(np.float32))
    limits = DecodeSettings(max_tokens=4, length_alpha=0.0, beam_size=3, n_best=3)
    assert {len(h.ids) for h in beam_search(engine, [[4]], limits)[0]} == {4}
    assert beam_search(engine, [[4]], limits.replace(beam_size=4))[0][0].ids == ()


@pytest.mark.parametrize("beam_size", [5, 6, 10, 12, 50, 2000])
def test_beam_may_be_larger_than_the_vocabulary(beam_size: int) -> None:
    engine = ToyEngine.random(2, n_words=6, spread=0.3)
    settings = DecodeSettings(beam_size=beam_size, n_best=beam_size, max_tokens=4)
    for found in beam_search(engine, SOURCES, settings):
        assert len(found) == min(beam_size, 1 + 6 + 36 + 216 + 1296)
        assert all(np.isfinite(h.score) and all(i >= N_CONTROL for i in h.ids) for h in found)


def test_length_limits_hold_and_fill_the_n_best_list() -> None:
    engine = ToyEngine.random(4, spread=0.02)  # flat: nothing ends of its own accord
    for least, most in [(0, 2), (3, 6), (4, 4)]:
        settings = DecodeSettings(beam_size=5, n_best=5, min_tokens=least, max_tokens=most)
        for found in beam_search(engine, SOURCES, settings):
            assert len(found) == 5
            assert all(least <= len(h.ids) <= most for h in found)


def test_equal_candidates_go_to_the_better_parent_then_eos_then_the_lower_id() -> None:
    flat = np.full((9, 7, 9, 9), np.log(1 / 9), dtype=np.float32)
    settings = DecodeSettings(beam_size=3, n_best=3, max_tokens=2, length_alpha=0.0)
    found = beam_search(ToyEngine(flat), [[4]], settings)[0]
    # Step 1: EOS, 4, 5. Step 2: of the candidates of parent 4: EOS, 4, 5. Step 3 is the limit: both are forced to end.
    assert [h.ids for h in found] == [(), (4,), (4, 4)]


def test_what_only_the_limit_ends_wins_by_its_whole_probability_or_not_at_all() -> None:
    # Token 4 follows with 0.9 at each step, EOS with 0.1. At a limit of 3 tokens 4 4 4 alone would have log 0.729 =
    # -0.32, and be better than EOS at once (log 0.1 = -2.30). With the EOS that a sentence needs it has
    # log 0.0729 = -2.62 and comes second.
    table = np.full((1, 7, 5, 5), 1e-12)
    table[..., 4], table[..., EOS_ID] = 0.9, 0.1
    engine = ToyEngine(np.log(table / table.sum(axis=-1, keepdims=True)).astype(np.float32))
    settings = DecodeSettings(beam_size=2, n_best=2, max_tokens=3, length_alpha=0.0)
    [[first, second]] = beam_search(engine, [[0]], settings)
    assert (first.ids, first.at_limit) == ((), False)
    assert second.ids == (4,)
    # With a beam of 1 nothing ends of its own accord: the one that the limit ends is all there is, and says so.
    [[forced]] = beam_search(engine, [[0]], DecodeSettings(beam_size=1, max_tokens=3, length_alpha=0.0))
    assert (forced.ids, forced.at_limit) == ((4, 4, 4), True)
    assert forced.log_prob == pytest.approx(np.log(0.0729), abs=1e-5)  # float32 tables
    assert greedy_search(engine, [[0]], DecodeSettings(max_tokens=3, length_alpha=0.0)) == [forced]


def test_each_sentence_has_its_own_bounds() -> None:
    engine = ToyEngine.random(4, spread=0.02)
    bounds = LengthBounds(np.array([0, 3, 2, 0, 5, 1]), np.array([0, 3, 6, 2, 7, 1]))
    settings = DecodeSettings(beam_size=3, n_best=3)
    for found, least, most in zip(beam_search(engine, SOURCES, settings, bounds), *bounds, strict=True):
        assert found
        assert all(least <= len(h.ids) <= most and h.at_limit == (len(h.ids) == most) for h in found)
    greedy = greedy_search(engine, SOURCES, settings, bounds)
    assert [[h] for h in greedy] == beam_search(engine, SOURCES, DecodeSettings(beam_size=1), bounds)


def test_nothing_in_nothing_out() -> None:
    assert beam_search(ToyEngine.random(0), [], DecodeSettings()) == []


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5])
def test_numbers_that_are_no_log_probabilities_are_refused(value: float) -> None:
    engine = ToyEngine.random(0)
    engine.table[6, 2, :, EOS_ID] = value  # one sentence of three, at its third step
    with pytest.raises(DecodingError, match="weights are damaged"):
        beam_search(engine, [[4], [6], [5]], DecodeSettings(min_tokens=5))


def chain_engine(first: float, rest: float) -> ToyEngine:
    """Token 4 with probability ``first``, then twice with ``rest``, then never: else EOS each time."""
    table = np.full((1, 7, 5, 5), 1e-12)
    for step, p_token in enumerate([first, rest, rest, 0, 0, 0, 0]):
        table[:, step, :, 4] += p_token
        table[:, step, :, EOS_ID] += 1 - p_token
    return ToyEngine(np.log(table / table.sum(axis=-1, keepdims=True)).astype(np.float32))
