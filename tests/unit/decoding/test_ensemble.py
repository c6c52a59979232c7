from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine, FloatArray
from transduce.decoding.ensemble import EnsembleEngine
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

SOURCES = [[4], [5, 4], [6], []]
TARGETS = [[4, 5], [], [6, 6, 6], [8]]
ROUNDING = 1e-5
"""Logarithms and exponentials of a few float32 numbers of size 10."""


def probabilities(engine: Engine) -> list[FloatArray]:
    return [np.exp(log_probs) for log_probs in engine.score(SOURCES, TARGETS)]


def first_step(engine: Engine) -> FloatArray:
    return engine.start(SOURCES).distribution(np.arange(4), np.full(4, BOS_ID))


def test_probabilities_are_averaged_with_their_weights() -> None:
    one, two = ToyEngine.random(1), ToyEngine.random(2)
    ensemble = EnsembleEngine([one, two], [3.0, 1.0])
    for both, first, second in zip(probabilities(ensemble), probabilities(one), probabilities(two), strict=True):
        np.testing.assert_allclose(both, 0.75 * first + 0.25 * second, rtol=ROUNDING)
    np.testing.assert_allclose(
        np.exp(first_step(ensemble)), 0.75 * np.exp(first_step(one)) + 0.25 * np.exp(first_step(two)), rtol=ROUNDING
    )


def test_what_comes_out_is_a_distribution() -> None:
    ensemble = EnsembleEngine([ToyEngine.random(seed) for seed in range(3)], [0.2, 5.0, 1.0])
    np.testing.assert_allclose(np.exp(first_step(ensemble)).sum(axis=1), 1, rtol=ROUNDING)
    assert (first_step(ensemble) <= 0).all()


def test_a_model_voting_with_itself_is_the_model() -> None:
    engine = ToyEngine.random(3)
    ensemble = EnsembleEngine([engine, engine, engine], [1.0, 0.3, 7.0])
    for ours, own in zip(ensemble.score(SOURCES, TARGETS), engine.score(SOURCES, TARGETS), strict=True):
        np.testing.assert_allclose(ours, own, atol=ROUNDING)


def test_a_model_without_a_vote_changes_nothing() -> None:
    one, two = ToyEngine.random(1), ToyEngine.random(2)
    np.testing.assert_array_equal(first_step(EnsembleEngine([one, two], [2.0, 0.0])), first_step(one))
    np.testing.assert_array_equal(first_step(EnsembleEngine([one, two], [0.0, 2.0])), first_step(two))


def test_only_the_ratio_of_the_weights_counts_however_large_or_small() -> None:
    engines = [ToyEngine.random(1), ToyEngine.random(2)]
    for weight in (1e308, 5e-324):
        assert EnsembleEngine(engines, [weight, weight]).weights == [0.5, 0.5]
    assert EnsembleEngine(engines, [1e-308, 1e308]).engines == engines[1:]  # the other would be 0 beside it


def test_the_order_of_the_models_does_not_matter() -> None:
    engines, weights = [ToyEngine.random(seed) for seed in range(3)], [1.0, 2.0, 4.0]
    forward, backward = EnsembleEngine(engines, weights), EnsembleEngine(engines[::-1], weights[::-1])
    np.testing.assert_allclose(first_step(forward), first_step(backward), atol=ROUNDING)


def test_what_is_tiny_in_all_models_keeps_its_digits_and_impossible_stays_so() -> None:
    engine = ToyEngine.random(0)
    ensemble = EnsembleEngine([engine, engine])
    tiny, impossible = np.float32(-300), np.float32(-math.inf)
    mean = ensemble.mean([np.array([tiny, impossible, impossible]), np.array([tiny, tiny, impossible])])
    np.testing.assert_allclose(mean, [-300, -300 - math.log(2), -math.inf], atol=1e-4)  # half a digit of float32 at 300


@given(seed=st.integers(0, 1000), k=st.integers(1, 5))
def test_a_step_proposes_the_best_of_the_distribution(seed: int, k: int) -> None:
    ensemble = EnsembleEngine([ToyEngine.random(seed), ToyEngine.random(seed + 1)])
    rows, ids = np.arange(4), np.full(4, BOS_ID)
    proposals = ensemble.start(SOURCES).step(rows, ids, k)
    expected = first_step(ensemble)
    order = np.argsort(-expected[:, N_CONTROL:], axis=1, kind="stable")[:, :k] + N_CONTROL
    np.testing.assert_array_equal(proposals.ids, order)
    np.testing.assert_array_equal(proposals.log_probs, np.take_along_axis(expected, order, axis=1))
    np.testing.assert_array_equal(proposals.eos_log_probs, expected[:, EOS_ID])


def test_of_equal_tokens_the_lower_id_comes_first() -> None:
    flat = ToyEngine(np.full((9, 7, 9, 9), np.log(1 / 9), dtype=np.float32))
    proposals = EnsembleEngine([flat, flat]).start([[4]]).step(np.array([0]), np.array([BOS_ID]), 3)
    assert proposals.ids.tolist() == [[4, 5, 6]]


def test_steps_follow_the_rows_of_every_model() -> None:
    one, two = ToyEngine.random(1), ToyEngine.random(2)
    ensemble = EnsembleEngine([one, two])
    session = ensemble.start([[4]])
    session.step(np.array([0]), np.array([BOS_ID]), 2)
    session.add([[5]])
    found = session.distribution(np.array([0, 1]), np.array([6, BOS_ID]))
    np.testing.assert_allclose(found[0, 7], ensemble.score([[4]], [[6, 7]])[0][1], atol=ROUNDING)
    np.testing.assert_allclose(found[1, 7], ensemble.score([[5]], [[7]])[0][0], atol=ROUNDING)


def test_attention_is_the_mean_of_the_models() -> None:
    one = ToyEngine.random(1)
    [weights] = EnsembleEngine([one, one], [1.0, 3.0]).cross_attention([[4, 5]], [[6]], -1)
    np.testing.assert_allclose(weights, one.cross_attention([[4, 5]], [[6]], -1)[0])


def test_lengths_are_those_that_every_model_can_do() -> None:
    models = [ToyEngine.random(0, max_sentence_tokens=limit) for limit in (None, 9, 12)]
    assert EnsembleEngine(models).max_sentence_tokens == 9
    assert EnsembleEngine(models[:1]).max_sentence_tokens is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "2 models vote, but 1 weights"),
        ([1.0, -1.0], "-1.0 is no weight"),
        ([1.0, math.nan], "nan is no weight"),
        ([1.0, math.inf], "inf is no weight"),
        ([0.0, 0.0], "all models of the ensemble have the weight 0"),
    ],
)
def test_wrong_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(DecodingError, match=message):
        EnsembleEngine([ToyEngine.random(0), ToyEngine.random(1)], weights)


def test_models_that_cannot_vote_together_are_refused() -> None:
    with pytest.raises(DecodingError, match="at least one model"):
        EnsembleEngine([])
    with pytest.raises(DecodingError, match="vocabularies of 9 and 8 entries"):
        EnsembleEngine([ToyEngine.random(0), ToyEngine.random(0, n_words=4)])
