from __future__ import annotations

import pytest

from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import letter_pair
from transduce.base.errors import DecodingError
from transduce.decoding.penalties import length_penalty
from transduce.decoding.rescore import ListedText, RescoreWeights, rescore_lists
from transduce.decoding.settings import DecodeSettings

ENGINE = ToyEngine.random(4)
PAIR = letter_pair()
LISTS = [
    ("ab", [ListedText("V", -1.0), ListedText("WW", -2.0), ListedText("", -3.0)]),
    ("", [ListedText("", 0.0), ListedText("", 0.0)]),
    ("c", [ListedText("X", -1.0), ListedText("YZ", -1.5)]),
]


def own_score(source: str, text: str, alpha: float) -> float:
    ids = PAIR.tgt.encode(text)
    return ENGINE.log_prob(PAIR.src.encode(source), ids) / length_penalty(len(ids) + 1, alpha)


@pytest.mark.parametrize("window_lines", [1, 4, 100])
@pytest.mark.parametrize("weights", [RescoreWeights(), RescoreWeights(0.5, 2.0)])
def test_lists_are_ranked_by_the_weighted_sum(window_lines: int, weights: RescoreWeights) -> None:
    settings = DecodeSettings(window_lines=window_lines, length_alpha=0.8)
    found = list(rescore_lists(ENGINE, PAIR, LISTS, settings, weights))
    assert len(found) == 3
    for (source, texts), ranked in list(zip(LISTS, found, strict=True))[::2]:
        for item in ranked:
            listed = texts[item.place]
            expected = own_score(source, listed.text, 0.8)
            assert item.text == listed.text
            assert item.model_score == pytest.approx(expected, abs=1e-5)
            assert item.score == pytest.approx(weights.model * expected + weights.old * listed.score, abs=1e-5)
        assert [item.score for item in ranked] == sorted((item.score for item in ranked), reverse=True)
        assert sorted(item.place for item in ranked) == list(range(len(texts)))


def test_without_a_weight_for_the_model_the_order_stays() -> None:
    found = rescore_lists(ENGINE, PAIR, LISTS, DecodeSettings(), RescoreWeights(0.0, 1.0))
    assert [[item.place for item in ranked] for ranked in found] == [[0, 1, 2], [0, 1], [0, 1]]


def test_a_list_that_the_model_cannot_read_stays_as_it_is() -> None:
    _, blank, _ = rescore_lists(ENGINE, PAIR, LISTS, DecodeSettings(), RescoreWeights())
    assert [(item.place, item.score, item.model_score) for item in blank] == [(0, 0.0, None), (1, 0.0, None)]
    long = [("ab", [ListedText("V", -2.0), ListedText("VWX", -1.0)])]
    [ranked] = rescore_lists(ENGINE, PAIR, long, DecodeSettings(max_src_tokens=2), RescoreWeights())
    assert [(item.place, item.score, item.model_score) for item in ranked] == [(0, -2.0, None), (1, -1.0, None)]


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf"), 1e300])
def test_weights_are_numbers_to_calculate_with(weight: float) -> None:
    with pytest.raises(DecodingError, match="is no weight of a score"):
        RescoreWeights(model=weight)
    with pytest.raises(DecodingError, match="is no weight of a score"):
        RescoreWeights(old=weight)


def test_a_score_is_never_minus_zero() -> None:
    [ranked] = rescore_lists(ENGINE, PAIR, LISTS[:1], DecodeSettings(), RescoreWeights(0.0, 0.0))
    assert [str(item.score) for item in ranked] == ["0.0"] * 3
