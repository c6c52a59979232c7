from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared import case_file
from transduce.base.errors import TokenizerError
from transduce.tokenizer.codes import Codes, parse_token, read_codes, read_vocabulary


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


def tokens(codes: Codes, word: str, *allowed: str) -> list[str]:
    allowed_tokens = {parse_token(token) for token in allowed} if allowed else None
    return [piece if final else f"{piece}@@" for piece, final in codes.segment(word, allowed_tokens)]


def test_merges_are_applied_by_rank() -> None:
    codes = Codes((0, 2), (("l", "o"), ("lo", "w</w>"), ("e", "r</w>")))
    assert tokens(codes, "low") == ["low"]
    assert tokens(codes, "lower") == ["lo@@", "w@@", "er"]  # w inside a word is not w at its end
    assert tokens(codes, "x") == ["x"]
    assert tokens(codes, "xy") == ["x@@", "y"]


def test_overlapping_pairs_are_merged_from_the_left() -> None:
    codes = Codes((0, 2), (("x", "x"),))
    assert tokens(codes, "xxxxa") == ["xx@@", "xx@@", "a"]
    assert tokens(codes, "xxxa") == ["xx@@", "x@@", "a"]


def test_version_1_has_the_end_of_a_word_as_a_symbol() -> None:
    codes = Codes((0, 1), (("a", "b"), ("ab", "</w>")))
    assert tokens(codes, "ab") == ["ab"]
    assert tokens(codes, "abb") == ["ab@@", "b"]
    assert tokens(codes, "ab", "zz") == ["ab"]  # what the end of a word was merged to cannot be cut


def test_a_token_that_is_not_allowed_is_cut_along_its_merges() -> None:
    codes = Codes((0, 2), (("l", "o"), ("lo", "w</w>")))
    assert tokens(codes, "low", "low") == ["low"]
    assert tokens(codes, "low", "lo@@", "w") == ["lo@@", "w"]
    assert tokens(codes, "low", "w") == ["l@@", "o@@", "w"]
    assert tokens(codes, "low", "zz") == ["l@@", "o@@", "w"]  # characters cannot be cut


def test_a_doubled_merge_counts_once_where_it_first_stands() -> None:
    codes = Codes((0, 2), (("a", "b"), ("b", "c"), ("a", "b")))
    assert tokens(codes, "abcd") == ["ab@@", "c@@", "d"]


def test_a_piece_that_ends_in_the_mark_is_cut_until_it_does_not() -> None:
    """In the file ``a@@`` is the beginning of a longer word. The user's ``a@@`` must not become that."""
    codes = Codes((0, 2), (("@", "@</w>"), ("a", "@@</w>"), ("@", "@")))
    assert tokens(codes, "a@@") == ["a@@", "@@"]  # a that goes on, and then the word-end piece of two signs
    assert list(codes.segment("a@@", None)) == [("a", False), ("@@", True)]


def test_codes_are_read(tmp_path: Path) -> None:
    assert read_codes(write(tmp_path / "new", "#version: 0.2\r\nt h\r\nth e</w>\r\n")) == Codes(
        (0, 2), (("t", "h"), ("th", "e</w>"))
    )
    assert read_codes(write(tmp_path / "old", "t h\nth e\n\n")) == Codes((0, 1), (("t", "h"), ("th", "e")))
    assert Codes.from_content(read_codes(tmp_path / "new").content()) == read_codes(tmp_path / "new")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#version: 0.2\na b\na b c\n", "line 3: not two symbols"),
        ("#version: 0.2\na b\n\nc d\n", "line 3: not two symbols"),
        ("a\n", "line 1: not two symbols"),
        ("#version: 0.3\na b\n", "version '0.3'"),
        ("#version: x\na b\n", "version 'x'"),
        ("#version: 0.2\n", "no merges"),
        ("", "no merges"),
    ],
)
def test_wrong_codes_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "codes", text)
    with pytest.raises(TokenizerError, match=message) as caught:
        read_codes(path)
    assert str(path) in str(caught.value)


def test_a_vocabulary_is_read_with_counts_or_without(tmp_path: Path) -> None:
    assert read_vocabulary(write(tmp_path / "with", "der 12\nHu@@ 3\n")) == {"der": 12, "Hu@@": 3}
    assert read_vocabulary(write(tmp_path / "without", "der\nHu@@\n")) == {"der": None, "Hu@@": None}


def test_doubled_entries_and_control_names_are_refused_with_their_lines() -> None:
    with pytest.raises(TokenizerError) as caught:
        read_vocabulary(case_file("B015.vocab"))
    message = str(caught.value)
    assert "B015.vocab" in message
    assert "line 8: 'der' stands on line 5 already" in message
    assert "line 11: 'Haus' stands on line 7 already" in message
    for line in (1, 2, 3, 4, 10):
        assert f"line {line}: " in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\nb x\n", "line 2: not a token"),
        ("a\n\nb\n", "line 2: not a token"),
        ("a b c\n", "line 1"),
        ("", "no tokens"),
    ],
)
def test_wrong_vocabularies_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        read_vocabulary(write(tmp_path / "vocabulary", text))


def test_many_faults_are_cut_short(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="and 5 more"):
        read_vocabulary(write(tmp_path / "vocabulary", "a\n" * 16))
