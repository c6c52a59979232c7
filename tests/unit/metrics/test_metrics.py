"""Scores: equal to sacreBLEU's own, with a signature; unequal counts and empty references are refused."""

from __future__ import annotations

import math

import pytest
import sacrebleu

from transduce.base.errors import DataError
from transduce.metrics.bleu import bleu, chrf, looks_tokenized, needs_other_tokenizer
from transduce.metrics.perplexity import perplexity

HYPOTHESES = ["A dog runs over the green meadow.", "Two men stand in front of a house.", "The woman smiles."]
REFERENCES = ["A dog is running over a green meadow.", "Two men stand in front of the house.", "The woman smiles."]


@pytest.mark.parametrize("lowercase", [False, True])
def test_bleu_is_sacrebleus(lowercase: bool) -> None:
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], lowercase=lowercase)
    assert bleu(HYPOTHESES, REFERENCES, lowercase=lowercase).value == expected.score


def test_chrf_is_sacrebleus() -> None:
    assert chrf(HYPOTHESES, REFERENCES).value == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score


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
