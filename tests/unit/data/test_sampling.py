from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from transduce.data import sampling
from transduce.data.binarize import binarize
from transduce.data.languages import Languages
from transduce.data.sampling import Sample, sample_source, sample_store
from transduce.data.sources import PairsFile, ParallelFiles
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair
from transduce.tokenizer import learn_tokenizers
from transduce.tokenizer.settings import TokenizerSettings


def taken(sample: Sample) -> list[tuple[int, str, str]]:
    return [(block.first + place, *pair) for block in sample.blocks for place, pair in enumerate(block.pairs)]


def write(path: Path, n: int, word: str, end: str = "\n") -> Path:
    path.write_bytes("".join(f"{word} {i}{'é' * (i % 7)}{end}" for i in range(1, n + 1)).encode())
    return path


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK_PAIRS", 10)
    monkeypatch.setattr(sampling, "_CHUNK_BYTES", 64)  # so that lines lie across the borders of chunks


@pytest.mark.parametrize("n", [1, 9, 10, 11, 100])
def test_small_files_are_read_whole(tmp_path: Path, n: int) -> None:
    source = ParallelFiles(write(tmp_path / "a.en", n, "line"), write(tmp_path / "a.de", n, "Zeile", "\r\n"))
    sample = sample_source(source, 100)
    assert taken(sample) == [(i, f"line {i}{'é' * (i % 7)}", f"Zeile {i}{'é' * (i % 7)}") for i in range(1, n + 1)]
    assert (sample.n_pairs, sample.lines, sample.n_read, sample.how) == (n, (n, n), n, "all of them")
    assert sample.crlf == (0, n)


def test_large_files_are_read_in_blocks_from_the_first_to_the_last_line(tmp_path: Path) -> None:
    source = ParallelFiles(write(tmp_path / "a.en", 1234, "line"), write(tmp_path / "a.de", 1230, "Zeile"))
    sample = sample_source(source, 50)
    rows = taken(sample)
    assert all(src.startswith(f"line {i}") and tgt.startswith(f"Zeile {i}") for i, src, tgt in rows)
    assert [rows[place][0] for place in (0, 10, 20, 30, 49)] == [1, 306, 611, 916, 1230]
    assert (sample.lines, sample.n_pairs, sample.n_read) == ((1234, 1230), 1230, 50)
    assert sample.how == "5 blocks of 10, spread evenly"


def test_the_first_pairs_of_a_compressed_file_are_read_and_all_lines_counted(tmp_path: Path) -> None:
    for name, word in (("a.en", "line"), ("a.de", "Zeile")):
        write(tmp_path / name, 95, word)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    sample = sample_source(ParallelFiles(tmp_path / "a.en.gz", tmp_path / "a.de.gz"), 30)
    assert [i for i, _, _ in taken(sample)] == list(range(1, 31))
    assert (sample.lines, sample.n_pairs, sample.n_read) == ((95, 95), 95, 30)
    assert sample.how == "the first 30, since the files are compressed"


def test_a_file_with_both_sides_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"s{i}\tt{i}\n" for i in range(25)))
    source = PairsFile(path, Languages("en", "de"))
    whole, part = sample_source(source, 100), sample_source(source, 20)
    assert (len(taken(whole)), whole.n_pairs, whole.how) == (25, 25, "all of them")
    assert (len(taken(part)), part.n_pairs) == (20, None)


def test_what_is_not_utf8_is_named_and_does_not_end_the_look(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"one\ntwo\nthree\n")
    (tmp_path / "a.de").write_bytes(b"eins\nzwei\n" + b"drei \xfc\n")
    sample = sample_source(ParallelFiles(tmp_path / "a.en", tmp_path / "a.de"), 10)
    assert [tgt for _, _, tgt in taken(sample)] == ["eins", "zwei", "drei "]
    assert sample.not_utf8 == [(str(tmp_path / "a.de"), 3)]


def test_a_store_is_turned_back_into_text(tmp_path: Path) -> None:
    pairs = [SentencePair(f"Zug {i}", f"train {i}") for i in range(35)]
    tokenizers = learn_tokenizers(pairs, TokenizerSettings(vocab_size=280))
    binarize(pairs, tokenizers, tmp_path / "train", n_workers=1)
    sample = sample_store(TokenStore.open(tmp_path / "train"), tokenizers, 20)
    assert taken(sample) == [(i + 1, *pairs[i]) for i in (*range(10), *range(25, 35))]
    assert sample.n_pairs == 35
