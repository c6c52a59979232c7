"""Counting n-grams: by hand, and as counters count them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.metrics import ngrams
from transduce.metrics.ngrams import character_tokens, count_matches, word_tokens

texts = st.text(alphabet="ab\U0001f600", max_size=8)
sides = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), min_size=2, max_size=4)  # hypotheses, references
)


def test_a_word_matches_as_often_as_one_reference_has_it() -> None:
    hyp, one, other = word_tokens([["the"] * 7, ["a"]], [["the", "cat"], ["b"]], [["the", "the", "mat"], ["a"]])
    assert count_matches(hyp, [one, other], 2).tolist() == [[2, 1], [1, 0]]


def test_ngrams_do_not_reach_over_the_end_of_a_sentence() -> None:
    hyp, ref = word_tokens([["a"], ["b"]], [["a", "b"], ["a", "b"]])
    assert count_matches(hyp, [ref], 2).tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(("limit", "block"), [(2**62, 4096), (64, 3), (2**62, 1)])
@given(sides=sides)
def test_matches_are_those_of_counters_also_with_small_numbers_and_blocks(
    sides: list[list[str]], limit: int, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(ngrams, "_LIMIT", limit)
        patches.setattr(ngrams, "_BLOCK", block)
        ours, *theirs = character_tokens(*sides)
        found = count_matches(ours, theirs, 4)
    for order in range(1, 5):
        for sentence, row in enumerate(found):
            hyp, *refs = (_counter(side[sentence], order) for side in sides)
            most = Counter[str]()
            for ref in refs:
                most |= ref
            assert row[order - 1] == (hyp & most).total()


def test_words_and_characters_of_the_same_text_match_alike() -> None:
    sides = (["abcab", ""], ["cab", "x"])
    for make in (character_tokens, word_tokens):
        ours, theirs = make(*sides)
        np.testing.assert_array_equal(count_matches(ours, [theirs], 3), [[3, 2, 1], [0, 0, 0]])


def _counter(text: str, order: int) -> Counter[str]:
    return Counter(text[i : i + order] for i in range(len(text) - order + 1))
