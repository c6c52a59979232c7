from __future__ import annotations

from collections.abc import Sequence

import pytest
import sacrebleu

from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.risk import least_risk

TEXTS = ["the cat sat", "a cat sat", "the cat sat down", "dogs bark"]


def decode(ids: Sequence[int]) -> str:
    return TEXTS[ids[0]]


def sample(which: int, log_prob: float = -1.0, at_limit: bool = False) -> Hypothesis:
    return Hypothesis((which,), log_prob, log_prob, at_limit)


@pytest.mark.parametrize("metric", ["chrf", "bleu"])
def test_each_sample_is_scored_against_all_others(metric: str) -> None:
    drawn = [0, 1, 0, 2, 3, 0]
    score = sacrebleu.sentence_chrf if metric == "chrf" else sacrebleu.sentence_bleu
    expected = {}
    for i, which in enumerate(drawn):
        others = [TEXTS[other] for j, other in enumerate(drawn) if j != i]
        expected[which] = sum(score(TEXTS[which], [other]).score for other in others) / len(others)
    found = least_risk([sample(which) for which in drawn], decode, "chrf" if metric == "chrf" else "bleu", 4)
    assert [h.ids[0] for h in found] == sorted(expected, key=lambda which: -expected[which])
    assert [h.score for h in found] == pytest.approx(sorted(expected.values(), reverse=True))
    assert found[0].ids == (0,)


def test_most_probable_ids_stand_for_a_text() -> None:
    samples = [sample(0, -3.0), Hypothesis((0, 0), -2.0, -1.0, at_limit=True), sample(3, -1.0)]
    dogs = sacrebleu.sentence_chrf(TEXTS[0], [TEXTS[3]]).score
    [best, other] = least_risk(samples, decode, "chrf", 3)
    assert (best.ids, best.log_prob, best.at_limit) == ((0, 0), -2.0, True)
    assert best.score == pytest.approx((100 + dogs) / 2)  # its double and the dogs
    assert other.ids == (3,)


def test_equal_agreement_goes_to_the_more_probable_then_to_the_first() -> None:
    found = least_risk([sample(0, -2.0), sample(3, -1.0)], decode, "bleu", 2)
    assert [h.ids[0] for h in found] == [3, 0]
    found = least_risk([sample(3), sample(0)], decode, "bleu", 1)
    assert [h.ids[0] for h in found] == [3]
