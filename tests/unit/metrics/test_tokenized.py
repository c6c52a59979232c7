"""Tokenized BLEU: the tokens of the Moses scripts on real text, and BLEU as multi-bleu counts it."""

from __future__ import annotations

import pytest

from tests.shared import data_file
from transduce.base.files import read_lines
from transduce.metrics.tokenized import moses_tokenize, tokenized_bleu


@pytest.mark.parametrize("language", ["de", "en", "cs"])
def test_tokens_are_those_of_the_moses_scripts(language: str) -> None:
    raw = list(read_lines(data_file(f"multi30k/test_2016_flickr.{language}.gz")))
    expected = list(read_lines(data_file(f"tokenizer-cases/moses/multi30k.test_2016_flickr.lc.norm.tok.{language}.gz")))
    assert moses_tokenize(raw, language) == expected


def test_case_does_not_count_and_the_signature_says_so() -> None:
    score = tokenized_bleu(["Ein Hund läuft über die Wiese."], ["ein hund läuft über die wiese ."], language="de")
    assert score.value == 100.0
    assert "case:lc" in score.signature
    assert "tok:moses-de" in score.signature
