"""Languages that nobody wrote down: from the corpus, or from what file names end in."""

from __future__ import annotations

import pytest

from transduce.data.corpora import CATALOG
from transduce.data.languages import Languages, corpus_languages, find_languages, language_of_file
from transduce.data.settings import DataSettings


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("my.fr", "fr"),
        ("data/train.tok.de.gz", "de"),
        ("train.hsb.zst", "hsb"),
        ("train.de-en.en", "en"),
        ("a.pt-BR", "pt-BR"),
        ("a.zh_Hant", "zh-Hant"),
        ("a.sr-Latn-RS", "sr-Latn-RS"),
        ("a.es-419", "es-419"),
    ],
)
def test_a_file_name_may_end_in_a_language(name: str, language: str) -> None:
    assert language_of_file(name) == language


@pytest.mark.parametrize(
    "name", ["my.txt", "a.src", "a.tgt.gz", "fr", ".fr", "-", "a.gz", "a.english", "a.de-en", "d.fr/x"]
)
def test_what_is_no_language_is_none(name: str) -> None:
    assert language_of_file(name) is None


def test_the_settings_come_first_then_the_corpus_then_the_files() -> None:
    assert find_languages(DataSettings()) == (None, None)
    assert find_languages(DataSettings(train_src=("a.fr",), train_tgt=("a.txt",))) == ("fr", None)
    assert find_languages(DataSettings(train_src=("a.fr",), train_tgt=("a.de",), tgt_lang="de-CH")) == ("fr", "de-CH")
    assert find_languages(DataSettings(corpus="phrasebook", test_src=("a.fr",), test_tgt=("a.cs",))) == ("en", "de")
    assert find_languages(DataSettings(train=("m.tsv",), dev_src=("d.fr",), dev_tgt=("d.cs",))) == ("fr", "cs")


def test_files_that_do_not_agree_say_nothing() -> None:
    assert find_languages(DataSettings(train_src=("a.fr", "b.de"), train_tgt=("a.en", "b.txt"))) == (None, "en")


def test_every_corpus_knows_its_languages() -> None:
    for name, corpus in CATALOG.items():
        assert corpus_languages(name) == (corpus.src_lang, corpus.tgt_lang)
    assert corpus_languages("no such corpus") is None


def test_languages_in_words() -> None:
    assert str(Languages("en", "de")) == "en to de"
    assert str(Languages(None, "de")) == "unknown to de"
