from __future__ import annotations

import gzip
import io
import sys
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from tests.shared import case_file
from transduce.base.errors import DataError, MissingExtraError
from transduce.text import PAIR_SUFFIXES, check_pairs_file, read_pairs, read_parallel
from transduce.text.segments import SentencePair


def both(path: Path) -> list[SentencePair]:
    return list(read_pairs(path, src_lang="en", tgt_lang="de", skipped=Counter()))


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_plain_and_compressed_files_in_step(tmp_path: Path) -> None:
    src = write(tmp_path / "a.en.gz", gzip.compress(b"tea\nboat\n"))
    tgt = write(tmp_path / "a.de.zst", zstandard.compress(b"\xef\xbb\xbfTee\r\nBoot"))
    assert list(read_parallel(src, tgt)) == [("tea", "Tee"), ("boat", "Boot")]


def test_one_side_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tgt = write(tmp_path / "a.de", b"Tee\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"tea\n")))
    assert list(read_parallel(Path("-"), tgt)) == [("tea", "Tee")]
    with pytest.raises(DataError, match="both sides are standard input"):
        read_parallel(Path("-"), Path("-"))


@pytest.mark.parametrize(("n_src", "n_tgt"), [(1000, 3), (3, 1000), (1, 0), (0, 1)])
def test_unequal_counts_are_both_counted_to_the_end(tmp_path: Path, n_src: int, n_tgt: int) -> None:
    src, tgt = write(tmp_path / "a.en", b"x\n" * n_src), write(tmp_path / "a.de", b"y\n" * n_tgt)
    with pytest.raises(DataError) as caught:
        list(read_parallel(src, tgt))
    message = str(caught.value)
    assert f"{src} has {n_src:,} line" in message
    assert f"{tgt} has {n_tgt:,} line" in message


def test_a_missing_file_is_found_at_the_call(tmp_path: Path) -> None:
    there = write(tmp_path / "a.en", b"tea\n")
    with pytest.raises(DataError, match="no such file"):
        read_parallel(there, tmp_path / "missing.de")
    with pytest.raises(DataError, match="no such file"):
        read_pairs(tmp_path / "missing.tsv", src_lang="en", tgt_lang="de", skipped=Counter())
    with pytest.raises(DataError, match="this is a directory"):
        check_pairs_file(write_directory(tmp_path / "d.tmx"))


def write_directory(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz", "a.tsv.bz2", "a.docx.gz", "-"])
def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError) as caught:
        read_pairs(tmp_path / name, src_lang="en", tgt_lang="de", skipped=Counter())
    assert all(suffix in str(caught.value) for suffix in PAIR_SUFFIXES)


def test_a_missing_package_is_found_at_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tmx", b"<tmx/>")
    monkeypatch.setitem(sys.modules, "lxml.etree", None)
    with pytest.raises(MissingExtraError, match=r"transduce\[formats\]"):
        read_pairs(path, src_lang="en", tgt_lang="de", skipped=Counter())


def test_the_suffix_is_looked_for_below_the_compression(tmp_path: Path) -> None:
    assert both(write(tmp_path / "a.TSV", b"tea\tTee\n")) == [("tea", "Tee")]
    assert both(write(tmp_path / "a.tsv.gz", gzip.compress(b"tea\tTee\n"))) == [("tea", "Tee")]
    line = b'{"src": "tea", "tgt": "Tee"}'
    assert both(write(tmp_path / "a.en-de.jsonl.zst", zstandard.compress(line))) == [("tea", "Tee")]


def test_damaged_compression_is_named_even_inside_xml(tmp_path: Path) -> None:
    body = b"<tmx><body>" + b"<tu><tuv/></tu>\n" * 10_000 + b"</body></tmx>"
    packed = gzip.compress(body)
    with pytest.raises(DataError, match="the compressed data is damaged or cut off"):
        both(write(tmp_path / "a.tmx.gz", packed[: len(packed) // 2]))
    with pytest.raises(DataError, match="the compressed data is damaged or cut off"):
        both(write(tmp_path / "a.po.gz", gzip.compress(b'msgid "a"\nmsgstr "b"\n')[:-9]))


@pytest.mark.parametrize(
    ("raw", "pairs"),
    [
        (b'{"src": "tea", "tgt": "Tee"}\n', [("tea", "Tee")]),
        (b'\xef\xbb\xbf\n  \n {"en": "tea", "de": "Tee"}\n\n', [("tea", "Tee")]),
        (b"tea\tTee\n{\t}\n", [("tea", "Tee"), ("{", "}")]),
        (b"\tTee\nboat\tBoot", [("", "Tee"), ("boat", "Boot")]),
        (b"", []),
    ],
)
def test_standard_input_is_json_lines_or_tsv_by_its_first_character(
    raw: bytes, pairs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert both(Path("-")) == pairs


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"one\ntwo\n", "standard input, line 1: 1 column"),
        (b'\n{"src": "tea"\n', "standard input, line 2: not JSON"),
        (b"\n\ta\n", "standard input, line 1: 1 column"),
        (b"tea\tT\xe9\n", "standard input, line 1: not UTF-8"),
    ],
)
def test_a_wrong_line_of_standard_input_is_named(raw: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    with pytest.raises(DataError, match=message):
        both(Path("-"))


def test_what_was_skipped_is_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.po", b'#, fuzzy\nmsgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr ""\n\nmsgid "tea"\nmsgstr "Tee"\n'
    )
    skipped: Counter[str] = Counter()
    assert list(read_pairs(path, src_lang="en", tgt_lang="de", skipped=skipped)) == [("tea", "Tee")]
    assert skipped == {"fuzzy": 1, "untranslated": 1}


def test_case_b001_only_lf_ends_a_line() -> None:
    pairs = list(read_parallel(case_file("B001.src"), case_file("B001.tgt")))
    assert len(pairs) == 4
    assert pairs[3] == ("the last line", "die letzte Zeile")
    assert "\u2028" in pairs[1].src
    assert "\x85" in pairs[2].src


def test_case_b003_crlf_and_lf_are_the_same() -> None:
    pairs = list(read_parallel(case_file("B003.src"), case_file("B003.tgt")))
    assert pairs == list(read_parallel(case_file("B003.lf.src"), case_file("B003.tgt")))
    assert len(pairs) == 4
    assert not any("\r" in side for pair in pairs for side in pair)


def test_case_b005_a_wrong_byte_names_file_and_line() -> None:
    src = case_file("B005.src")
    with pytest.raises(DataError, match=r"B005\.src, line 3: not UTF-8 \(byte 0xe9") as caught:
        list(read_parallel(src, case_file("B005.tgt")))
    assert "\n" not in str(caught.value)


def test_case_b021_unequal_counts() -> None:
    src, tgt = case_file("B021.src"), case_file("B021.tgt")
    with pytest.raises(DataError) as caught:
        list(read_parallel(src, tgt))
    assert f"{src} has 5 lines and {tgt} has 4 lines" in str(caught.value)


@pytest.mark.parametrize(("name", "n_lines"), [("B093.nonl.src", 3), ("B093.blankend.src", 4), ("B093.crlfend.src", 3)])
def test_case_b093_the_end_of_a_file(name: str, n_lines: int) -> None:
    path = case_file(name)
    assert len(list(read_parallel(path, path))) == n_lines
