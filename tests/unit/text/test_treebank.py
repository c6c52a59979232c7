from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import case_file, data_file
from tests.unit.text.random_trees import trees
from transduce.text.treebank import clean_tree, escape_word, plain_word
from transduce.text.trees import Tree, format_tree, parse_tree, read_trees, tree_leaves


def cleaned(text: str) -> str | None:
    tree = clean_tree(parse_tree(text))
    return None if tree is None else format_tree(tree)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("(S (NP-SBJ-1 (NN a)) (PP-LOC=2 (IN b)))", "(TOP (S (NP (NN a)) (PP (IN b))))"),
        ("(S (ADVP|PRT (RB a)) (X (NN-HL b)))", "(TOP (S (ADVP|PRT (RB a)) (X (NN b))))"),
        (
            "(S (-LRB- -LRB-) (NP (PRP$ my) (NN x)) (-RRB- -RRB-))",
            "(TOP (S (-LRB- -LRB-) (NP (PRP$ my) (NN x)) (-RRB- -RRB-)))",
        ),
        ("(S (NP (-NONE- *)) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))", "(TOP (S (VP (VB go))))"),
        (
            "(S (-LRB- [) (CD 1\\/2) (SYM \\*\\*) (-RRB- ]) (NN {))",
            "(TOP (S (-LRB- -LSB-) (CD 1/2) (SYM **) (-RRB- -RSB-) (NN -LCB-)))",
        ),
        ("(S (NP (NP (NN tea))))", "(TOP (S (NP (NP (NN tea)))))"),
        ("(S (NP (-NONE- *) tea) (VB go))", "(TOP (S (NP (XX tea)) (VB go)))"),
        ("(NN Abstract)", "(TOP (NN Abstract))"),
        ("( (S (NN a)) (. .))", "(TOP (S (NN a)) (. .))"),
        ("( (NP (-NONE- *)))", None),
    ],
)
def test_what_clean_trees_are(text: str, clean: str | None) -> None:
    assert cleaned(text) == clean


def test_all_wrappers_become_one() -> None:
    texts = case_file("B127.pred").read_text().splitlines()
    assert {cleaned(text) for text in texts} == {case_file("B127.gold").read_text().splitlines()[0]}
    assert cleaned("( (ROOT (TOP (S (NN a)))))") == "(TOP (S (NN a)))"
    tree = parse_tree("(S1 (S (NN a)))")
    assert format_tree(clean_tree(tree, root="") or tree) == "( (S (NN a)))"


@given(trees())
def test_a_clean_tree_is_clean(tree: Tree) -> None:
    clean = clean_tree(tree)
    words = [escape_word(plain_word(leaf.word)) for leaf in tree_leaves(tree) if leaf.tag != "-NONE-"]
    if clean is None:
        assert not words
    else:
        assert clean_tree(clean) == clean
        assert [leaf.word for leaf in tree_leaves(clean)] == words
        assert parse_tree(format_tree(clean)) == clean


@given(st.text(st.characters(codec="utf-8", exclude_characters="\\"), min_size=1))
def test_words_with_brackets_come_back(word: str) -> None:
    escaped = escape_word(word)
    assert not set(escaped) & set("()[]{}")
    assert plain_word(escaped) == plain_word(word)
    assert escape_word(plain_word(escaped)) == escaped


def test_a_chain_of_unary_constituents_stays_however_long() -> None:
    n = 100_000
    text = "(NP " * n + "(NN tea)" + ")" * n
    assert cleaned(text) == f"(TOP {text})"


def test_brackets_among_the_words() -> None:
    sentences = case_file("B121.txt").read_text().splitlines()
    read = [parse_tree(line) for line in case_file("B121.trees").read_text().splitlines()]
    assert [" ".join(plain_word(leaf.word) for leaf in tree_leaves(tree)) for tree in read] == sentences
    assert [[escape_word(word) for word in sentence.split()] for sentence in sentences] == [
        [leaf.word for leaf in tree_leaves(tree)] for tree in read
    ]
    assert [clean_tree(tree) for tree in read] == read


def test_no_trace_is_left_of_the_sample_of_the_penn_treebank() -> None:
    clean = [clean_tree(tree) for tree in read_trees(data_file("wsj-sample/wsj_0001-0199.trees.gz"))]
    leaves = [leaf for tree in clean if tree is not None for leaf in tree_leaves(tree)]
    assert (len(clean), None in clean) == (3914, False)
    assert len(leaves) == 94084  # what the README of the data counts without traces
    assert not any(leaf.tag == "-NONE-" or "\\" in leaf.word for leaf in leaves)
