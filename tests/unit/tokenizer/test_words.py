from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from transduce.tokenizer.codes import Codes
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.subword_nmt import SubwordNmtTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary
from transduce.tokenizer.words import find_words

MERGES = (("Ġ", "a"), ("Ġa", "b"), ("c", "d"), ("Ã", "¼"))
SUBWORDS = SubwordTokenizer(BpeVocabulary(MERGES))


def words_of(text: str) -> list[tuple[str, list[str]]]:
    """The words of a text, each with the pieces that belong to it."""
    ids = SUBWORDS.encode(text)
    words = find_words(SUBWORDS, ids)
    assert len(words.word_of) == len(ids) or not words.texts
    pieces = SUBWORDS.pieces(ids)
    return [
        (word, [piece for piece, owner in zip(pieces, words.word_of, strict=True) if owner == number])
        for number, word in enumerate(words.texts)
    ]


def test_pieces_belong_to_the_word_that_they_spell() -> None:
    assert words_of("ab cd,") == [("ab", ["▁ab"]), ("cd,", ["▁", "cd", ","])]


def test_bytes_of_one_character_stay_together() -> None:
    assert words_of("ü € a") == [("ü", ["▁", "ü"]), ("€", ["▁", "<0xE2>", "<0x82>", "<0xAC>"]), ("a", ["▁a"])]


def test_white_space_belongs_to_the_word_behind_it_and_at_the_end_to_the_last() -> None:
    assert words_of("a  \t b ") == [("a", ["▁a"]), ("b", ["▁", "▁", "\t", "▁", "b", "▁"])]


def test_a_text_without_words_has_none() -> None:
    for text in ("", " ", " \t "):
        assert find_words(SUBWORDS, SUBWORDS.encode(text)) == ([], [])


def test_words_of_a_tokenizer_that_marks_the_inside() -> None:
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("l", "o"), ("lo", "w</w>"))), ["low", "lo@@", "t", "s@@"])
    assert find_words(tokenizer, tokenizer.encode("low slot low")) == (["low", "slot", "low"], [0, 1, 1, 1, 2])


@given(st.text(alphabet="ab cdü€\u3000,\t", max_size=20))
def test_every_id_has_a_word_and_every_word_an_id(text: str) -> None:
    words = find_words(SUBWORDS, SUBWORDS.encode(text))
    assert words.texts == text.split()
    assert set(words.word_of) == set(range(len(words.texts)))
    assert words.word_of == sorted(words.word_of)
