from __future__ import annotations

import pytest
from hypothesis import given

from tests.shared import case_file, data_file
from tests.unit.text.random_trees import trees
from transduce.base.errors import DataError
from transduce.text.linearize import delinearize, linearize, replace_tags
from transduce.text.treebank import clean_tree
from transduce.text.trees import Leaf, Tree, format_tree, parse_tree, read_trees, tree_leaves


def words_of(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree_leaves(tree)]


def check_round_trip(tree: Tree) -> None:
    words = words_of(tree)
    assert delinearize(linearize(tree, tags="kept"), words, tags="kept") == tree
    assert delinearize(linearize(tree, tags="kept", words="kept"), tags="kept") == tree
    without_tags = replace_tags(tree)
    assert tree_leaves(without_tags) == [Leaf("XX", word) for word in words]
    assert delinearize(linearize(tree), words) == without_tags
    assert delinearize(linearize(tree, words="kept")) == without_tags


@given(trees())
def test_any_tree_comes_back(tree: Tree) -> None:
    check_round_trip(tree)


def test_the_example_of_grammar_as_a_foreign_language() -> None:
    tree = parse_tree("(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))")
    assert linearize(tree) == ["(S", "(NP", "XX", ")NP", "(VP", "XX", "(NP", "XX", "XX", ")NP", ")VP", "XX", ")S"]


@pytest.mark.parametrize("name", ["B119.trees", "B121.trees", "B129.gold", "B129.pred"])
def test_trees_of_the_cases_come_back_as_they_were_written(name: str) -> None:
    for line in case_file(name).read_text().splitlines():
        tree = parse_tree(line)
        assert format_tree(delinearize(linearize(tree, tags="kept"), words_of(tree), tags="kept")) == line


def test_equal_brackets_and_chains_are_counted_and_keep_their_order() -> None:
    tree = parse_tree("(TOP (S (NP (NP (NN tea)))))")
    assert linearize(tree) == ["(TOP", "(S", "(NP", "(NP", "XX", ")NP", ")NP", ")S", ")TOP"]
    chain = parse_tree("(VP (S (VB go)))")
    assert linearize(chain) != linearize(parse_tree("(S (VP (VB go)))"))


def test_a_hundred_thousand_levels() -> None:
    n = 100_000
    tree = parse_tree("(X " * n + "(NN a)" + ")" * n)
    tokens = linearize(tree, tags="kept")
    assert len(tokens) == 2 * n + 1
    assert delinearize(tokens, ["a"], tags="kept") == tree


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("", "0 tokens with 0 closing brackets missing: no tree"),
        ("(S (NP XX )NP", "4 tokens with 1 closing bracket missing: no tree"),
        ("(S XX )NP", r"token 3 \('\)NP'\) closes what '\(S' has opened"),
        ("(S (NP )NP XX )S", "closes a constituent that has nothing in it"),
        ("(S XX )S )S", "token 4 .* stands outside of the tree"),
        ("(S XX )S XX", "token 4 .* stands outside of the tree"),
        (")S", "token 1 .* stands outside of all brackets"),
        ("XX", "token 1 .* stands outside of all brackets"),
        ("(S XX XX )S", "token 3 .*: there is no word left"),
        ("(S (NP )NP )S", "closes a constituent that has nothing in it"),
    ],
)
def test_what_is_no_tree(tokens: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        delinearize(tokens.split(), ["a"])


def test_words_that_are_left_over() -> None:
    with pytest.raises(DataError, match="2 words too few"):
        delinearize(["(S", "XX", ")S"], ["a", "b", "c"])


@pytest.mark.parametrize("name", ["wsj-sample/wsj_0001-0199", "craft-trees/craft.dev", "gum-trees/gum.dev"])
def test_every_seventh_tree_of_the_treebanks_comes_back(name: str) -> None:
    _check_treebank(name, every=7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "wsj-sample/wsj_0001-0199",
        "craft-trees/craft.train",
        "craft-trees/craft.dev",
        "gum-trees/gum.train",
        "gum-trees/gum.dev",
    ],
)
def test_every_tree_of_the_treebanks_comes_back(name: str) -> None:
    _check_treebank(name, every=1)


def _check_treebank(name: str, *, every: int) -> None:
    for number, tree in enumerate(read_trees(data_file(f"{name}.trees.gz"))):
        if number % every == 0:
            check_round_trip(tree)
            clean = clean_tree(tree)
            assert clean is not None
            check_round_trip(clean)
