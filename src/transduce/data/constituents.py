"""Constituents of training trees as trees of their own: short sentences to learn from, where there are few trees.

A model learns which word it has come to from short sentences sooner than from long ones, and of short constituents a
treebank has many times as many as of sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from transduce.text.parses import tree_pair
from transduce.text.segments import SentencePair
from transduce.text.treebank import ROOT_LABEL
from transduce.text.trees import Leaf, Tree, format_tree, parse_tree, walk

__all__ = ["constituent_pairs", "constituents"]


def constituents(tree: Tree, max_words: int) -> Iterator[Tree]:
    """Yield each constituent of 2 to ``max_words`` words under a root of its own, from left to right, inner ones first.

    Of several over the same words only the outermost comes, and none that has all words of the tree.

    Args:
        tree: A clean tree.
        max_words: Most words of a constituent.

    >>> tree = parse_tree("(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))")
    >>> list(constituents(tree, 8))
    [<Tree (TOP (NP (DT the) (NN cat)))>]
    """
    n_words = 0
    opened: list[tuple[Tree, int]] = []  # with the words before it
    for step, node in walk(tree):
        if isinstance(node, Leaf):
            n_words += 1
        elif step == "open":
            opened.append((node, n_words))
        else:
            _, before = opened.pop()
            is_outermost = bool(opened) and len(opened[-1][0].children) > 1
            if is_outermost and 2 <= n_words - before <= max_words:
                yield Tree(ROOT_LABEL, (node,))


def constituent_pairs(trees: Iterable[str], max_words: int) -> Iterator[SentencePair]:
    """Yield the constituents of many trees as pairs to learn from, each once.

    Args:
        trees: Clean trees in brackets.
        max_words: Most words of a constituent.
    """
    seen: set[bytes] = set()
    for text in trees:
        for tree in constituents(parse_tree(text), max_words):
            key = blake2b(format_tree(tree).encode(), digest_size=8).digest()
            if key not in seen:
                seen.add(key)
                yield tree_pair(tree)
