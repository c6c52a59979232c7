from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.base.errors import TokenizerError
from transduce.tokenizer import load_tokenizer
from transduce.tokenizer.document import write_document
from transduce.tokenizer.protocol import CONTROL_PIECES, EOS_ID, N_CONTROL, Tokenizer
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.tree_source import TreeSourceTokenizer
from transduce.tokenizer.trees import TreeTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary

WORDS = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
TREES = TreeTokenizer(("(NP", ")NP", "NN"), "kept", words=WORDS)
SENTENCES = TreeSourceTokenizer(TREES)


def test_a_word_has_the_ids_that_it_has_in_trees() -> None:
    assert isinstance(SENTENCES, Tokenizer)
    tree = TREES.encode("(TOP (NP (NN ab) (NN cab)))")
    assert SENTENCES.encode("ab cab") == [index for index in tree if index >= N_CONTROL + 3]
    assert SENTENCES.vocab_size == TREES.vocab_size and SENTENCES.first_piece == N_CONTROL + 3
    assert SENTENCES.pieces(range(7)) == [*CONTROL_PIECES, "(NP", ")NP", "NN"]
    assert SENTENCES.decode([EOS_ID, 5, *SENTENCES.encode("ab"), SENTENCES.vocab_size]) == "ab"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_any_text_comes_back(texts: list[str]) -> None:
    for text, ids in zip(texts, SENTENCES.encode_batch(texts), strict=True):
        assert ids == SENTENCES.encode(text) == [index + 3 for index in WORDS.encode(text)]
        assert all(SENTENCES.first_piece <= index < SENTENCES.vocab_size for index in ids)
        assert SENTENCES.decode(ids) == text


def test_what_is_no_text_and_what_is_no_id_is_refused() -> None:
    with pytest.raises(TokenizerError, match="surrogate"):
        SENTENCES.encode("a \ud800")
    with pytest.raises(IndexError):
        SENTENCES.pieces([SENTENCES.vocab_size])
    with pytest.raises(ValueError, match="without words"):
        TreeSourceTokenizer(TreeTokenizer(("(NP", ")NP", "XX"), "replaced"))


def test_it_is_kept_on_the_disk_and_sent_to_other_processes(tmp_path: Path) -> None:
    SENTENCES.save(tmp_path)
    for copy in (load_tokenizer(tmp_path), pickle.loads(pickle.dumps(SENTENCES))):
        assert isinstance(copy, TreeSourceTokenizer)
        assert copy.fingerprint == SENTENCES.fingerprint not in (WORDS.fingerprint, TREES.fingerprint)
        assert copy.encode("a b") == SENTENCES.encode("a b")


@pytest.mark.parametrize(
    "content", [{"kind": "tree-source"}, {"kind": "tree-source", "trees": TreeTokenizer(("XX",), "replaced").content}]
)
def test_a_file_without_words_is_refused(content: dict[str, object], tmp_path: Path) -> None:
    write_document(tmp_path, content)
    with pytest.raises(TokenizerError, match="not a tokenizer that this release knows"):
        load_tokenizer(tmp_path)
