"""Sentence scores against those of sacreBLEU."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from transduce.metrics.sentence import bleu_matrix, chrf_matrix, tokenize_13a

TEXTS = [
    "The cat sat on the mat.",
    "the cat sat on a mat .",
    "It's 1,000.5 km, isn't it?",
    "no",
    "",
    "   ",
    "a",
    "Preis: 3-4 € &quot;netto&quot;",
    "今天天气很好。",
    "Привет, мир!",
]
SUM_ERROR = 1e-9  # the same float64 numbers, added in another order

texts = st.lists(st.text(alphabet="ab .,-1'&é\u3042\n\xa0", max_size=24), min_size=1, max_size=4)


@given(hyps=texts, refs=texts)
@example(hyps=TEXTS, refs=TEXTS)
@hypothesis_settings(max_examples=150, deadline=None)
def test_every_pair_scores_as_in_sacrebleu(hyps: list[str], refs: list[str]) -> None:
    chrf = [[sacrebleu.sentence_chrf(hyp, [ref]).score for ref in refs] for hyp in hyps]
    np.testing.assert_allclose(chrf_matrix(hyps, refs), chrf, atol=SUM_ERROR)
    bleu = [[sacrebleu.sentence_bleu(hyp, [ref]).score for ref in refs] for hyp in hyps]
    np.testing.assert_allclose(bleu_matrix(hyps, refs), bleu, atol=SUM_ERROR)


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_13a(text: str) -> None:
    assert tokenize_13a(text) == sacrebleu.BLEU()._preprocess_segment(text).split()


def test_nothing_against_nothing_is_an_empty_table() -> None:
    assert chrf_matrix([], ["a"]).shape == (0, 1)
    assert bleu_matrix(["a"], []).shape == (1, 0)
