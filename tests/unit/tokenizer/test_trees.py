from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from transduce.base.errors import TokenizerError
from transduce.text.linearize import Tags
from transduce.text.segments import SentencePair
from transduce.tokenizer import learn_tokenizers, load_tokenizer, load_tokenizers, save_tokenizers
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL, PAD_ID, UNK_ID, Tokenizer
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.trees import TreeTokenizer, learn_trees
from transduce.tokenizer.vocabulary import BpeVocabulary

TREES = [
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ runs))))",
    "(TOP (S (NP (DT a) (NN dog)) (VP (VBZ sleeps) (ADVP (RB here)))))",
]


def test_each_label_is_one_id_the_most_frequent_first() -> None:
    replaced = learn_trees(TREES, "replaced")
    assert replaced.tokens == (
        "XX",
        "(NP",
        "(S",
        "(VP",
        ")NP",
        ")S",
        ")VP",
        "(ADVP",
        ")ADVP",
    )  # 7 words, 2 each, 1 ADVP
    kept = learn_trees(TREES, "kept")
    assert set(kept.tokens) == {*replaced.tokens, "DT", "NN", "VBZ", "RB"} - {"XX"}


@pytest.mark.parametrize("tags", ["replaced", "kept"])
def test_trees_to_ids_and_back(tags: str) -> None:
    tokenizer = learn_trees(TREES, "kept" if tags == "kept" else "replaced")
    assert isinstance(tokenizer, Tokenizer)
    for tree, ids in zip(TREES, tokenizer.encode_batch(TREES), strict=True):
        assert ids == tokenizer.encode(tree)
        assert all(N_CONTROL <= index < tokenizer.vocab_size for index in ids)
        assert tokenizer.decode(ids).split() == tokenizer.pieces(ids)
    assert learn_trees(TREES, "replaced").decode([PAD_ID, UNK_ID, 4, EOS_ID, 999, 5]) == "XX (NP"
    assert tokenizer.encode("") == []


@pytest.mark.parametrize("tags", ["replaced", "kept"])
def test_words_that_are_kept_are_pieces(tags: Tags) -> None:
    words = SubwordTokenizer(BpeVocabulary((("Ġ", "c"), ("Ġc", "a"), ("Ġca", "t"))))
    tokenizer = learn_trees(TREES, tags, words=words)
    assert "XX" not in tokenizer.tokens
    tree = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ runs) (-LRB- -LRB-))))"
    ids = tokenizer.encode(tree)
    assert [ids] == tokenizer.encode_batch([tree])
    named = tokenizer.pieces(ids)
    bare = {"kept": "(S (NP DT ▁ t h e NN ▁cat )NP (VP VBZ ▁ r u n s <unk> ▁ ( )VP )S"}
    assert named == bare.get(tags, "(S (NP ▁ t h e ▁cat )NP (VP ▁ r u n s ▁ ( )VP )S").split()
    assert all(index < tokenizer.vocab_size for index in ids)
    inside = [name for name, goes_on in zip(named, tokenizer.continues(ids), strict=True) if goes_on]
    if tags == "kept":
        assert inside == ["▁", "t", "h", "e", "▁cat", "▁", "r", "u", "n", "s", "("]
        assert tokenizer.decode(ids) == "(S (NP DT NN )NP (VP VBZ XX )VP )S"  # the tag of the last was not learned
    else:
        assert inside == ["t", "h", "e", "r", "u", "n", "s", "("]
        assert tokenizer.decode(ids) == "(S (NP XX XX )NP (VP XX XX )VP )S"
    assert tokenizer.spell(["cat", "the"]) == [tuple(ids[i] for i in places) for places in _places(named)]
    assert learn_trees(TREES, tags).spell(["cat"]) == [()]
    with pytest.raises(IndexError):
        tokenizer.pieces([tokenizer.vocab_size])


def _places(named: list[str]) -> list[list[int]]:
    the = named.index("t") - 1
    return [[named.index("▁cat")], list(range(the, the + 4))]


def test_a_new_label_is_unknown_and_what_is_no_tree_is_refused() -> None:
    tokenizer = learn_trees(TREES, "replaced")
    assert tokenizer.encode("(TOP (QP (CD 3)))") == [UNK_ID, tokenizer.encode(TREES[0])[2], UNK_ID]
    with pytest.raises(TokenizerError, match=r"'\(S the cat' is no tree in brackets"):
        tokenizer.encode("(S the cat")
    with pytest.raises(TokenizerError, match="no trees to learn labels from"):
        learn_trees([], "replaced")
    with pytest.raises(IndexError):
        tokenizer.pieces([99])


@pytest.mark.parametrize("words", [None, SubwordTokenizer(BpeVocabulary(()))])
def test_it_is_kept_on_the_disk_and_sent_to_other_processes(words: SubwordTokenizer | None, tmp_path: Path) -> None:
    tokenizer = learn_trees(TREES, "kept", words=words)
    tokenizer.save(tmp_path)
    for copy in (load_tokenizer(tmp_path), pickle.loads(pickle.dumps(tokenizer))):
        assert isinstance(copy, TreeTokenizer)
        assert (copy.tokens, copy.tags, copy.fingerprint) == (tokenizer.tokens, "kept", tokenizer.fingerprint)
        assert (copy.words is None) is (words is None)
        assert copy.encode(TREES[0]) == tokenizer.encode(TREES[0])
    assert learn_trees(TREES, "replaced").fingerprint != tokenizer.fingerprint


def test_the_source_of_trees_is_text_like_any_other(tmp_path: Path) -> None:
    pairs = [SentencePair("the cat runs", TREES[0]), SentencePair("a dog sleeps here", TREES[1])]
    pair = learn_tokenizers(pairs, TokenizerSettings(vocab_size=270, joint=False), target="trees")
    assert pair.src.decode(pair.src.encode("the dog runs")) == "the dog runs"
    assert isinstance(pair.tgt, TreeTokenizer) and pair.tgt.tags == "replaced"
    kept = learn_tokenizers(pairs, TokenizerSettings(vocab_size=270, joint=False, tree_words="kept"), target="trees")
    assert (
        isinstance(kept.tgt, TreeTokenizer)
        and kept.tgt.words is not None
        and kept.src.fingerprint == pair.src.fingerprint
    )
    assert kept.tgt.words.fingerprint == kept.src.fingerprint
    joint = learn_tokenizers(pairs, TokenizerSettings(vocab_size=270, tree_words="kept"), target="trees")
    assert (pair.joint, kept.joint, joint.joint, joint.is_one) == (False, False, True, False)
    assert joint.tgt.fingerprint == kept.tgt.fingerprint and joint.src.vocab_size == joint.tgt.vocab_size
    for number, tokenizers in enumerate((pair, joint)):
        save_tokenizers(tokenizers, tmp_path / f"{number}")
        loaded = load_tokenizers(tmp_path / f"{number}")
        assert loaded.differing_side(tokenizers) is None and loaded.joint == tokenizers.joint
