"""The rules against an oracle that lists every sentence they allow, under every search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine, ToyRules
from transduce.decoding.beam import beam_search
from transduce.decoding.diverse import diverse_search
from transduce.decoding.greedy import greedy_search
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.rules import RuledEngine, SentenceRules
from transduce.decoding.sample import sample_search
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

SOURCES = [[4], [5, 4], [6]]
PRODUCT_ERROR = 1e-6  # relative: penalized log-probabilities are products rounded to float32

words = st.integers(N_CONTROL, N_CONTROL + 2)
phrases = st.lists(st.lists(words, min_size=1, max_size=3).map(tuple), max_size=4).map(tuple)
toy_rules = st.builds(
    ToyRules,
    prefix=st.lists(words, max_size=3).map(tuple),
    banned=phrases,
    minimum=st.integers(0, 4),
    limit=st.just(4),
)


@st.composite
def batches(draw: st.DrawFn) -> list[ToyRules]:
    """Rules for three sentences, those of a whole file among them."""
    no_repeat, penalty = draw(st.sampled_from([0, 1, 2, 3])), draw(st.sampled_from([1.0, 1.5, 20.0]))
    own = [draw(toy_rules) for _ in SOURCES]
    return [ToyRules(r.prefix, r.banned, no_repeat, penalty, r.minimum, r.limit) for r in own]


def lay_over(engine: ToyEngine, rules: list[ToyRules]) -> tuple[RuledEngine, LengthBounds]:
    of_each = [SentenceRules(rule.prefix, rule.banned, rule.minimum) for rule in rules]
    ruled = RuledEngine(engine, of_each, rules[0].no_repeat, rules[0].penalty)
    limits = np.array([rule.limit for rule in rules])
    return ruled, LengthBounds(np.zeros_like(limits), limits)


@given(
    seed=st.integers(0, 10_000), spread=st.sampled_from([0.05, 2.0]), rules=batches(), alpha=st.sampled_from([0.0, 1.0])
)
@hypothesis_settings(max_examples=60, deadline=None)
def test_large_beam_finds_the_best_sentences_that_the_rules_allow(
    seed: int, spread: float, rules: list[ToyRules], alpha: float
) -> None:
    engine = ToyEngine.random(seed, n_words=3, spread=spread)
    ruled, bounds = lay_over(engine, rules)
    settings = DecodeSettings(beam_size=150, n_best=150, length_alpha=alpha)  # more than 1 + 3 + 9 + 27 + 81
    for source, rule, found in zip(SOURCES, rules, beam_search(ruled, SOURCES, settings, bounds), strict=True):
        allowed = rule.sentences(engine, source)
        scores = [log_prob / length_penalty(len(ids) + 1, alpha) for ids, log_prob in allowed.items()]
        assert {h.ids for h in found} == set(allowed)
        np.testing.assert_allclose([h.score for h in found], sorted(scores, reverse=True), rtol=PRODUCT_ERROR)


SEARCHES: list[Callable[[RuledEngine, LengthBounds], list[list[Hypothesis]]]] = [
    lambda e, b: [[h] for h in greedy_search(e, SOURCES, DecodeSettings(), b)],
    lambda e, b: beam_search(e, SOURCES, DecodeSettings(beam_size=2, n_best=2), b),
    lambda e, b: beam_search(e, SOURCES, DecodeSettings(beam_size=7, n_best=7), b),
    lambda e, b: diverse_search(e, SOURCES, DecodeSettings(search="diverse", beam_size=6, n_groups=3, n_best=6), b),
    lambda e, b: sample_search(e, SOURCES, DecodeSettings(search="sample", top_p=0.9), 5, b),
]


@given(
    seed=st.integers(0, 10_000), spread=st.sampled_from([0.05, 2.0]), rules=batches(), which=st.sampled_from(SEARCHES)
)
@hypothesis_settings(max_examples=100, deadline=None)
def test_every_search_keeps_to_the_rules(
    seed: int,
    spread: float,
    rules: list[ToyRules],
    which: Callable[[RuledEngine, LengthBounds], list[list[Hypothesis]]],
) -> None:
    engine = ToyEngine.random(seed, n_words=3, spread=spread)
    for source, rule, found in zip(SOURCES, rules, which(*lay_over(engine, rules)), strict=True):
        allowed = rule.sentences(engine, source)
        assert found
        for h in found:
            assert h.ids in allowed
            assert h.log_prob == pytest.approx(allowed[h.ids], rel=PRODUCT_ERROR)


@given(seed=st.integers(0, 10_000), rules=batches(), k=st.integers(1, 3))
@hypothesis_settings(max_examples=60, deadline=None)
def test_step_proposes_what_the_distribution_says(seed: int, rules: list[ToyRules], k: int) -> None:
    engine = ToyEngine.random(seed, n_words=3)
    by_step, by_distribution = (lay_over(engine, rules)[0].start(SOURCES) for _ in range(2))
    parents, ids = np.arange(3), np.full(3, BOS_ID)
    for _ in range(5):
        proposals, whole = by_step.step(parents, ids, k), by_distribution.distribution(parents, ids)
        best = np.argsort(-whole[:, N_CONTROL:], axis=1, kind="stable")[:, :k] + N_CONTROL
        np.testing.assert_array_equal(proposals.log_probs, np.take_along_axis(whole, best, axis=1))
        np.testing.assert_array_equal(proposals.eos_log_probs, whole[:, EOS_ID])
        allowed = np.isfinite(proposals.log_probs)
        np.testing.assert_array_equal(proposals.ids[allowed], best[allowed])
        going_on = np.flatnonzero(allowed[:, 0])
        if not len(going_on):
            break
        parents, ids = going_on, proposals.ids[going_on, 0]


def test_sentences_that_enter_later_have_their_own_rules() -> None:
    engine = ToyEngine.random(3, n_words=3)
    rules = [SentenceRules(), SentenceRules(prefix=(5, 6)), SentenceRules(banned=((4,), (6,)))]
    session = RuledEngine(engine, rules, no_repeat_ngram_size=1, repetition_penalty=1.0).start(SOURCES[:1])
    session.step(np.array([0]), np.array([BOS_ID]), k=1)
    session.add(SOURCES[1:])
    proposals = session.step(np.array([0, 1, 2]), np.array([4, BOS_ID, BOS_ID]), k=3)
    assert set(proposals.ids[0, :2]) == {5, 6}  # 4 has been written
    assert (proposals.ids[1, 0], np.isfinite(proposals.log_probs[1]).tolist()) == (5, [True, False, False])
    assert (proposals.ids[2, 0], np.isfinite(proposals.log_probs[2]).tolist()) == (5, [True, False, False])
    proposals = session.step(np.array([0, 1, 2]), np.array([5, 5, 5]), k=3)
    assert proposals.ids[0, 0] == 6
    assert proposals.ids[1, 0] == 6
    assert np.isneginf(proposals.eos_log_probs).tolist() == [False, True, False]
    assert np.isneginf(proposals.log_probs[2]).all(), "nothing is left but EOS"


def test_prefix_costs_what_the_model_says_and_no_rule_touches_it() -> None:
    engine = ToyEngine.random(3, n_words=3)
    rules = [SentenceRules(prefix=(5, 5, 5), banned=((5,),))]
    ruled = RuledEngine(engine, rules, no_repeat_ngram_size=1, repetition_penalty=2.0)
    [found] = greedy_search(ruled, [[4]], DecodeSettings(max_tokens=3))
    assert found.ids == (5, 5, 5)
    assert found.log_prob == pytest.approx(engine.log_prob([4], (5, 5, 5)), rel=PRODUCT_ERROR)


def test_scores_and_attention_of_given_targets_are_the_models_own() -> None:
    engine = ToyEngine.random(3, n_words=3)
    ruled = RuledEngine(engine, [SentenceRules(banned=((5,),))], 0, 1.0)
    np.testing.assert_array_equal(ruled.score([[4]], [[5]])[0], engine.score([[4]], [[5]])[0])
    np.testing.assert_array_equal(ruled.cross_attention([[4]], [[5]], 0)[0], engine.cross_attention([[4]], [[5]], 0)[0])
    assert (ruled.tgt_vocab_size, ruled.max_sentence_tokens) == (engine.tgt_vocab_size, None)
