from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tokenizer.conftest import KINDS, LearnedKind, learn
from transduce.tokenizer import SubwordNmtTokenizer, SubwordTokenizer
from transduce.tokenizer.codes import Codes
from transduce.tokenizer.spans import piece_spans

TOKENIZERS = {kind: learn(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(alphabet="The dogäé猫👍\u0301 .\t", max_size=20))
def test_spans_are_the_text_of_each_piece(kind: LearnedKind, text: str) -> None:
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer.encode(text)
    spans = piece_spans(tokenizer, text, ids)
    assert len(spans) == len(ids)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert all(a[0] <= b[0] or a[0] == a[1] or b[0] == b[1] for a, b in pairwise(spans))
    covered = {place for start, end in spans for place in range(start, end)}
    assert covered >= {place for place, char in enumerate(text) if not char.isspace()}


@pytest.mark.parametrize("kind", KINDS)
def test_whole_words(kind: LearnedKind) -> None:
    tokenizer = TOKENIZERS[kind]
    text = "The dog hears a café."
    for (start, end), name in zip(
        piece_spans(tokenizer, text, tokenizer.encode(text)), tokenizer.pieces(tokenizer.encode(text)), strict=True
    ):
        assert text[start:end] == name.replace("▁", "").removeprefix("##")


def test_a_normalized_text_keeps_the_places_of_its_words() -> None:
    tokenizer = SubwordTokenizer(TOKENIZERS["bpe"].vocabulary, normalization="nfc")
    text = "Cafe\u0301 u\u0308ber dog"
    spans = piece_spans(tokenizer, text, tokenizer.encode(text))
    assert min(start for start, _ in spans) == 0
    assert spans[-1][1] == len(text)
    assert {5, 6, 11} <= {place for span in spans for place in span}  # ends and beginnings of the words


def test_a_tokenizer_that_loses_spaces() -> None:
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("l", "o"), ("lo", "w</w>"))), ["low", "lo@@", "t"])
    assert piece_spans(tokenizer, " low   lot", tokenizer.encode(" low   lot")) == [(1, 4), (7, 9), (9, 10)]


def test_unknown_words_leave_places_in_proportion() -> None:
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("l", "o"), ("lo", "w</w>"))), ["low"])
    spans = piece_spans(tokenizer, "low xx low", tokenizer.encode("low x low"))
    assert spans[0][0] == 0 and spans[-1][1] == 10


def test_nothing() -> None:
    assert piece_spans(TOKENIZERS["bpe"], "", []) == []
