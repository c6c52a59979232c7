from __future__ import annotations

import io
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.shared import case_file, data_file
from transduce.base.errors import DataError, TokenizerError, TransduceError
from transduce.base.files import read_lines
from transduce.base.settings import SettingsSource, read_toml, resolve
from transduce.data.sources import PARTS, PHRASEBOOK, find_sources
from transduce.data.store import TokenStore
from transduce.pipeline.prepare import prepare
from transduce.pipeline.prepare_progress import PrepareProgress
from transduce.pipeline.prepared import describe_inputs
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer import load_tokenizers

WORDS = ["red", "blue", "boat", "tea", "dog", "cat", "house", "river", "stone", "bread"]


def settings_of(data: Mapping[str, Any], **sections: Mapping[str, Any]) -> RunSettings:
    values = {"data": {"n_workers": 1, **data}, "tokenizer": {"vocab_size": 300}, **sections}
    return resolve(RunSettings, [SettingsSource("test", values)])


def write_lines(path: Path, lines: list[str]) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def sentences(n: int, prefix: str = "") -> list[str]:
    return [f"{prefix}{WORDS[i % 10]} {WORDS[i // 10 % 10]} {i}" for i in range(n)]


@pytest.fixture
def corpus(tmp_path: Path) -> dict[str, Any]:
    """60 training pairs and 5 dev pairs; test is to be held out."""
    return {
        "train_src": [write_lines(tmp_path / "train.en", sentences(60))],
        "train_tgt": [write_lines(tmp_path / "train.de", sentences(60, "Das ist "))],
        "dev_src": [write_lines(tmp_path / "dev.en", [f"new {s}" for s in sentences(5)])],
        "dev_tgt": [write_lines(tmp_path / "dev.de", sentences(5, "Neu ist "))],
    }


def texts_of(directory: Path, part: str) -> list[tuple[str, str]]:
    store, tokenizers = TokenStore.open(directory / part), load_tokenizers(directory / "tokenizer")
    store.check_tokenizers(tokenizers)
    return [
        (tokenizers.src.decode(store.src(i).tolist()), tokenizers.tgt.decode(store.tgt(i).tolist()))
        for i in range(len(store))
    ]


def bytes_of(directory: Path) -> dict[str, bytes]:
    """Everything but the report, which has times."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "report.json"]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_the_prepared_directory(corpus: dict[str, Any], tmp_path: Path) -> None:
    settings = settings_of(corpus)
    report = prepare(settings, tmp_path / "out")
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "dev",
        "report.json",
        "settings.toml",
        "test",
        "tokenizer",
        "train",
    ]
    assert resolve(RunSettings, [read_toml(out / "settings.toml")]) == settings
    train, dev, test = (texts_of(out, part) for part in ("train", "dev", "test"))
    assert len(test) == 3  # 5 % of 60
    pairs = list(zip(sentences(60), sentences(60, "Das ist "), strict=True))
    assert train == [pair for pair in pairs if pair not in test]
    assert [pair for pair in pairs if pair in test] == test
    assert [src for src, _ in dev] == [f"new {s}" for s in sentences(5)]
    for part, texts in (("dev", dev), ("test", test)):
        kept = zip(read_lines(out / part / "src.txt"), read_lines(out / part / "tgt.txt"), strict=True)
        assert list(kept) == texts
    assert not (out / "train" / "src.txt").exists()
    assert (report.train.n_pairs, report.dev.n_pairs, report.test.n_pairs) == (57, 5, 3)
    assert report.train.files[0].n_read == report.train.files[0].n_kept == 60
    assert report.test.files == ()
    assert report.train.n_src_tokens == sum(len(load_tokenizers(out / "tokenizer").src.encode(src)) for src, _ in train)
    assert report.joint_vocabulary
    assert report.text_bytes == sum(len(src.encode()) + len(tgt.encode()) for src, tgt in train)
    assert 0 <= report.padding_share < 1
    assert json.loads((out / "report.json").read_text())["train"]["n_pairs"] == 57


def test_report_in_words(corpus: dict[str, Any], tmp_path: Path) -> None:
    report = prepare(settings_of(corpus), tmp_path / "out")
    rows = dict(report.rows())
    name = f"{corpus['train_src'][0]} + {corpus['train_tgt'][0]}"
    assert rows["train input"] == f"{name}: 60 pairs read, 60 kept"
    assert rows["dev"].startswith("5 pairs, ")
    assert rows["test"].endswith("; held out of training")
    assert "MB/s" in rows["speed"]
    assert report.as_dict()["mb_per_s"] == report.mb_per_s
    json.dumps(report.as_dict())


def test_separate_vocabularies(corpus: dict[str, Any], tmp_path: Path) -> None:
    settings = settings_of(corpus, tokenizer={"vocab_size": 300, "joint": False}, model={"tie_embeddings": "decoder"})
    report = prepare(settings, tmp_path / "out")
    assert not report.joint_vocabulary
    assert "source ids" in dict(report.rows())["vocabulary"]
    assert len(texts_of(tmp_path / "out", "train")) == 57


@pytest.mark.parametrize("n_workers", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_number_of_workers_changes_nothing(tmp_path: Path, n_workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.data.parallel._MIN_ITEMS", 2)
    data = {
        "train_src": [write_lines(tmp_path / "train.en", sentences(9000))],
        "train_tgt": [write_lines(tmp_path / "train.de", sentences(9000, "Das ist "))],
    }
    prepare(settings_of(data), tmp_path / "one")
    prepare(settings_of(data | {"n_workers": n_workers}), tmp_path / "many")
    one, many = bytes_of(tmp_path / "one"), bytes_of(tmp_path / "many")
    assert one.pop("settings.toml") != many.pop("settings.toml")
    assert one == many


# What happens to pairs: cases B003, B021, B023, B025, B027.


def case_data(name: str) -> dict[str, Any]:
    return {"train_src": [str(case_file(f"{name}.src"))], "train_tgt": [str(case_file(f"{name}.tgt"))]}


def test_blank_sides_are_dropped_and_counted(tmp_path: Path) -> None:
    report = prepare(settings_of(case_data("B023"), tokenizer={"vocab_size": 260}), tmp_path / "out")
    assert [src.split()[0] + "/" + tgt.split()[0] for src, tgt in texts_of(tmp_path / "out", "train")] == [
        "p1/p1",
        "p5/p5",
        "p8/p8",
    ]
    assert report.train.files[0].dropped == {"blank": 5}
    assert dict(report.rows())["train input"].endswith(": 8 pairs read, 3 kept; dropped: 5 (a side is blank)")


def test_blank_sides_of_dev_too(tmp_path: Path, corpus: dict[str, Any]) -> None:
    data = corpus | {"dev_src": [str(case_file("B023.src"))], "dev_tgt": [str(case_file("B023.tgt"))]}
    report = prepare(settings_of(data), tmp_path / "out")
    assert report.dev.n_pairs == 3
    assert report.dev.files[0].dropped == {"blank": 5}
    assert len(list(read_lines(tmp_path / "out" / "dev" / "src.txt"))) == 3


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"B021\.src has 5 lines and .*B021\.tgt has 4 lines"):
        prepare(settings_of(case_data("B021")), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_dev_sentences_in_training_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = {
        f"{part}_{side}": [str(case_file(f"B025.{name}.{side}"))]
        for side in ("src", "tgt")
        for part, name in (("train", "train"), ("dev", "valid"))
    }
    with caplog.at_level(logging.WARNING, "transduce"):
        report = prepare(settings_of(data, tokenizer={"vocab_size": 260}), tmp_path / "out")
    assert "2 of 3 sentences of dev are also in training (1 letter for letter)" in caplog.text
    assert (report.train.n_pairs, report.dev.n_in_training, report.dev.n_in_training_exact) == (10, 2, 1)
    clean = {"drop_overlap": True}
    report = prepare(settings_of(data, tokenizer={"vocab_size": 260}, clean=clean), tmp_path / "clean")
    assert report.train.n_pairs == 8
    assert report.train.files[0].dropped == {"overlap": 2}


@pytest.mark.parametrize("n_workers", [1, 3, 8])
def test_more_workers_than_lines(tmp_path: Path, n_workers: int) -> None:
    settings = settings_of(case_data("B027") | {"n_workers": n_workers}, tokenizer={"vocab_size": 260})
    prepare(settings, tmp_path / "out")
    lines = zip(read_lines(case_file("B027.src")), read_lines(case_file("B027.tgt")), strict=True)
    assert texts_of(tmp_path / "out", "train") == list(lines)


def test_crlf_gives_the_same_data(tmp_path: Path) -> None:
    tokenizer = {"vocab_size": 265}
    for name in ("B003", "B003.lf"):
        data = {"train_src": [str(case_file(f"{name}.src"))], "train_tgt": [str(case_file("B003.tgt"))]}
        prepare(settings_of(data, tokenizer=tokenizer), tmp_path / name)
    crlf, lf = bytes_of(tmp_path / "B003"), bytes_of(tmp_path / "B003.lf")
    assert crlf.pop("settings.toml") != lf.pop("settings.toml")
    assert crlf == lf


def test_too_small_for_a_dev_set(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "transduce"):
        prepare(settings_of(case_data("B027"), tokenizer={"vocab_size": 260}), tmp_path / "out")
    assert "3 pairs of training are too few to take a dev set out of them" in caplog.text
    assert len(TokenStore.open(tmp_path / "out" / "dev")) == 0


def test_standard_input_is_as_good_as_a_file(
    corpus: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(settings_of(corpus), tmp_path / "file")
    for _ in range(2):  # the second time, the directory is there, but nobody can tell what stdin will bring
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(corpus["train_src"][0]).read_bytes())))
        prepare(settings_of(corpus | {"train_src": ["-"]}), tmp_path / "stdin")
        assert sys.stdin.read() == ""
    from_file, from_stdin = bytes_of(tmp_path / "file"), bytes_of(tmp_path / "stdin")
    assert from_file.pop("settings.toml") != from_stdin.pop("settings.toml")
    assert from_file == from_stdin


@pytest.mark.parametrize("form", ["{src}\t{tgt}\n", '{{"src": "{src}", "tgt": "{tgt}"}}\n'])
def test_both_sides_from_standard_input(
    corpus: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    sides = zip(sentences(60), sentences(60, "Das ist "), strict=True)
    text = "".join(form.format(src=src, tgt=tgt) for src, tgt in sides)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    data = {name: files for name, files in corpus.items() if name.startswith("dev")} | {"train": ["-"]}
    report = prepare(settings_of(data), tmp_path / "stdin")
    prepare(settings_of(corpus), tmp_path / "files")
    assert report.train.files[0].name == "standard input"
    assert texts_of(tmp_path / "stdin", "train") == texts_of(tmp_path / "files", "train")


def test_skipped_segments_are_in_the_report(corpus: dict[str, Any], tmp_path: Path) -> None:
    entries = [f'{flag}msgid "{src}"\nmsgstr "{tgt}"\n\n' for flag, src, tgt in (
        ("", "tea", "Tee"), ("#, fuzzy\n", "boat", "Tee"), ("", "dog", ""), ("", "cat", ""), ("", "\xa0", "Katze"),
    )]  # fmt: skip
    (tmp_path / "app.po").write_text("".join(entries), encoding="utf-8")
    data = corpus | {"train": [str(tmp_path / "app.po")], "src_lang": "en", "tgt_lang": "de"}
    report = prepare(settings_of(data), tmp_path / "out")
    assert dict(report.train.files[1].skipped) == {"untranslated": 2, "fuzzy": 1}
    assert report.train.files[1].describe() == (
        "2 pairs read, 1 kept; dropped: 1 (a side is blank); skipped: 2 (untranslated), 1 (fuzzy)"
    )
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert written["train"]["files"][1]["skipped"] == {"untranslated": 2, "fuzzy": 1}
    assert prepare(settings_of(data), tmp_path / "out") == report  # read back from the file


# What is told on the way.


def test_listeners_hear_of_everything_in_its_order(corpus: dict[str, Any], tmp_path: Path) -> None:
    heard: list[PrepareProgress] = []
    report = prepare(settings_of(corpus), tmp_path / "out", listeners=[heard.append])
    ends = [(record.phase, record.name, record.n_pairs, record.outcome) for record in heard if record.outcome]
    dev, train = (f"{corpus[f'{part}_src'][0]} + {corpus[f'{part}_tgt'][0]}" for part in ("dev", "train"))
    rows = dict(report.rows())
    assert ends == [
        ("reading", dev, 5, "5 pairs read, 5 kept"),
        ("reading", train, 60, "60 pairs read, 60 kept"),
        ("learning", "the vocabulary", 57, rows["vocabulary"]),
        ("encoding", "train", 57, rows["train"]),
        ("encoding", "dev", 5, rows["dev"]),
        ("encoding", "test", 3, rows["test"]),
    ]
    totals = {(record.phase, record.name): record.n_all_pairs for record in heard if not record.outcome}
    assert totals["reading", train] is None  # nobody knows before the end
    assert totals["learning", "the vocabulary"] == totals["encoding", "train"] == 57
    heard.clear()
    prepare(settings_of(corpus), tmp_path / "out", listeners=[heard.append])
    assert heard == []  # it is up to date


def test_listeners_hear_every_few_thousand_pairs(tmp_path: Path) -> None:
    data = {
        "train_src": [write_lines(tmp_path / "train.en", sentences(12_000))],
        "train_tgt": [write_lines(tmp_path / "train.de", sentences(12_000))],
    }
    heard: list[PrepareProgress] = []
    prepare(settings_of(data), tmp_path / "out", listeners=[heard.append])
    read = [record.n_pairs for record in heard if record.phase == "reading"]
    assert read == [5000, 10_000, 12_000, 12_000, 12_000]  # a chunk each, no more, the outcome
    learned = [record for record in heard if record.phase == "learning"]
    assert [record.n_pairs for record in learned] == [0, 2000, 4000, 6000, 8000, 10_000, 10_800, 10_800]
    assert all(record.mb_per_s > 0 for record in learned[1:])


# Everything is checked first, and nothing is half-written: cases B009, B133, B135.


@pytest.mark.parametrize("setting", ["train_src", "dev_tgt"])
@pytest.mark.parametrize("bad", ["missing.txt", "."])
def test_inputs_are_checked_first(corpus: dict[str, Any], tmp_path: Path, setting: str, bad: str) -> None:
    before = sorted(tmp_path.iterdir())
    path = str(tmp_path / bad)
    with pytest.raises(DataError, match=f"{path}: (no such file|this is a directory)"):
        prepare(settings_of(corpus | {setting: [path]}), tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_file_without_permission(corpus: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Modes mean nothing to root, as whom tests often run, so the question itself gets another answer.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "dev.de")
    with pytest.raises(DataError, match=r"dev\.de: no permission to read this file"):
        prepare(settings_of(corpus), tmp_path / "out")


def test_missing_model_file(corpus: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = {"kind": "sentencepiece", "model_file": str(tmp_path / "none.model")}
    with pytest.raises(DataError, match=r"none\.model: no such file"):
        prepare(settings_of(corpus, tokenizer=tokenizer), tmp_path / "out")


@pytest.mark.parametrize("place", ["train.en", "train.en/deeper", "/proc/x"])
def test_output_that_cannot_be_written(corpus: dict[str, Any], tmp_path: Path, place: str) -> None:
    with pytest.raises(DataError, match="choose another --out"):
        prepare(settings_of(corpus), tmp_path / place)


def test_directory_with_other_files_is_never_replaced(corpus: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"holds dev\.de, dev\.en, train\.de, train\.en, and is not a prepared directory"
    ):
        prepare(settings_of(corpus), tmp_path)
    assert (tmp_path / "train.en").exists()


def test_folders_of_the_same_names_are_never_replaced(tmp_path: Path) -> None:
    """Raw text often lies in folders called train, dev and test."""
    files = {}
    for part in ("train", "dev", "test"):
        (tmp_path / "raw" / part).mkdir(parents=True)
        for side in ("src", "tgt"):
            files[f"{part}_{side}"] = [write_lines(tmp_path / "raw" / part / f"x.{side}", sentences(40, f"{part} "))]
    before = bytes_of(tmp_path / "raw")
    with pytest.raises(
        DataError, match=r"holds dev, test, train, and is not a prepared directory \(it has no settings"
    ):
        prepare(settings_of(files), tmp_path / "raw")
    for name in ("settings.toml", "report.json"):
        (tmp_path / "raw" / name).write_text("")
    with pytest.raises(DataError, match=r"\(it has no train/store\.json\)"):
        prepare(settings_of(files), tmp_path / "raw")
    assert bytes_of(tmp_path / "raw") == before | {"settings.toml": b""}


def test_prepared_directory_with_something_else_in_it_is_not_replaced(corpus: dict[str, Any], tmp_path: Path) -> None:
    prepare(settings_of(corpus), tmp_path / "out")
    (tmp_path / "out" / "notes").write_text("mine")
    with pytest.raises(
        DataError, match=r"holds notes, and is not a prepared directory \(prepare makes no such thing\)"
    ):
        prepare(settings_of(corpus), tmp_path / "out")


def test_empty_directory_is_filled(corpus: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    prepare(settings_of(corpus), tmp_path / "out")
    assert len(texts_of(tmp_path / "out", "train")) == 57


def test_vocabulary_larger_than_the_text_allows(tmp_path: Path) -> None:
    text = str(case_file("B009.txt"))
    data = {"train_src": [text], "train_tgt": [text]}
    try:
        report = prepare(settings_of(data, tokenizer={"vocab_size": 32_000}), tmp_path / "out")
    except TokenizerError as error:
        assert any(character.isdigit() for character in str(error))
        assert list(tmp_path.iterdir()) == []
    else:
        assert report.src_vocab_size < 400
        assert f"{report.src_vocab_size} ids" in dict(report.rows())["vocabulary"]


def test_no_training_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no training data is given: set data\.train_src and data\.train_tgt"):
        prepare(settings_of({}), tmp_path / "out")


def test_nothing_left_after_cleaning(tmp_path: Path, corpus: dict[str, Any]) -> None:
    data = {
        "train_src": [write_lines(tmp_path / "a", ["", " "])],
        "train_tgt": [write_lines(tmp_path / "b", ["x", "y"])],
    }
    with pytest.raises(
        DataError, match=r"no pair of the train set is left: .*2 pairs read, 0 kept; dropped: 2 \(a side is blank\)"
    ):
        prepare(settings_of(data), tmp_path / "out")
    dev = {"dev_src": data["train_src"], "dev_tgt": data["train_tgt"]}
    with pytest.raises(DataError, match="no pair of the dev set is left"):
        prepare(settings_of(corpus | dev), tmp_path / "out")


def test_failure_keeps_the_old_directory(corpus: dict[str, Any], tmp_path: Path) -> None:
    prepare(settings_of(corpus), tmp_path / "out")
    before = bytes_of(tmp_path / "out")
    write_lines(tmp_path / "train.de", sentences(59))
    with pytest.raises(TransduceError, match="60 lines"):
        prepare(settings_of(corpus), tmp_path / "out")
    assert bytes_of(tmp_path / "out") == before
    assert not list(tmp_path.glob(".out*"))


# Nothing is done twice.


def test_second_call_does_nothing(corpus: dict[str, Any], tmp_path: Path) -> None:
    first = prepare(settings_of(corpus), tmp_path / "out")
    inode = (tmp_path / "out").stat().st_ino
    assert prepare(settings_of(corpus | {"n_workers": 2}), tmp_path / "out") == first
    assert (tmp_path / "out").stat().st_ino == inode


def test_settings_that_do_not_change_the_data_are_written_down(corpus: dict[str, Any], tmp_path: Path) -> None:
    prepare(settings_of(corpus), tmp_path / "out")
    inode = (tmp_path / "out").stat().st_ino
    changed = settings_of(corpus, train={"max_pair_tokens": 1})
    report = prepare(changed, tmp_path / "out")
    assert (tmp_path / "out").stat().st_ino == inode
    assert report.n_too_long == report.train.n_pairs
    assert resolve(RunSettings, [read_toml(tmp_path / "out" / "settings.toml")]) == changed
    assert prepare(changed, tmp_path / "out") == report


@pytest.mark.parametrize("change", ["text", "settings", "store", "damaged report"])
def test_changes_are_noticed(corpus: dict[str, Any], tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    prepare(settings_of(corpus), out)
    inode = out.stat().st_ino
    clean: dict[str, Any] = {}
    match change:
        case "text":
            write_lines(tmp_path / "train.en", ["changed", *sentences(60)[1:]])
        case "settings":
            clean["drop_duplicates"] = True
        case "store":
            (out / "train" / "src.ids.npy").write_bytes(b"")
        case "damaged report":
            (out / "report.json").write_text("{}")
    prepare(settings_of(corpus, clean=clean), out)
    assert out.stat().st_ino != inode
    assert len(texts_of(out, "train")) == 57


def test_another_phrasebook_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of the package stays the same while its words are worked on."""
    settings = settings_of({"corpus": "phrasebook"})
    sources = {part: find_sources(settings.data, part) for part in PARTS}
    before = describe_inputs(settings, sources)
    assert [version.name for version in before] == ["phrasebook (train)", "phrasebook (dev)", "phrasebook (test)"]
    assert describe_inputs(settings, sources) == before
    copy = tmp_path / "phrasebook"
    shutil.copytree(PHRASEBOOK, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("transduce.data.sources.PHRASEBOOK", copy)
    assert describe_inputs(settings, sources) == before
    words = next(copy.glob("lexicon/things.py"))
    words.write_text(words.read_text() + "# one more\n")
    assert describe_inputs(settings, sources) != before


# Whole programs and real data.

SCRIPT = """
import sys
from pathlib import Path
from transduce.base.settings import SettingsSource, resolve
from transduce.pipeline.prepare import prepare
from transduce.pipeline.settings import RunSettings

if __name__ == "__main__":
    data = {"train_src": [sys.argv[1]], "train_tgt": [sys.argv[2]]}
    settings = {"data": data, "tokenizer": {"vocab_size": 270}}
    prepare(resolve(RunSettings, [SettingsSource("test", settings)]), Path(sys.argv[3]))
    assert "torch" not in sys.modules
"""


def test_locale_changes_nothing_and_torch_is_not_needed(tmp_path: Path) -> None:
    """Case B007: all text is UTF-8 whatever the locale."""
    files = [str(case_file("B007.src")), str(case_file("B007.tgt"))]
    locales = {"c": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "utf8": {"LC_ALL": "C.UTF-8"}}
    for name, locale in locales.items():
        command = [sys.executable, "-c", SCRIPT, *files, str(tmp_path / name)]
        subprocess.run(command, env=os.environ | locale, check=True, timeout=120)
    assert bytes_of(tmp_path / "c") == bytes_of(tmp_path / "utf8")


@pytest.mark.slow
def test_padding_on_real_text_is_under_three_percent(tmp_path: Path) -> None:
    data = {
        "train_src": [str(data_file("multi30k/train.en.gz"))],
        "train_tgt": [str(data_file("multi30k/train.de.gz"))],
    }
    settings = settings_of(data, tokenizer={"vocab_size": 8000}, train={"batch_tokens": 4096})
    report = prepare(settings, tmp_path / "out")
    assert report.padding_share < 0.03
    assert report.train.n_pairs + report.dev.n_pairs + report.test.n_pairs == 29_000
    assert (report.dev.n_pairs, report.test.n_pairs) == (1000, 1000)
    store = TokenStore.open(tmp_path / "out" / "train")
    assert store.src(0).dtype == np.uint16
