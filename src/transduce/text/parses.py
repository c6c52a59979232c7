"""Between a sentence and its tree: what a parser reads, and what is made of what it writes.

A parser is given words that are parted by white space, in the spelling of the Penn Treebank (``do n't``, `` `` ``, ``''``),
with real brackets. It writes the tokens of :mod:`transduce.text.linearize` without words, and without the outermost brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from transduce.text.linearize import ANY_TAG
from transduce.text.segments import SentencePair
from transduce.text.treebank import escape_word, plain_word
from transduce.text.trees import Leaf, Tree, TreeBuilder, format_tree, tree_leaves, walk

__all__ = ["PUNCTUATION_TAGS", "copy_tags", "model_words", "sentence_words", "tag_by_form", "tree_pair", "tree_words"]

PUNCTUATION_TAGS = frozenset({",", ":", "``", "''", "."})
"""Tags whose words evaluation leaves out: the list of COLLINS.prm, the usual parameters of EVALB."""

_WHITE = re.compile(r"[ \t\r\n\f\v]+")
_TAG_OF = {
    **dict.fromkeys(",", ","),
    **dict.fromkeys(".?!", "."),
    **dict.fromkeys((":", ";", "-", "--", "---", "...", "–", "—", "…"), ":"),
    **dict.fromkeys(("``", "`", "“", "‘"), "``"),
    **dict.fromkeys(("''", "”"), "''"),
    **dict.fromkeys(("-LRB-", "-LSB-", "-LCB-"), "-LRB-"),
    **dict.fromkeys(("-RRB-", "-RSB-", "-RCB-"), "-RRB-"),
}
"""Tags of words that are punctuation by their form. An apostrophe is not among them: it is mostly a possessive."""


def sentence_words(line: str) -> list[str]:
    """Return the words of a sentence. Only white space of ASCII parts them: a word may hold a no-break space.

    >>> sentence_words("He ( the boss )  left .")
    ['He', '(', 'the', 'boss', ')', 'left', '.']
    """
    return [word for word in _WHITE.split(line) if word]


def tree_words(line: str) -> list[str]:
    """Return the words of a sentence as they stand in trees.

    >>> tree_words("see [ 3 ]")
    ['see', '-LSB-', '3', '-RSB-']
    """
    return [escape_word(word) for word in sentence_words(line)]


def model_words(words: Sequence[str]) -> list[str]:
    """Return words as a parser is shown them: without escapes, and with ``"`` as opening and closing quotes in turn.

    >>> model_words(["-LRB-", '"', "Go", '"', "1\\\\/2"])
    ['(', '``', 'Go', "''", '1/2']
    """
    shown = []
    is_open = False
    for word in map(plain_word, words):
        if word == '"':
            shown.append("''" if is_open else "``")
            is_open = not is_open
        else:
            shown.append(word)
    return shown


def tree_pair(tree: Tree) -> SentencePair:
    """Return a clean tree as a pair to learn from: the sentence as a parser is shown it, and the tree in brackets.

    >>> from transduce.text.trees import parse_tree
    >>> tree_pair(parse_tree("(TOP (PRN (-LRB- -LRB-) (CD 3) (-RRB- -RRB-)))"))
    SentencePair(src='( 3 )', tgt='(TOP (PRN (-LRB- -LRB-) (CD 3) (-RRB- -RRB-)))')
    """
    return SentencePair(" ".join(model_words([leaf.word for leaf in tree_leaves(tree)])), format_tree(tree))


def tag_by_form(word: str) -> str:
    """Return the tag of a word of a tree that is punctuation by its form, and ``XX`` for any other.

    >>> [tag_by_form(word) for word in ("?", "...", "-LRB-", "cat", "'")]
    ['.', ':', '-LRB-', 'XX', 'XX']
    """
    return _TAG_OF.get(word, ANY_TAG)


def copy_tags(predicted: Tree, gold: Tree, *, which: Literal["all", "punctuation"]) -> Tree:
    """Return a predicted tree with tags of the gold tree, since evaluation leaves words out by their tags.

    A parser whose trees have no tags would be scored over more words than the gold tree has, and a wrong tag of one comma
    would cost a whole sentence, brackets and all. So would a ``"`` that the parser was shown as opening or closing quotes:
    words get the spelling of the gold tree.

    Args:
        predicted: A tree.
        gold: The gold tree over the same sentence. Where it has another number of words, nothing is changed.
        which: ``all``: every word gets its gold tag. ``punctuation``: those that either tree takes for punctuation.

    >>> from transduce.text.trees import parse_tree
    >>> gold = parse_tree("(TOP (S (NP (DT the) (NN cat)) (. .)))")
    >>> copy_tags(parse_tree("(TOP (S (NP (XX the) (XX cat)) (XX .)))"), gold, which="punctuation")
    <Tree (TOP (S (NP (XX the) (XX cat)) (. .)))>
    """
    leaves = tree_leaves(gold)
    if len(leaves) != len(tree_leaves(predicted)):
        return predicted
    given = iter(leaves)
    builder = TreeBuilder()
    for step, node in walk(predicted):
        if isinstance(node, Leaf):
            tag, word = next(given)
            is_copied = which == "all" or not PUNCTUATION_TAGS.isdisjoint((tag, node.tag))
            builder.add_leaf(Leaf(tag if is_copied else node.tag, word))
        elif step == "open":
            builder.open(node.label)
        else:
            builder.close()
    return builder.finished[0]
