from __future__ import annotations

import pytest

from tests.unit.tokenizer.conftest import KINDS, LearnedKind, learn
from transduce.tokenizer import SubwordNmtTokenizer
from transduce.tokenizer.codes import Codes
from transduce.tokenizer.phrases import banned_variants, glued_ids, phrase_ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("phrase", ["Hund", "der Hund", "{0}", "%s", "Ünïcode", "a.b", "'s", "1998"])
def test_ids_are_those_inside_of_a_sentence(kind: LearnedKind, phrase: str) -> None:
    tokenizer = learn(kind)
    assert tokenizer.decode((*tokenizer.encode("Da ist"), *phrase_ids(tokenizer, phrase))) == f"Da ist {phrase}"
    assert tokenizer.decode((*tokenizer.encode("Da (ist"), *glued_ids(tokenizer, phrase))) == f"Da (ist{phrase}"
    sentence = tuple(tokenizer.encode(f"Da ist {phrase} ."))
    ids = phrase_ids(tokenizer, phrase)
    assert any(sentence[i : i + len(ids)] == ids for i in range(len(sentence)))


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_without_spaces_get_none(kind: LearnedKind) -> None:
    tokenizer = learn(kind)
    assert tokenizer.decode((*tokenizer.encode("我喜欢"), *phrase_ids(tokenizer, " 猫 "))) == "我喜欢猫"


def test_nothing_has_no_ids() -> None:
    tokenizer = learn("bpe")
    assert phrase_ids(tokenizer, " ") == glued_ids(tokenizer, "") == ()


def test_what_cannot_be_spelled_has_no_ids() -> None:
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("l", "o"), ("lo", "w</w>"))), ["low", "lo@@", "t", ".", "a"])
    assert tokenizer.pieces(phrase_ids(tokenizer, "low lot")) == ["low", "lo@@", "t"]
    assert phrase_ids(tokenizer, "slow") == ()


@pytest.mark.parametrize("kind", KINDS)
def test_banned_variants(kind: LearnedKind) -> None:
    tokenizer = learn(kind)
    prefix = tokenizer.encode("x(")
    written = {tokenizer.decode((*prefix, *ids)).removeprefix("x(") for ids in banned_variants(tokenizer, "haus ab")}
    assert written == {" haus ab", "haus ab", " HAUS AB", "HAUS AB", " Haus ab", "Haus ab"}
    # a word with capitals is a part of longer ones in small letters
    written = {tokenizer.decode((*prefix, *ids)).removeprefix("x(") for ids in banned_variants(tokenizer, "Haus")}
    assert written == {" haus", " HAUS", "HAUS", " Haus", "Haus"}
