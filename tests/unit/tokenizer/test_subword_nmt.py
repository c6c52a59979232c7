from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from tests.shared import case_file, data_file
from transduce.base.errors import TokenizerError
from transduce.base.files import read_lines
from transduce.tokenizer import SubwordNmtTokenizer, load_tokenizer
from transduce.tokenizer.codes import Codes, read_codes

NMT = "tokenizer-cases/subword-nmt/"
MOSES = "tokenizer-cases/moses/"

SMALL = SubwordNmtTokenizer(
    Codes((0, 2), (("С", "а"), ("Са", "н"), ("u", "s</w>"))),
    ["Сан@@", "a@@", "b@@", "b", "@@", "us", "h", "@@@@", "@@@", "@"],
)


def reference(name: str) -> list[str]:
    """Lines of a reference output. ``apply-bpe`` keeps spaces at the ends of a line; they are no tokens."""
    return [line.strip(" ") for line in read_lines(data_file(NMT + name))]


def segmented(tokenizer: SubwordNmtTokenizer, name: str) -> list[str]:
    return [" ".join(tokenizer.segment(line)) for line in read_lines(data_file(name))]


def joint(language: str, threshold: int | None) -> SubwordNmtTokenizer:
    codes, vocabulary = data_file(f"{NMT}m30-joint4000.codes"), data_file(f"{NMT}m30-joint4000.vocab.{language}")
    return SubwordNmtTokenizer.from_files(codes, vocabulary, threshold=threshold)


def test_segmentation_of_its_own_test_corpus() -> None:
    tokenizer = SubwordNmtTokenizer(read_codes(data_file(NMT + "bpe.ref")), ["the"])
    assert segmented(tokenizer, NMT + "corpus.en") == reference("corpus.bpe.ref.en")


@pytest.mark.parametrize("language", ["en", "de"])
def test_segmentation_with_joint_codes(language: str) -> None:
    found = segmented(joint(language, None), f"{MOSES}multi30k.val.lc.norm.tok.{language}.gz")
    assert found == reference(f"m30-joint4000.val.bpe.{language}.gz")


@pytest.mark.parametrize("language", ["en", "de"])
def test_segmentation_with_a_vocabulary_threshold(language: str) -> None:
    found = segmented(joint(language, 50), f"{MOSES}multi30k.val.lc.norm.tok.{language}.gz")
    assert found == reference(f"m30-joint4000.val.bpe.vocab50.{language}.gz")


def test_segmentation_of_hand_written_lines() -> None:
    assert segmented(joint("en", None), MOSES + "edge.txt") == reference("edge.m30-joint4000.bpe")


def test_text_that_the_vocabulary_covers_comes_back() -> None:
    tokenizer = joint("de", 50)
    with gzip.open(data_file(f"{MOSES}multi30k.val.lc.norm.tok.de.gz"), "rt", encoding="utf-8") as stream:
        lines = stream.read().split("\n")[:-1]
    known = [line for line, ids in zip(lines, tokenizer.encode_batch(lines), strict=True) if 3 not in ids]
    assert len(known) > 1000  # of 1,014
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(known)] == known


def test_ids_follow_the_lines_of_the_vocabulary() -> None:
    assert SMALL.vocab_size == 14
    assert SMALL.pieces([0, 1, 2, 3, 4, 13]) == ["<pad>", "<s>", "</s>", "<unk>", "Сан@@", "@"]
    assert SMALL.encode("Санb b") == [4, 7, 7]
    for index in (-1, 14):
        with pytest.raises(IndexError, match="14"):
            SMALL.pieces([index])


def test_a_hypothesis_that_ends_in_a_marked_piece_keeps_its_text() -> None:
    assert SMALL.decode([4]) == "Сан"
    assert SMALL.decode([5, 6]) == "ab"
    assert SMALL.decode([]) == ""


def test_control_ids_and_ids_out_of_range_give_nothing() -> None:
    assert SMALL.decode([1, 9, 3, 10, 2, 0, 0]) == "us h"
    assert SMALL.decode([9, -1, 99, -12]) == "us"


def test_the_users_own_mark_survives() -> None:
    ids = SMALL.encode("us @@ h")
    assert SMALL.pieces(ids) == ["us", "@@@", "@", "h"]
    assert SMALL.decode(ids) == "us @@ h"


def test_the_mark_survives_as_a_whole_word_too() -> None:
    lines = list(read_lines(case_file("B011.txt")))
    characters = sorted({character for line in lines for character in line if character != " "})
    vocabulary = [*characters, *(f"{character}@@" for character in characters), "@@", "@@@@"]
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("@", "@</w>"), ("a", "@@</w>"), ("@", "@"))), vocabulary)
    for line in lines:
        ids = tokenizer.encode(line)
        assert 3 not in ids
        assert tokenizer.decode(ids) == line


def test_what_the_vocabulary_lacks_is_unknown() -> None:
    assert SMALL.encode("q us") == [3, 9]
    assert SMALL.encode("<unk> <s>").count(3) == len(
        SMALL.encode("<unk> <s>")
    )  # unknown characters, no control id but that


def test_only_spaces_part_words_and_runs_of_them_are_lost() -> None:
    assert SMALL.decode(SMALL.encode("  us   h ")) == "us h"
    tab = SubwordNmtTokenizer(Codes((0, 2), (("a", "b"),)), ["a@@", "\t@@", "b"])
    assert tab.pieces(tab.encode("a\tb")) == ["a@@", "\t@@", "b"]


def test_a_full_cache_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SMALL.encode_batch(["us h", "Санb", "us Санb"])
    monkeypatch.setattr("transduce.tokenizer.subword_nmt._MAX_CACHED_WORDS", 1)
    assert SMALL.encode_batch(["us h", "Санb", "us Санb"]) == expected


def test_it_comes_back_from_the_disk_and_from_another_process(tmp_path: Path) -> None:
    tokenizer = SubwordNmtTokenizer(SMALL.codes, SMALL.vocabulary, rare=frozenset({"us"}), normalization="nfc")
    tokenizer.save(tmp_path)
    for copy in (load_tokenizer(tmp_path), pickle.loads(pickle.dumps(tokenizer))):
        assert copy.fingerprint == tokenizer.fingerprint != SMALL.fingerprint
        assert copy.encode("Санb us") == tokenizer.encode("Санb us")


def test_a_threshold_needs_counts(tmp_path: Path) -> None:
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocabulary"
    codes.write_bytes(b"#version: 0.2\na b\n")
    vocabulary.write_bytes(b"a 3\nb\n")
    with pytest.raises(TokenizerError, match="'b' has no count"):
        SubwordNmtTokenizer.from_files(codes, vocabulary, threshold=2)
    assert SubwordNmtTokenizer.from_files(codes, vocabulary).vocab_size == 6
