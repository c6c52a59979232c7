"""Tokenized text: that of the Moses scripts on real text, and BLEU as multi-bleu counts it."""

from __future__ import annotations

import pytest

from tests.shared import data_file
from transduce.base.files import read_lines
from transduce.metrics.tokenized import (
    moses_knows,
    moses_tokenize,
    multi_bleu_statistics,
    normalize_punctuation,
    replace_unicode_punctuation,
    split_compounds,
)


@pytest.mark.parametrize("language", ["de", "en", "cs", "fr"])
def test_tokens_are_those_of_the_moses_scripts(language: str) -> None:
    folder = "tokenizer-cases/moses"
    raw = list(read_lines(data_file(f"multi30k/test_2016_flickr.{language}.gz")))
    normalized = normalize_punctuation([text.lower() for text in raw], language)
    expected = list(read_lines(data_file(f"{folder}/multi30k.test_2016_flickr.lc.norm.tok.{language}.gz")))
    assert moses_tokenize(normalized, language) == expected
    edge = list(
        read_lines(data_file(f"{folder}/edge.txt"))
    )  # with Chinese, Japanese and Korean words, which stay whole
    assert moses_tokenize(edge, language) == list(read_lines(data_file(f"{folder}/edge.tok.{language}")))
    assert replace_unicode_punctuation(edge) == list(
        read_lines(data_file(f"{folder}/edge.replace-unicode-punctuation"))
    )


@pytest.mark.parametrize("language", ["de", "en", "fr"])
def test_punctuation_of_news_is_normalized_as_by_the_moses_script(language: str) -> None:
    raw = list(read_lines(data_file(f"wmt-newstest/newstest2013.{language}.gz")))[:1000]
    expected = list(read_lines(data_file(f"tokenizer-cases/moses/newstest2013-1000.norm.{language}.gz")))
    assert normalize_punctuation(raw, language) == expected


@pytest.mark.parametrize("language", ["de", "en", "fr"])
def test_tokens_of_news_are_those_of_the_moses_scripts(language: str) -> None:
    raw = list(read_lines(data_file(f"wmt-newstest/newstest2013.{language}.gz")))[:1000]
    expected = list(read_lines(data_file(f"tokenizer-cases/moses/newstest2013-1000.tok.{language}.gz")))
    assert moses_tokenize(raw, language) == expected


def test_a_region_does_not_change_the_language() -> None:
    text = ["L'homme dit: c'est l'été."]
    french = moses_tokenize(text, "fr")
    assert moses_tokenize(text, "fr_CA") == moses_tokenize(text, "fr-CA") == french != moses_tokenize(text, "en")
    assert moses_knows("fr_CA") and moses_knows("fr-CA") and not moses_knows("klingon")


def test_control_characters_are_not_white_space() -> None:
    assert moses_tokenize(["a\x1cb c"], "de") == ["ab c"]


def test_a_letter_takes_part_in_one_compound() -> None:
    assert split_compounds(["x-y-z"]) == ["x ##AT##-##AT## y-z"]
    assert split_compounds(["ab-cd-ef -g h- --"]) == ["ab ##AT##-##AT## cd ##AT##-##AT## ef -g h- --"]


def test_multi_bleu_reads_bytes() -> None:
    cased = multi_bleu_statistics(["É I J K L"], ["é i j k l"])
    assert cased.score().value == 0.0
    lowered = multi_bleu_statistics(["É I J K L"], ["é i j k l"], lowercase=True)
    assert lowered.counts.tolist() == [[5, 5, 4, 3, 2, 1, 5, 4, 3, 2]]
    assert "case:lc" in lowered.signature and "tok:none" in lowered.signature
    # A no-break space is no space.
    assert multi_bleu_statistics(["a\xa0b"], ["a b"]).counts[0, :3].tolist() == [1, 2, 0]
