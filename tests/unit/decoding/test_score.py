from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import letter_pair
from transduce.base.errors import DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.score import ScoreTotal, longest_side, score_pairs, score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.text.segments import SentencePair

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


def test_texts_are_scored_in_order_whatever_the_windows() -> None:
    engine, tokenizers = ToyEngine.random(1), letter_pair()
    pairs = [SentencePair("a", "VW"), SentencePair("ab", ""), SentencePair("c", "X"), SentencePair("b", "XYZ")]
    for window_lines in (1, 3, 100):
        found = list(score_pairs(engine, tokenizers, iter(pairs), DecodeSettings(window_lines=window_lines)))
        for pair, item in zip(pairs, found, strict=True):
            source, target = tokenizers.src.encode(pair.src), tokenizers.tgt.encode(pair.tgt)
            assert item.score is not None and item.skipped is None
            assert item.ids == tuple(target)
            assert item.pieces == (*pair.tgt, "</s>")
            np.testing.assert_array_equal(item.score.token_log_probs, engine.token_log_probs(source, target))
            assert item.score.perplexity == pytest.approx(np.exp(-engine.log_prob(source, target) / (len(target) + 1)))


def test_pairs_are_read_as_they_are_needed() -> None:
    def endless() -> Iterator[SentencePair]:
        while True:
            yield SentencePair("a", "V")

    found = score_pairs(ToyEngine.random(1), letter_pair(), endless(), DecodeSettings(window_lines=2))
    assert [next(found).ids for _ in range(5)] == [(4,)] * 5


def test_what_cannot_be_scored_is_passed_over_and_counted() -> None:
    pairs = [SentencePair("", "V"), SentencePair(" \u200b", ""), SentencePair("abc", "V"), SentencePair("a", "VWX")]
    pairs += [SentencePair("a", " "), SentencePair("ab", "VW")]
    found = list(score_pairs(ToyEngine.random(1), letter_pair(), pairs, DecodeSettings(max_src_tokens=2)))
    assert [item.skipped for item in found] == ["blank", "blank", "too long", "too long", None, None]
    assert [None if item.score is None else item.score.n_tokens for item in found] == [None] * 4 + [1, 3]
    total = ScoreTotal()
    for item in found:
        total.add(item)
    assert (total.n_pairs, total.n_tokens, total.n_blank, total.n_long) == (2, 4, 2, 2)


def test_positions_of_the_model_limit_the_sides() -> None:
    engine = ToyEngine.random(1, max_sentence_tokens=3)
    assert longest_side(engine, DecodeSettings(max_src_tokens=5)) == 3
    assert longest_side(engine, DecodeSettings(max_src_tokens=2)) == 2


def test_nothing_scored_has_no_perplexity() -> None:
    assert np.isnan(ScoreTotal().perplexity)
