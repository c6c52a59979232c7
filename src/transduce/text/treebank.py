"""Trees of a treebank made ready to learn from and to score: no traces, no function labels, one kind of root, one spelling.

Brackets among the words are the trap here. Inside a tree they are written ``-LRB-`` and the like, outside they are brackets:
:func:`escape_word` and :func:`plain_word` go between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from transduce.text.linearize import ANY_TAG
from transduce.text.trees import Leaf, Step, Tree, TreeBuilder, walk

__all__ = ["ROOT_LABEL", "ROOT_WRAPPERS", "clean_tree", "escape_word", "plain_word"]

ROOT_LABEL = "TOP"
"""The label of the outermost brackets of clean trees."""

ROOT_WRAPPERS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
"""Labels of outermost brackets that only wrap the tree: of the Penn Treebank, and of parsers and treebanks after it."""

_TRACE_TAG = "-NONE-"
_FUNCTION = re.compile(r"(?<=[^-=])[-=].*")  # from the first mark on, unless the label begins with one, as -LRB- does
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_NAMES = {name: bracket for bracket, name in _BRACKETS.items()}
_NAME = re.compile("|".join(_NAMES))
_BRACKET = re.compile(r"[()\[\]{}]")
_ESCAPED = re.compile(r"\\([/*])")


def clean_tree(tree: Tree, *, root: str = ROOT_LABEL) -> Tree | None:
    """Return a tree as parsers learn and are scored on it.

    - Traces (words tagged ``-NONE-``) go, and the constituents that have nothing else.
    - Labels and tags end before their first ``-`` or ``=``: ``NP-SBJ-1`` becomes ``NP``, ``PP=2`` becomes ``PP``.
      ``ADVP|PRT`` stays, and so does what begins with a mark, as ``-LRB-``.
    - Wrappers around the tree (``( ...)``, ``(TOP ...)``, ``(ROOT ...)``, ``(S1 ...)``, ``(VROOT ...)``) become one: ``root``.
      A tree without gets it.
    - A word that stands in its phrase without a tag gets the tag ``XX``.
    - Brackets in words are spelled out (``[`` becomes ``-LSB-``), and the escapes ``\\/`` and ``\\*`` lose their backslash.

    Args:
        tree: The tree as it was read.
        root: The label of the outermost brackets of the result.

    Returns:
        The clean tree, or None when it has nothing but traces.

    >>> from transduce.text.trees import parse_tree
    >>> clean_tree(parse_tree("( (S (NP-SBJ-1 (NN rate)) (VP (VBD fell) (NP (-NONE- *-1)) (NP-EXT=2 (CD 1\\\\/2)))))"))
    <Tree (TOP (S (NP (NN rate)) (VP (VBD fell) (NP (CD 1/2)))))>
    """
    builder = TreeBuilder()
    builder.open(root)
    for step, node in _steps_inside(tree):
        if isinstance(node, Leaf):
            if node.tag != _TRACE_TAG:
                builder.add_leaf(Leaf(_without_function(node.tag) or ANY_TAG, escape_word(plain_word(node.word))))
        elif step == "open":
            builder.open(_without_function(node.label))
        else:
            builder.close()
    builder.close()
    return builder.finished[0] if builder.finished else None


def _steps_inside(tree: Tree) -> Iterator[Step]:
    """Yield the steps over what stands inside the wrappers of a tree."""
    children: tuple[Tree | Leaf, ...] = (tree,)
    while len(children) == 1 and isinstance(children[0], Tree) and children[0].label in ROOT_WRAPPERS:
        children = children[0].children
    for child in children:
        if isinstance(child, Leaf):
            yield "leaf", child
        elif len(child.children) == 1 and isinstance(child.children[0], Leaf) and not child.children[0].tag:
            yield "leaf", Leaf(child.label, child.children[0].word)  # a tree of one word: its label is a tag
        else:
            yield from walk(child)


def _without_function(label: str) -> str:
    return label if label[:1] in "-=" else _FUNCTION.sub("", label)


def plain_word(word: str) -> str:
    """Return a word of a tree as it stands in a sentence: with brackets, and without the escapes of the Penn Treebank.

    >>> [plain_word(word) for word in ("-LRB-", "Spouse-LRB-s-RRB-", "1\\\\/2", "``")]
    ['(', 'Spouse(s)', '1/2', '``']
    """
    if "-" in word:
        word = _NAME.sub(lambda match: _NAMES[match[0]], word)
    return _ESCAPED.sub(r"\1", word) if "\\" in word else word


def escape_word(word: str) -> str:
    """Return a word of a sentence as it stands in a tree: ``-LRB-`` for ``(``, and so for all six brackets.

    >>> [escape_word(word) for word in ("(", "Spouse(s)", "[...]")]
    ['-LRB-', 'Spouse-LRB-s-RRB-', '-LSB-...-RSB-']
    """
    return _BRACKET.sub(lambda match: _BRACKETS[match[0]], word)
