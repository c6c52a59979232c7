from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.data.corpora import CATALOG
from transduce.data.settings import DataSettings
from transduce.data.sources import NamedCorpus, PairsFile, ParallelFiles, check_sources, find_sources
from transduce.text.pairs import SentencePair


def test_files_come_in_the_order_of_the_settings() -> None:
    settings = DataSettings(train_src=("a.en", "b.en"), train_tgt=("a.de", "b.de"), train=("c.tsv",), dev=("d.jsonl",))
    assert find_sources(settings, "train") == [
        ParallelFiles(Path("a.en"), Path("a.de")),
        ParallelFiles(Path("b.en"), Path("b.de")),
        PairsFile(Path("c.tsv"), "en", "de"),
    ]
    assert find_sources(settings, "dev") == [PairsFile(Path("d.jsonl"), "en", "de")]
    assert find_sources(settings, "test") == []


def test_files_stand_in_for_a_part_of_a_corpus() -> None:
    settings = DataSettings(corpus="phrasebook", test=("mine.tsv",))
    assert find_sources(settings, "train") == [NamedCorpus("phrasebook", "train")]
    assert find_sources(settings, "dev") == [NamedCorpus("phrasebook", "dev")]
    assert find_sources(settings, "test") == [PairsFile(Path("mine.tsv"), "en", "de")]


def test_unknown_corpus() -> None:
    with pytest.raises(DataError, match="there is no corpus 'multi3k'"):
        find_sources(DataSettings(corpus="multi3k"), "train")


def test_fetched_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSDUCE_CORPORA", str(tmp_path))
    corpus = next(corpus for corpus in CATALOG.values() if "train" in corpus.parts)
    settings = DataSettings(corpus=corpus.name, src_lang=corpus.src_lang, tgt_lang=corpus.tgt_lang)
    with pytest.raises(DataError, match=f"transduce corpora get {corpus.name}"):
        find_sources(settings, "train")
    files = [tmp_path / corpus.name / "text" / f"train.{language}" for language in (corpus.src_lang, corpus.tgt_lang)]
    files[0].parent.mkdir(parents=True)
    for file in files:
        file.write_text("a\n")
    assert find_sources(settings, "train") == [ParallelFiles(*files)]


@pytest.mark.parametrize("corpus", ["phrasebook", *CATALOG])
def test_corpus_in_other_languages(corpus: str) -> None:
    with pytest.raises(DataError, match=r"data\.src_lang and data\.tgt_lang say from cy to de"):
        find_sources(DataSettings(corpus=corpus, src_lang="cy"), "train")


def test_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.en").write_text("one\ntwo\n")
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    (tmp_path / "b.tsv").write_text("three\tdrei\n")
    files, both = ParallelFiles(tmp_path / "a.en", tmp_path / "a.de"), PairsFile(tmp_path / "b.tsv", "en", "de")
    check_sources([files, both])
    assert list(files.read()) == [SentencePair("one", "eins"), SentencePair("two", "zwei")]
    assert list(both.read()) == [SentencePair("three", "drei")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ein\nzwo\n")))
    assert list(ParallelFiles(tmp_path / "a.en", Path("-")).read()) == [
        SentencePair("one", "ein"),
        SentencePair("two", "zwo"),
    ]


def test_every_source_is_checked(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    good = ParallelFiles(tmp_path / "a", tmp_path / "a")
    with pytest.raises(DataError, match=r"b\.de: no such file"):
        check_sources([good, ParallelFiles(tmp_path / "a", tmp_path / "b.de")])
    with pytest.raises(DataError, match=r"b\.tsv: no such file"):
        check_sources([good, PairsFile(tmp_path / "b.tsv", "en", "de")])


def test_standard_input_is_wanted_twice(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    stdin = ParallelFiles(Path("-"), tmp_path / "a")
    check_sources([stdin])
    with pytest.raises(DataError, match="standard input can be read once only"):
        check_sources([stdin, stdin])
