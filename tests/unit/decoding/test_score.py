from __future__ import annotations

import numpy as np
import pytest

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings

SOURCES = [[4], [5, 4], [6, 4, 4], []]


def test_scores_come_in_order_whatever_the_batches() -> None:
    engine = ToyEngine.random(1)
    targets = [[4, 5], [], [6, 6, 6, 7], [8]]
    for batch_tokens in (1, 7, 1000):
        scores = score_targets(engine, SOURCES, targets, batch_tokens=batch_tokens)
        assert [score.n_tokens for score in scores] == [3, 1, 5, 2]
        for source, target, score in zip(SOURCES, targets, scores, strict=True):
            np.testing.assert_array_equal(score.token_log_probs, engine.token_log_probs(source, target))
            assert score.log_prob == pytest.approx(engine.log_prob(source, target))


def test_score_of_a_hypothesis_is_its_own() -> None:
    engine = ToyEngine.random(2)
    found = beam_search(engine, SOURCES, DecodeSettings(max_extra_tokens=3))
    scores = score_targets(engine, SOURCES, [h[0].ids for h in found], batch_tokens=100)
    # Both are sums in float64 of the same float32 numbers.
    assert [s.log_prob for s in scores] == pytest.approx([h[0].log_prob for h in found], abs=1e-9)


def test_unequal_counts_and_long_pairs_are_refused() -> None:
    with pytest.raises(DecodingError, match="4 sources but 1 targets"):
        score_targets(ToyEngine.random(0), SOURCES, [[4]], batch_tokens=100)
    with pytest.raises(DecodingError, match="pair 2 has a side of 3 tokens"):
        score_targets(ToyEngine.random(0, max_sentence_tokens=2), [[4], [4]], [[4], [4, 4, 4]], batch_tokens=100)
