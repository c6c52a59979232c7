from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.text.random_trees import trees
from transduce.data.constituents import constituent_pairs, constituents
from transduce.text.segments import SentencePair
from transduce.text.treebank import clean_tree
from transduce.text.trees import Leaf, Tree, format_tree, parse_tree, tree_leaves, walk

TREE = (
    "(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (NP (DT a) (NN mat)) (PP (IN of) (NP (NN hay)))))))"
    ")"
)


def test_constituents_come_inner_ones_first_without_the_whole() -> None:
    assert [" ".join(leaf.word for leaf in tree_leaves(tree)) for tree in constituents(parse_tree(TREE), 8)] == [
        "the old cat",
        "a mat",
        "of hay",
        "a mat of hay",
        "on a mat of hay",
        "sits on a mat of hay",
    ]
    assert [len(tree_leaves(tree)) for tree in constituents(parse_tree(TREE), 3)] == [3, 2, 2]
    assert not list(constituents(parse_tree(TREE), 1))


def test_of_several_over_the_same_words_the_outermost_comes() -> None:
    tree = parse_tree("(TOP (S (S (NP (NML (NN sea) (NN salt))) (VP (VBZ is) (ADJP (JJ rare))))))")
    assert [format_tree(each) for each in constituents(tree, 9)] == [
        "(TOP (NP (NML (NN sea) (NN salt))))",
        "(TOP (VP (VBZ is) (ADJP (JJ rare))))",
    ]


@given(trees(), st.integers(2, 6))
def test_each_is_a_part_of_the_tree(tree: Tree, max_words: int) -> None:
    clean = clean_tree(tree)
    if clean is None:
        return
    parts = [node for _, node in walk(clean) if not isinstance(node, Leaf)]
    n_all = len(tree_leaves(clean))
    for found in constituents(clean, max_words):
        assert found.label == "TOP" and found.children[0] in parts
        assert 2 <= len(tree_leaves(found)) <= min(max_words, n_all - 1)


def test_each_comes_once_and_words_are_as_the_parser_is_shown_them() -> None:
    quoted = "(TOP (S (NP (`` ``) (NN tea) ('' '')) (VP (-LRB- -LRB-) (VBD rose) (-RRB- -RRB-))))"
    found = list(constituent_pairs([TREE, quoted, TREE], 3))
    assert [pair.src for pair in found] == ["the old cat", "a mat", "of hay", "`` tea ''", "( rose )"]
    assert found[1] == SentencePair("a mat", "(TOP (NP (DT a) (NN mat)))")
