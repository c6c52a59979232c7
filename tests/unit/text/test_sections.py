from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.shared import data_file
from transduce.base.errors import DataError
from transduce.text.sections import find_sections, parse_sections, read_sections
from transduce.text.trees import format_tree


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """A treebank of one tree a file, laid out as the Penn Treebank is: the word is the number of the file."""
    for number in ("0101", "0201", "0299", "2101", "2199", "2200", "2301"):
        path = tmp_path / "wsj" / number[:2] / f"wsj_{number}.mrg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"\n( (NP (CD {number}) ))\n")
    (tmp_path / "wsj" / "readme").write_text("no tree")
    return tmp_path / "wsj"


def numbers(path: Path, sections: str) -> list[str]:
    return [format_tree(tree)[10:14] for tree in read_sections(path, sections)]


def test_the_usual_split(treebank: Path) -> None:
    assert numbers(treebank, "02-21") == ["0201", "0299", "2101", "2199"]
    assert numbers(treebank, "22") == ["2200"]
    assert numbers(treebank, "23,01") == ["0101", "2301"]
    assert numbers(treebank, "0299-2101") == ["0299", "2101"]


def test_sections_that_are_not_there(treebank: Path) -> None:
    with pytest.raises(DataError, match="no file of sections 24 among 7 files named wsj_NNNN"):
        read_sections(treebank, "24")


def test_a_file_that_is_there_twice(treebank: Path) -> None:
    (treebank / "wsj_2200.mrg.gz").write_bytes(gzip.compress(b"( (NP (CD 2200)))"))
    with pytest.raises(DataError, match=r"wsj_2200\S*: this file is there more than once"):
        read_sections(treebank, "22")


@pytest.mark.parametrize("text", ["", "2", "230", "02-", "a", "02:21", "02-21,"])
def test_what_names_no_sections(text: str) -> None:
    with pytest.raises(DataError, match="names no sections"):
        parse_sections(text)
    with pytest.raises(DataError, match="end before they begin"):
        parse_sections("21-02")


def test_an_index_beside_one_file(tmp_path: Path) -> None:
    trees = tmp_path / "a.trees"
    trees.write_text("( (NP (CD 0001)))\n( (NP (CD 0002)))\n( (NP (CD 0002)))\n")
    with pytest.raises(DataError, match=r"a\.index: no such file"):
        read_sections(trees, "00")
    index = tmp_path / "a.index"
    index.write_text("wsj_0001.mrg 1\nwsj_0002.mrg 1\nwsj_0002.mrg 2\n")
    assert numbers(trees, "0002") == ["0002", "0002"]
    assert len(numbers(trees, "00")) == 3
    with pytest.raises(DataError, match="no tree of sections 23"):
        numbers(trees, "23")
    index.write_text("wsj_0001.mrg 1\nwsj_0002.mrg 1\n")
    with pytest.raises(DataError, match=r"a\.index: 2 lines, and .*a\.trees has more trees"):
        numbers(trees, "00")
    index.write_text("wsj_0001.mrg 1\n" * 4)
    with pytest.raises(DataError, match=r"a\.index: more lines than the 3 trees"):
        numbers(trees, "00")
    with pytest.raises(DataError, match=r"NAME\.index"):
        read_sections(index, "00")


def test_sections_of_which_there_is_nothing(treebank: Path, tmp_path: Path) -> None:
    assert find_sections(treebank, "01-03,21,2400-2450").missing() == ["03"]  # files may be missing, sections may not
    assert find_sections(treebank, "0299-2100").missing() == [f"{section:02d}" for section in range(3, 21)]
    assert find_sections(treebank, "01,0201,21-22").missing() == []
    (tmp_path / "a.trees").write_text("( (NP (CD 0101)))\n")
    (tmp_path / "a.index").write_text("wsj_0101.mrg 1\n")
    assert find_sections(tmp_path / "a.trees", "00-02").missing() == ["00", "02"]


def test_the_split_of_the_sample() -> None:
    path = data_file("wsj-sample/wsj_0001-0199.trees.gz")
    counts = [len(list(read_sections(path, sections))) for sections in ("0001-0169", "0170-0184", "0185-0199")]
    assert counts == [3501, 217, 196]  # as the README of the data says
