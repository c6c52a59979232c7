from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.text.random_trees import trees
from transduce.text.linearize import linearize
from transduce.text.repair import RepairCounts, build_tree
from transduce.text.treebank import clean_tree
from transduce.text.trees import Tree, format_tree, parse_tree, tree_leaves

WORDS = ["the", "dog", "ran", "home", "."]
GOOD = "(S (NP XX XX )NP (VP XX (ADVP XX )ADVP )VP XX )S"


@pytest.mark.parametrize(
    ("tokens", "tree", "faults"),
    [
        (GOOD, "(TOP (S (NP (XX the) (XX dog)) (VP (XX ran) (ADVP (XX home))) (. .)))", ()),
        (
            "(S (NP XX XX )NP (VP XX",
            "(TOP (S (NP (XX the) (XX dog)) (VP (XX ran)) (XX home) (. .)))",
            ("missing", "unclosed"),
        ),
        (f"{GOOD} )S )S", "(TOP (S (NP (XX the) (XX dog)) (VP (XX ran) (ADVP (XX home))) (. .)))", ("unopened",)),
        ("", "(TOP (XX the) (XX dog) (XX ran) (XX home) (. .))", ("missing",)),
        ("XX XX XX XX XX", "(TOP (XX the) (XX dog) (XX ran) (XX home) (. .))", ()),
        (
            "(S (NP XX XX (VP XX XX )S XX",
            "(TOP (S (NP (XX the) (XX dog) (VP (XX ran) (XX home)))) (. .))",
            ("unclosed",),
        ),
        ("(S (NP )NP XX XX XX XX XX )S", "(TOP (S (XX the) (XX dog) (XX ran) (XX home) (. .)))", ("empty",)),
        ("(S XX XX XX XX XX XX XX )S", "(TOP (S (XX the) (XX dog) (XX ran) (XX home) (. .)))", ("surplus",)),
        ("(S DT NN VBD -NOTAG- . )S", "(TOP (S (DT the) (NN dog) (VBD ran) (XX home) (. .)))", ()),
    ],
)
def test_what_becomes_of_an_output(tokens: str, tree: str, faults: tuple[str, ...]) -> None:
    built = build_tree(tokens.split(), WORDS)
    assert (format_tree(built.tree), built.faults) == (tree, faults)


@given(trees())
def test_a_well_formed_output_is_taken_as_it_is(tree: Tree) -> None:
    clean = clean_tree(tree)
    if clean is not None:
        words = [leaf.word for leaf in tree_leaves(clean)]
        built = build_tree(linearize(clean, tags="kept")[1:-1], words)
        assert not built.faults
        assert linearize(built.tree) == linearize(clean)


@given(
    st.lists(st.sampled_from(["(S", ")S", "(NP", ")NP", "XX", "NN"]), max_size=30),
    st.lists(st.sampled_from(["tea", "-LRB-", ".", "\\"]), min_size=1, max_size=15),
)
def test_any_output_gives_a_tree_over_the_words(tokens: list[str], words: list[str]) -> None:
    built = build_tree(tokens, words)
    assert parse_tree(format_tree(built.tree)) == built.tree
    assert [leaf.word for leaf in tree_leaves(built.tree)] == words
    again = build_tree(linearize(built.tree)[1:-1], words)
    assert not again.faults


def test_a_hundred_thousand_levels() -> None:
    n = 100_000
    built = build_tree([*["(X"] * n, "XX"], ["tea"])
    assert built.faults == ("unclosed",)
    assert format_tree(built.tree) == "(TOP " + "(X " * n + "(XX tea)" + ")" * (n + 1)


def test_counts() -> None:
    counts = RepairCounts()
    assert counts.describe() == "0 of 0 outputs (100.00 %) well-formed"
    for tokens in (GOOD, "(S XX", ")S"):
        counts.add(build_tree(tokens.split(), WORDS).faults)
    assert (counts.n_outputs, counts.n_well_formed, counts.n_repaired) == (3, 1, 2)
    assert counts.describe() == (
        "1 of 3 outputs (33.33 %) well-formed; repaired: 1 (a constituent is not closed), 1 (a bracket closes nothing), "
        "2 (fewer words than the sentence has)"
    )
