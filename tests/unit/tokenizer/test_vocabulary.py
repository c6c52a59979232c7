from __future__ import annotations

import json

import pytest
import tokenizers

from tests.unit.tokenizer.conftest import KINDS, LearnedKind, learn
from transduce.tokenizer.bytes import BYTE_SYMBOLS
from transduce.tokenizer.protocol import N_CONTROL
from transduce.tokenizer.vocabulary import (
    CONTINUATION,
    BpeVocabulary,
    UnigramVocabulary,
    Vocabulary,
    WordPieceVocabulary,
    vocabulary_from_content,
)

SMALL: list[Vocabulary] = [
    BpeVocabulary((("Ġ", "a"), ("b", "c"), ("Ġa", "bc"))),
    WordPieceVocabulary(("Ġa", CONTINUATION + "bc")),
    UnigramVocabulary((-9.0,) * 256, ("Ġa", "bc"), (-1.5, -2.25)),
]


@pytest.mark.parametrize("vocabulary", SMALL, ids=lambda vocabulary: vocabulary.kind)
def test_content_survives_json(vocabulary: Vocabulary) -> None:
    assert vocabulary_from_content(json.loads(json.dumps(vocabulary.content()))) == vocabulary


@pytest.mark.parametrize("vocabulary", SMALL, ids=lambda vocabulary: vocabulary.kind)
def test_ids_of_the_model_are_ours(vocabulary: Vocabulary) -> None:
    model = vocabulary.model()
    for index, symbols in enumerate(vocabulary.symbols(), start=N_CONTROL):
        assert model.id_to_token(index) == symbols
        assert model.token_to_id(symbols) == index


@pytest.mark.parametrize("kind", KINDS)
def test_all_bytes_are_in_every_vocabulary_in_order(kind: LearnedKind) -> None:
    symbols = learn(kind).vocabulary.symbols()
    assert symbols[:256] == list(BYTE_SYMBOLS)
    if kind == "wordpiece":
        assert symbols[256:512] == [CONTINUATION + symbol for symbol in BYTE_SYMBOLS]


@pytest.mark.parametrize("vocabulary", SMALL, ids=lambda vocabulary: vocabulary.kind)
def test_control_names_in_the_model_hold_a_space_and_so_cannot_be_typed(vocabulary: Vocabulary) -> None:
    names = [tokenizers.Tokenizer(vocabulary.model()).id_to_token(index) for index in range(N_CONTROL)]
    assert names == [" <pad>", " <s>", " </s>", " <unk>"]


def test_two_merges_that_make_one_piece_are_one_entry() -> None:
    vocabulary = BpeVocabulary((("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")))
    assert vocabulary.symbols()[256:] == ["ab", "bc", "abc"]


def test_a_doubled_piece_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        WordPieceVocabulary(("Ġa", "Ġa")).model()


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="'char'"):
        vocabulary_from_content({"kind": "char"})
