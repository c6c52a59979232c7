from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.decoding.words import LetterTokenizer
from transduce.base.errors import BundleError, DecodingError
from transduce.decoding.confidence import (
    Calibration,
    area_under_curve,
    calibration_error,
    cross_validate,
    fit_calibration,
    label_words,
    read_calibration,
    word_confidence,
    word_probabilities,
)
from transduce.tokenizer.words import Words


def overconfident(n_words: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Words that are right with the square of their raw probability."""
    rng = np.random.default_rng(seed)
    raw = rng.uniform(size=n_words)
    return raw, rng.uniform(size=n_words) < raw**2


def test_a_word_is_as_probable_as_its_pieces_together() -> None:
    words = Words(["ab", "c"], [0, 0, 1])
    np.testing.assert_allclose(word_probabilities(words, np.log([0.5, 0.4, 0.3, 0.1]).tolist()), [0.2, 0.3])
    assert word_probabilities(Words([], []), [-1.0]).tolist() == []


def test_words_of_a_translation_get_their_confidence() -> None:
    calibration = Calibration(raw=(0.0, 1.0), right=(0.2, 0.8), n_words=100)
    tokenizer = LetterTokenizer("VWX ")
    found = word_confidence(tokenizer, tokenizer.encode("VW X"), np.log([0.5, 1, 1, 1, 0.1]).tolist(), calibration)
    assert [word for word, _ in found] == ["VW", "X"]
    assert [probability for _, probability in found] == pytest.approx([0.5, 0.8])


def test_each_occurrence_in_the_reference_counts_once_and_punctuation_around_words_does_not() -> None:
    assert label_words(["a", "a", "b"], "a c") == [True, False, False]
    assert label_words(["(Hund),", "und", "..."], "und Hund ...") == [True, True, True]
    assert label_words(["T-Shirt", "Tshirt", "hund"], "T-Shirt. Hund") == [True, False, False]


def test_the_fit_finds_the_share_of_right_words() -> None:
    raw, right = overconfident(20_000)
    at = np.linspace(0.1, 0.9, 9)
    # Each value rests on some hundreds of words, so that its standard error is about 0.02.
    np.testing.assert_allclose(fit_calibration(raw, right).apply(at), at**2, atol=0.08)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=300))
def test_more_probable_words_are_never_less_trusted_and_none_is_certain(words: list[tuple[float, bool]]) -> None:
    raw, right = np.array([p for p, _ in words]), np.array([r for _, r in words])
    fitted = fit_calibration(raw, right)
    grid = fitted.apply(np.linspace(0, 1, 101))
    assert (np.diff(grid) >= 0).all() and grid[0] > 0 and grid[-1] < 1
    assert list(fitted.raw) == sorted(fitted.raw) and fitted.n_words == len(words)


def test_violators_are_pooled() -> None:
    raw = np.repeat([0.1, 0.5, 0.9], 50)
    right = np.concatenate([np.arange(50) < 30, np.arange(50) < 10, np.arange(50) < 45])
    fitted = fit_calibration(raw, right)
    # Groups of 50, one right and one wrong word more in each: 31/52 and 11/52 stand in the wrong order, and are pooled.
    np.testing.assert_allclose(fitted.right, [21 / 52, 46 / 52])
    np.testing.assert_allclose(fitted.raw, [0.3, 0.9])


def test_no_words_cannot_be_fitted() -> None:
    with pytest.raises(DecodingError, match="no words to fit"):
        fit_calibration(np.empty(0), np.empty(0, dtype=bool))


def test_no_word_is_judged_by_its_own_sentence() -> None:
    raw, right = overconfident(600)
    sentence = np.arange(600) // 6
    found = cross_validate(raw, right, sentence, 10)
    turned = right.copy()
    turned[sentence % 10 == 3] ^= True  # other labels in a fold ...
    same = cross_validate(raw, turned, sentence, 10) == found
    assert same[sentence % 10 == 3].all()  # ... change nothing for it
    assert not same.all()


def test_calibration_error_is_the_mean_gap_of_the_bins() -> None:
    # Two bins: (0.2 + 0.4) / 2 against 1/2, and 0.9 against 1: gaps 0.2 and 0.1, weights 2/3 and 1/3.
    probabilities, right = np.array([0.2, 0.4, 0.9]), np.array([True, False, True])
    assert calibration_error(probabilities, right, n_bins=2) == pytest.approx((0.2 * 2 + 0.1) / 3)
    assert calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0


def test_calibration_lowers_the_error() -> None:
    raw, right = overconfident(3000)
    held_out = cross_validate(raw, right, np.arange(3000) // 10, 10)
    assert calibration_error(held_out, right) < 0.04 < 0.1 < calibration_error(raw, right)


def test_area_under_the_curve_counts_pairs() -> None:
    probabilities = np.array([0.1, 0.5, 0.5, 0.9])
    right = np.array([False, True, False, True])
    # Pairs of a right and a wrong word: 0.5 beats 0.1 and ties with 0.5, 0.9 beats both.
    assert area_under_curve(probabilities, right) == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert area_under_curve(probabilities, np.ones(4, dtype=bool)) is None


@pytest.mark.parametrize(
    "change",
    [{"format": "x"}, {"version": 2}, {"raw": [0.5, 0.1]}, {"right": [0.5]}, {"right": [0.1, 1.2]}, {"raw": []}],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    content = {"format": "transduce-confidence", "version": 1, "raw": [0.1, 0.9], "right": [0.2, 0.8], "n_words": 9}
    file = tmp_path / "confidence.json"
    file.write_text(json.dumps(content))
    assert read_calibration(file) == Calibration((0.1, 0.9), (0.2, 0.8), 9)
    file.write_text(json.dumps({**content, **change}))
    with pytest.raises(BundleError, match=r"confidence\.json: damaged"):
        read_calibration(file)
