from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared import case_file
from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.data.binarize import binarize, chunked
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair


def files_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("n_workers", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_files_are_the_same_bytes_with_any_number_of_workers(tmp_path: Path, n_workers: int) -> None:
    pairs = [SentencePair("🌊é" * (n % 7), f"{n} 漢字") for n in range(41)]
    binarize(pairs, bytes_pair(), tmp_path / "one", n_workers=1, chunk_pairs=7)
    binarize(pairs, bytes_pair(), tmp_path / "many", n_workers=n_workers, chunk_pairs=3)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "many")


@pytest.mark.parametrize("n_workers", [1, 3, 8])
def test_more_workers_than_lines(tmp_path: Path, n_workers: int) -> None:
    """Case B027."""
    pairs = list(map(SentencePair, read_lines(case_file("B027.src")), read_lines(case_file("B027.tgt"))))
    report = binarize(pairs, bytes_pair(), tmp_path / "s", n_workers=n_workers, chunk_pairs=1)
    store = TokenStore.open(tmp_path / "s")
    decode = bytes_pair().src.decode
    assert [SentencePair(decode(store.src(i).tolist()), decode(store.tgt(i).tolist())) for i in range(3)] == pairs
    assert report.n_pairs == len(store) == 3


def test_report_counts_tokens_and_bytes(tmp_path: Path) -> None:
    report = binarize([SentencePair("ü", "ab"), SentencePair("c", "")], bytes_pair(), tmp_path / "s")
    assert (report.n_pairs, report.n_src_tokens, report.n_tgt_tokens, report.text_bytes) == (2, 3, 2, 5)
    assert report.seconds > 0
    assert report.mb_per_s == pytest.approx(5e-6 / report.seconds)  # the same two numbers, divided once more


def test_no_pairs_make_an_empty_store(tmp_path: Path) -> None:
    binarize([], bytes_pair(), tmp_path / "s", n_workers=2)
    store = TokenStore.open(tmp_path / "s")
    assert len(store) == 0
    assert store.src_lengths.tolist() == []


def test_error_while_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> object:
        yield from [SentencePair("a", "b")] * 10
        raise DataError("line 11 is wrong")

    with pytest.raises(DataError, match="line 11 is wrong"):
        binarize(broken(), bytes_pair(), tmp_path / "s", n_workers=2, chunk_pairs=2)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_very_long_sentences_make_short_chunks() -> None:
    long = SentencePair("x" * 1_500_000, "y")
    assert [len(srcs) for srcs, _ in chunked([long, long, long, SentencePair("a", "b")])] == [2, 2]
