from __future__ import annotations

from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.text.segments import SentencePair
from transduce.text.tsv import parse_tsv


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def read_tsv(path: Path) -> list[SentencePair]:
    return list(parse_tsv(read_lines(path), str(path)))


def test_two_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", '"tea"\tTee\r\n\tnur Ziel\nx\ty')
    assert read_tsv(path) == [('"tea"', "Tee"), ("", "nur Ziel"), ("x", "y")]


def test_further_columns_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "tea\tTee\t0.9\nboat\tBoot\t0.8\n")
    assert read_tsv(path) == [("tea", "Tee"), ("boat", "Boot")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tea\tTee\nboat Boot\n", "line 2: 1 column, and 2 are needed"),
        ("tea\tTee\n\n", "line 2: 1 column"),
        ("tea\tTee\na\ttea pot\tTeekanne\n", "line 2: 3 columns, and line 1 has 2"),
        ("tea\tTee\t1\nboat\tBoot\n", "line 2: 2 columns, and line 1 has 3"),
    ],
)
def test_a_wrong_number_of_columns_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "a.tsv", text)
    with pytest.raises(DataError, match=message) as caught:
        read_tsv(path)
    assert str(path) in str(caught.value)
