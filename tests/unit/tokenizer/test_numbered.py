from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.base.errors import TokenizerError
from transduce.text.parses import sentence_words
from transduce.tokenizer import load_tokenizer
from transduce.tokenizer.numbered import NumberedTokenizer
from transduce.tokenizer.protocol import CONTROL_PIECES, Tokenizer
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary

WORDS = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
NUMBERED = NumberedTokenizer(WORDS)


def test_each_word_has_its_number_in_front() -> None:
    assert isinstance(NUMBERED, Tokenizer)
    text = " ".join(["ab"] * 12)
    ids = NUMBERED.encode(text)
    assert NUMBERED.pieces(ids)[::2] == [f"<{n % 10}>" for n in range(12)]
    assert set(NUMBERED.pieces(ids)[1::2]) == {"▁ab"}
    assert max(ids) < NUMBERED.vocab_size == WORDS.vocab_size + 10
    assert NUMBERED.decode(ids) == text
    assert NUMBERED.encode("") == NUMBERED.encode("  ") == []
    assert NUMBERED.pieces(range(4)) == list(CONTROL_PIECES)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_without_numbers_words_have_the_ids_that_they_have_in_the_text(texts: list[str]) -> None:
    for text, ids in zip(texts, NUMBERED.encode_batch(texts), strict=True):
        assert ids == NUMBERED.encode(text)
        bare = " ".join(sentence_words(text))
        assert [index for index in ids if index < NUMBERED.first_number] == WORDS.encode(bare)
        assert NUMBERED.decode(ids) == bare


def test_what_is_no_text_and_what_is_no_id_is_refused() -> None:
    with pytest.raises(TokenizerError, match="surrogate"):
        NUMBERED.encode("a \ud800")
    with pytest.raises(IndexError):
        NUMBERED.pieces([NUMBERED.vocab_size])


def test_it_is_kept_on_the_disk_and_sent_to_other_processes(tmp_path: Path) -> None:
    NUMBERED.save(tmp_path)
    for copy in (load_tokenizer(tmp_path), pickle.loads(pickle.dumps(NUMBERED))):
        assert isinstance(copy, NumberedTokenizer)
        assert copy.fingerprint == NUMBERED.fingerprint != WORDS.fingerprint
        assert copy.encode("a b") == NUMBERED.encode("a b")


def test_a_file_without_its_words_is_refused(tmp_path: Path) -> None:
    from transduce.tokenizer.document import write_document

    write_document(tmp_path, {"kind": "numbered"})
    with pytest.raises(TokenizerError, match="not a tokenizer that this release knows"):
        load_tokenizer(tmp_path)
