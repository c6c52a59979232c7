"""Tokenizer and vocabulary: fault cases of the kind B, and B095."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli import CliResult, run_cli
from tests.e2e.cases import settings, translate
from tests.shared import case_file, data_file
from transduce.base.files import read_lines
from transduce.bundle import read_bundle
from transduce.tokenizer import Tokenizer, load_tokenizers
from transduce.tokenizer.protocol import N_CONTROL

LEARNED = {"bpe": 300, "unigram": 300, "wordpiece": 600}
"""Kinds, and a size that the text of a case fills or comes near to."""


def prepare_text(out: Path, text: Path, *values: str) -> CliResult:
    """Prepare one file as both sides."""
    return run_cli("prepare", "--out", out, "--train-src", text, "--train-tgt", text, *settings(*values))


def learned_from(text: Path, out: Path, kind: str, *values: str) -> Tokenizer:
    size = f"tokenizer.vocab_size={LEARNED[kind]}"
    result = prepare_text(out, text, f"tokenizer.kind={kind}", size, "data.n_workers=1", *values)
    assert result.code == 0, result.err
    return load_tokenizers(out / "tokenizer").src


@pytest.mark.parametrize("kind", LEARNED)
def test_b009_a_vocabulary_larger_than_the_text_allows_is_smaller_and_says_so(tmp_path: Path, kind: str) -> None:
    values = (f"tokenizer.kind={kind}", "tokenizer.vocab_size=32000")
    result = prepare_text(tmp_path / "out", case_file("B009.txt"), *values)
    assert (result.code, "Traceback" in result.err) == (0, False)
    size = load_tokenizers(tmp_path / "out" / "tokenizer").src.vocab_size
    assert f"warning: the corpus gives a vocabulary of {size} entries, fewer than the 32,000 asked for" in result.err
    assert re.search(rf"vocabulary +{size} ids", result.out)
    assert json.loads((tmp_path / "out" / "report.json").read_bytes())["src_vocab_size"] == size


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("name", ["B011.txt", "B013.txt", "B019.txt", "B017.compat.txt", "B017.nfd.txt"])
def test_b011_b013_b017_b019_text_comes_back(model_t: Path, tmp_path: Path, name: str, kind: str) -> None:
    """By a tokenizer of other text, and by one that was learned from the very lines."""
    lines = list(read_lines(case_file(name)))
    for tokenizer in (read_bundle(model_t).tokenizers.src, learned_from(case_file(name), tmp_path / "out", kind)):
        encoded = tokenizer.encode_batch(lines)
        assert [tokenizer.decode(ids) for ids in encoded] == lines
        assert min(id_ for ids in encoded for id_ in ids) >= N_CONTROL


def test_b011_a_mark_in_the_text_is_a_piece_and_still_text(tmp_path: Path) -> None:
    tokenizer = learned_from(case_file("B011.txt"), tmp_path / "out", "bpe")
    assert any("@@" in piece for piece in tokenizer.pieces(tokenizer.encode("write to us @@ home")))


def test_b013_control_tokens_in_the_text_do_not_end_it(model_t: Path) -> None:
    spelled, cut, plain = translate(model_t, "red boat </s> blue tea\nred boat\nred boat blue tea\n")
    assert spelled != cut and spelled != plain
    assert read_bundle(model_t).tokenizers.src.decode([2, 0, 1, 3]) == ""


def test_b015_a_vocabulary_with_doubled_entries_is_refused_line_by_line(tmp_path: Path) -> None:
    codes = tmp_path / "codes"
    codes.write_text("#version: 0.2\nd e\n", encoding="utf-8")
    vocabulary = case_file("B015.vocab")
    result = prepare_text(
        tmp_path / "out", case_file("B009.txt"), "tokenizer.kind=subword-nmt",
        f"tokenizer.model_file='{codes}'", f"tokenizer.vocab_file='{vocabulary}'",
    )  # fmt: skip
    assert (result.code, result.out, "Traceback" in result.err) == (2, "", False)
    assert f"error: {vocabulary}: remove 7 lines of the vocabulary:" in result.err
    named = [int(number) for number in re.findall(r"^  line (\d+): ", result.err, re.MULTILINE)]
    assert named == [1, 2, 3, 4, 8, 10, 11]
    assert not (tmp_path / "out").exists()


def test_b017_no_normalization_is_done_unless_asked_for_and_the_help_says_so(model_t: Path, tmp_path: Path) -> None:
    said = run_cli("settings", "explain", "tokenizer.normalization").out
    assert (
        said.startswith('tokenizer.normalization = "none"')
        and "NFC and NFD spellings of one text get different" in said
    )
    assert "normalization none" in run_cli("inspect", model_t).out
    nfc, nfd = (list(read_lines(case_file(f"B017.{form}.txt"))) for form in ("nfc", "nfd"))
    plain = learned_from(case_file("B017.nfc.txt"), tmp_path / "none", "bpe")
    assert plain.encode_batch(nfc) != plain.encode_batch(nfd)
    tokenizer = learned_from(case_file("B017.nfc.txt"), tmp_path / "nfc", "bpe", "tokenizer.normalization=nfc")
    assert tokenizer.encode_batch(nfc) == tokenizer.encode_batch(nfd)


def test_b095_subword_nmt_keeps_the_text_of_a_last_piece_with_a_mark(tmp_path: Path) -> None:
    pieces = ["Сан@@", "a@@", "b@@", "@@", "tea"]
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocab"
    codes.write_text("#version: 0.2\nС а\n", encoding="utf-8")
    vocabulary.write_text("".join(f"{piece} 9\n" for piece in pieces), encoding="utf-8")
    result = prepare_text(
        tmp_path / "out", case_file("B009.txt"), "tokenizer.kind=subword-nmt",
        f"tokenizer.model_file='{codes}'", f"tokenizer.vocab_file='{vocabulary}'",
    )  # fmt: skip
    assert result.code == 0, result.err
    tokenizer = load_tokenizers(tmp_path / "out" / "tokenizer").src
    assert tokenizer.pieces(range(N_CONTROL, tokenizer.vocab_size)) == pieces

    def decode(*wanted: str) -> str:
        return tokenizer.decode([N_CONTROL + pieces.index(piece) for piece in wanted])

    assert [decode("Сан@@"), decode("a@@", "b@@"), decode()] == ["Сан", "ab", ""]
    assert decode("tea", "a@@") == "tea a"
    assert decode("@@") == "@@"  # alone it is a word that a user wrote (B011), and no mark


def test_b095_sentencepiece_lone_spaces_and_broken_bytes(tmp_path: Path) -> None:
    model = data_file("tokenizer-cases/sentencepiece/test_model.model")
    values = ("tokenizer.kind=sentencepiece", f"tokenizer.model_file='{model}'")
    result = prepare_text(tmp_path / "out", case_file("B009.txt"), *values)
    assert result.code == 0, result.err
    tokenizer = load_tokenizers(tmp_path / "out" / "tokenizer").src
    ids = {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}
    assert tokenizer.decode([ids["▁"]]) == ""
    assert tokenizer.decode([ids["▁"], ids["a"], ids["▁"]]).strip() == "a"
    assert tokenizer.decode([]) == ""


def test_b095_bytes_that_are_no_character_become_the_replacement_character(model_t: Path) -> None:
    tokenizer = read_bundle(model_t).tokenizers.tgt
    first_byte_of_three = N_CONTROL + 0xE2
    assert tokenizer.pieces([first_byte_of_three]) == ["<0xE2>"]
    assert tokenizer.decode([first_byte_of_three]) == "\ufffd"
