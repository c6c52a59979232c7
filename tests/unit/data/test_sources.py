from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.data.corpora import CATALOG
from transduce.data.languages import Languages, corpus_languages
from transduce.data.settings import DataSettings
from transduce.data.sources import NamedCorpus, PairsFile, ParallelFiles, check_sources, find_sources
from transduce.text.pairs import SentencePair

EN_DE, UNKNOWN = Languages("en", "de"), Languages(None, None)


def test_files_come_in_the_order_of_the_settings() -> None:
    settings = DataSettings(train_src=("a.en", "b.en"), train_tgt=("a.de", "b.de"), train=("c.tsv",), dev=("d.jsonl",))
    assert find_sources(settings, "train") == [
        ParallelFiles(Path("a.en"), Path("a.de")),
        ParallelFiles(Path("b.en"), Path("b.de")),
        PairsFile(Path("c.tsv"), EN_DE),
    ]
    assert find_sources(settings, "dev") == [PairsFile(Path("d.jsonl"), EN_DE)]
    assert find_sources(settings, "test") == []


def test_files_stand_in_for_a_part_of_a_corpus() -> None:
    settings = DataSettings(corpus="phrasebook", test=("mine.tsv",))
    assert find_sources(settings, "train") == [NamedCorpus("phrasebook", "train")]
    assert find_sources(settings, "dev") == [NamedCorpus("phrasebook", "dev")]
    assert find_sources(settings, "test") == [PairsFile(Path("mine.tsv"), EN_DE)]


def test_unknown_corpus() -> None:
    with pytest.raises(DataError, match="there is no corpus 'multi3k'"):
        find_sources(DataSettings(corpus="multi3k"), "train")


def test_fetched_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSDUCE_CORPORA", str(tmp_path))
    corpus = next(corpus for corpus in CATALOG.values() if "train" in corpus.parts)
    settings = DataSettings(corpus=corpus.name)
    with pytest.raises(DataError, match=f"transduce corpora get {corpus.name}"):
        find_sources(settings, "train")
    files = [tmp_path / corpus.name / "text" / f"train.{language}" for language in (corpus.src_lang, corpus.tgt_lang)]
    files[0].parent.mkdir(parents=True)
    for file in files:
        file.write_text("a\n")
    assert find_sources(settings, "train") == [ParallelFiles(*files)]


@pytest.mark.parametrize("corpus", ["phrasebook", *CATALOG])
def test_corpus_in_other_languages(corpus: str) -> None:
    known = corpus_languages(corpus)
    assert known is not None
    with pytest.raises(DataError, match=f"'{corpus}' goes from {known}, and .* say from cy to {known.tgt}"):
        find_sources(DataSettings(corpus=corpus, src_lang="cy"), "train")


@pytest.mark.parametrize("name", ["m.tmx", "m.xlf", "m.po.gz", "M.PO"])
def test_files_that_name_their_languages_need_them_said(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    source = PairsFile(tmp_path / name, Languages("en", None))
    with pytest.raises(DataError, match=r"set data\.tgt_lang \(for example --set data\.tgt_lang=fr\)"):
        source.check()
    with pytest.raises(DataError, match=r"set data\.src_lang and data\.tgt_lang"):
        PairsFile(tmp_path / name, UNKNOWN).check()
    PairsFile(tmp_path / name, EN_DE).check()


def test_json_lines_need_languages_only_for_keys_that_are_languages(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text('{"src": "one", "tgt": "un"}\n{"en": "two", "fr": "deux"}\n')
    pairs = PairsFile(file, UNKNOWN).read(Counter())
    assert next(pairs) == SentencePair("one", "un")
    with pytest.raises(DataError, match=r"line 2: .* set data\.src_lang and data\.tgt_lang to the keys"):
        next(pairs)
    assert list(PairsFile(file, Languages("en", "fr")).read(Counter()))[1] == SentencePair("two", "deux")


def test_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.en").write_text("one\ntwo\n")
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    (tmp_path / "b.tsv").write_text("three\tdrei\n")
    files, both = ParallelFiles(tmp_path / "a.en", tmp_path / "a.de"), PairsFile(tmp_path / "b.tsv", UNKNOWN)
    check_sources([files, both])
    assert list(files.read(Counter())) == [SentencePair("one", "eins"), SentencePair("two", "zwei")]
    assert list(both.read(Counter())) == [SentencePair("three", "drei")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ein\nzwo\n")))
    assert list(ParallelFiles(tmp_path / "a.en", Path("-")).read(Counter())) == [
        SentencePair("one", "ein"),
        SentencePair("two", "zwo"),
    ]


def test_reports_call_standard_input_by_its_name() -> None:
    assert PairsFile(Path("-"), UNKNOWN).name == "standard input"
    assert ParallelFiles(Path("a.en"), Path("-")).name == "a.en + standard input"


def test_every_source_is_checked(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    good = ParallelFiles(tmp_path / "a", tmp_path / "a")
    with pytest.raises(DataError, match=r"b\.de: no such file"):
        check_sources([good, ParallelFiles(tmp_path / "a", tmp_path / "b.de")])
    with pytest.raises(DataError, match=r"b\.tsv: no such file"):
        check_sources([good, PairsFile(tmp_path / "b.tsv", UNKNOWN)])


def test_standard_input_is_wanted_twice(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    stdin = ParallelFiles(Path("-"), tmp_path / "a")
    check_sources([stdin])
    with pytest.raises(DataError, match="standard input can be read once only"):
        check_sources([stdin, stdin])
