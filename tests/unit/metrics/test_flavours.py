"""Flavours of BLEU: by hand where the text decides, and what they say about themselves."""

from __future__ import annotations

import math

import pytest

from transduce.base.errors import DataError
from transduce.metrics.flavours import all_flavours, paper_note, split_bleu_statistics, tokenized_bleu_statistics

OURS = ["Der 28-jährige Koch kam nach Hause."]
THEIRS = ["Der 29-jährige Koch kam nach Hause."]


def test_splitting_a_compound_gives_the_part_that_is_right() -> None:
    # Der 28-jährige Koch kam nach Hause . : 6 of 7 words; 4 of 6 pairs; 3 of 5 triples; 2 of 4 fours.
    tokenized = tokenized_bleu_statistics(OURS, THEIRS, language="de").score()
    assert tokenized.value == pytest.approx(100 * (6 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** 0.25)
    # Der 28 ##AT##-##AT## jährige Koch kam nach Hause . : 8 of 9, 6 of 8, 5 of 7, 4 of 6.
    split = split_bleu_statistics(OURS, THEIRS, language="de").score()
    assert split.value == pytest.approx(100 * (8 / 9 * 6 / 8 * 5 / 7 * 4 / 6) ** 0.25)
    assert "tok:moses-de+atat" in split.signature


def test_the_script_makes_quotation_marks_plain_in_the_output_only() -> None:
    plain, english = ['Er sagt "ja" zu ihr.'], ["Er sagt “ja” zu ihr."]
    assert split_bleu_statistics(english, plain, language="de").score().value == 100.0
    assert split_bleu_statistics(plain, english, language="de").score().value < 100.0


def test_lowercasing_as_the_script_does_it_leaves_umlauts() -> None:
    scores = {
        score.name: score for score in all_flavours(["ÄPFEL SIND SEHR GUT."], ["äpfel sind sehr gut."], language="de")
    }
    assert scores["BLEU lc"].value == 100.0
    assert scores["tokenized BLEU"].value == 0.0
    # Ä is not ä for multi-bleu -lc: 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours.
    assert scores["tokenized BLEU lc"].value == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert scores["tokenized BLEU norm lc"].value == 100.0


def test_each_flavour_has_a_signature_of_its_own() -> None:
    scores = all_flavours(OURS, THEIRS, THEIRS, language="de")
    assert len({score.signature for score in scores}) == len({score.name for score in scores}) == len(scores)
    assert all(score.signature.startswith("nrefs:2|") and "version:" in score.signature for score in scores)


def test_no_smoothing_where_multi_bleu_has_none() -> None:
    scores = {score.name: score.value for score in all_flavours(["ein Hund"], ["ein Hund"], language="de")}
    assert scores["tokenized BLEU"] == 0.0  # there is no n-gram of four words
    scores = {score.name: score.value for score in all_flavours(["a b c d"], ["a b x d"], language="en")}
    assert scores["tokenized BLEU"] == 0.0
    assert scores["BLEU"] == pytest.approx(100 * math.prod([3 / 4, 1 / 3, 1 / 2 / 2, 1 / 4 / 1]) ** 0.25)


def test_text_without_spaces_has_the_flavours_that_can_cut_it() -> None:
    scores = all_flavours(["今天天气很好。"], ["今天天气真好。"], language="zh")
    assert [score.name for score in scores] == ["BLEU", "BLEU lc", "chrF2", "chrF2++"]
    assert "tok:zh" in scores[0].signature


def test_shifted_files_are_refused() -> None:
    with pytest.raises(DataError, match="1 hypotheses and 2 references in set 2 of 2"):
        all_flavours(OURS, THEIRS, THEIRS * 2, language="de")
    with pytest.raises(DataError, match="reference 1 of 1 in set 2 of 2 is empty"):
        all_flavours(OURS, THEIRS, [" "], language="de")


def test_the_paper_has_a_flavour_for_each_of_its_pairs() -> None:
    assert "are split BLEU" in paper_note("de-AT")
    assert "are tokenized BLEU" in paper_note("fr")
    assert "split BLEU for English-German" in paper_note("cs")
