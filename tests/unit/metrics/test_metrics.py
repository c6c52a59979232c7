"""Scores: equal to sacreBLEU's own, with a signature; unequal counts and empty references are refused."""

from __future__ import annotations

import math

import pytest
import sacrebleu

from transduce.base.errors import DataError
from transduce.metrics.bleu import bleu, chrf, looks_tokenized, needs_other_tokenizer
from transduce.metrics.perplexity import bits_per_character, measure_text, perplexity

HYPOTHESES = ["A dog runs over the green meadow.", "Two men stand in front of a house.", "The woman smiles."]
REFERENCES = ["A dog is running over a green meadow.", "Two men stand in front of the house.", "The woman smiles."]
ROUNDING = 1e-9  # the same float64 numbers, added in another order


@pytest.mark.parametrize("lowercase", [False, True])
def test_bleu_is_sacrebleus(lowercase: bool) -> None:
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], lowercase=lowercase)
    assert bleu(HYPOTHESES, REFERENCES, lowercase=lowercase).value == pytest.approx(expected.score, abs=ROUNDING)


def test_chrf_is_sacrebleus() -> None:
    expected = sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert chrf(HYPOTHESES, REFERENCES).value == pytest.approx(expected, abs=ROUNDING)


def test_the_signature_says_what_changes_the_score() -> None:
    signature = bleu(HYPOTHESES, REFERENCES).signature
    for part in ("nrefs:1", "case:mixed", "tok:13a", "smooth:exp", "version:"):
        assert part in signature
    assert "case:lc" in bleu(HYPOTHESES, REFERENCES, lowercase=True).signature
    assert "tok:zh" in bleu(HYPOTHESES, REFERENCES, tokenize="zh").signature


def test_unequal_counts_are_refused_with_both_counts() -> None:
    for score in (bleu, chrf):
        with pytest.raises(DataError, match="2 hypotheses and 3 references"):
            score(HYPOTHESES[:2], REFERENCES)
        with pytest.raises(DataError, match="3 hypotheses and 2 references"):
            score(HYPOTHESES, REFERENCES[:2])
        with pytest.raises(DataError, match="nothing to score"):
            score([], [])
        with pytest.raises(DataError, match="nothing to score against"):
            score(HYPOTHESES)


def test_an_empty_reference_is_refused_with_its_line() -> None:
    with pytest.raises(DataError, match="reference 2 of 3 is empty"):
        bleu(HYPOTHESES, ["a", " ", "c"])


def test_an_empty_hypothesis_is_scored() -> None:
    assert 0 < bleu(["", *HYPOTHESES[1:]], REFERENCES).value < bleu(HYPOTHESES, REFERENCES).value


def test_hints_about_tokenized_text_and_text_without_spaces() -> None:
    assert looks_tokenized(["Ein Hund läuft .", "Wer ist da ?"])
    assert not looks_tokenized(["Ein Hund läuft.", "Wer ist da?"])
    assert needs_other_tokenizer(["今天天气很好。", "猫が好きです。"])
    assert not needs_other_tokenizer(["Das Wetter ist gut.", "날씨가 좋다."])
    assert not needs_other_tokenizer([])


def test_perplexity_of_a_uniform_model_is_its_vocabulary() -> None:
    assert perplexity(7 * math.log(37_000), 7) == pytest.approx(37_000)
    assert perplexity(1e6, 1) == math.inf
    with pytest.raises(DataError):
        perplexity(0.0, 0)


def test_the_same_text_has_a_perplexity_per_word_and_bits_per_character() -> None:
    size = measure_text(["ein Hund läuft", "ja"])
    assert (size.n_words, size.n_characters) == (6, 18)  # 3 + 1 and 1 + 1 words; 14 + 1 and 2 + 1 characters
    nll_nats = 36 * math.log(2)  # 36 bits: 2 a character, 6 a word
    assert bits_per_character(nll_nats, size.n_characters) == pytest.approx(2)
    assert perplexity(nll_nats, size.n_words) == pytest.approx(2**6)
    with pytest.raises(DataError):
        bits_per_character(0.0, 0)
