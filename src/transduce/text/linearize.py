"""Trees as sequences of tokens, so that parsing is translation: ``(S (NP XX XX )NP (VP XX )VP )S``.

Each constituent is an opening and a closing bracket that both bear its label, and each word is one token: its part-of-speech
tag, or ``XX`` for all. The words themselves are left out, since the parser has them, or follow their tags. So does "Grammar as a
Foreign Language" (Vinyals and others, 2014), whose way the paper follows. Paper: section 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.text.trees import Leaf, Tree, TreeBuilder, tree_leaves, walk

__all__ = [
    "ANY_TAG",
    "NO_TAG",
    "Tags",
    "Words",
    "delinearize",
    "linearize",
    "replace_tags",
]

ANY_TAG = "XX"
"""Stands for the tag of any word where tags are replaced."""

NO_TAG = "-NOTAG-"
"""Stands for the tag of a word that has none, where tags are kept."""

Tags = Literal["replaced", "kept"]
"""Whether the token of a word is XX for all words, or its part-of-speech tag."""

Words = Literal["dropped", "kept"]
"""Whether words are left out, or each follows the token of its tag."""


def linearize(tree: Tree, *, tags: Tags = "replaced", words: Words = "dropped") -> list[str]:
    """Return the tokens of a tree, the outermost brackets included.

    Args:
        tree: The tree.
        tags: Whether the token of a word is ``XX``, or its tag.
        words: Whether words are left out, or each follows the token of its tag.

    >>> from transduce.text.trees import parse_tree
    >>> tree = parse_tree("(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))")
    >>> " ".join(linearize(tree))
    '(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S'
    >>> " ".join(linearize(tree, tags="kept", words="kept"))
    '(S (NP NNP John )NP (VP VBZ has (NP DT a NN dog )NP )VP . . )S'
    """
    tokens = []
    for step, node in walk(tree):
        if isinstance(node, Leaf):
            tokens.append(ANY_TAG if tags == "replaced" else node.tag or NO_TAG)
            if words == "kept":
                tokens.append(node.word)
        else:
            tokens.append(f"({node.label}" if step == "open" else f"){node.label}")
    return tokens


def delinearize(tokens: Sequence[str], words: Sequence[str] | None = None, *, tags: Tags = "replaced") -> Tree:
    """Return the tree of a sequence of tokens: what :func:`linearize` was given, tags aside where they are replaced.

    Args:
        tokens: The tokens of one tree.
        words: The words of the sentence, as they stand in trees, where the tokens are without; None: the tokens have them.
        tags: Whether tags are replaced in the tokens. Where they are, each word gets the tag ``XX``.

    Raises:
        DataError: The tokens are no tree: a bracket is missing, has another label than its partner, holds nothing or stands
            outside of the tree; or they have another number of words than were given.

    >>> delinearize("(S (NP XX )NP (VP XX )VP )S".split(), ["cats", "sleep"])
    <Tree (S (NP (XX cats)) (VP (XX sleep)))>
    """
    builder = TreeBuilder()
    given = None if words is None else iter(words)
    following = iter(enumerate(tokens, start=1))
    for place, token in following:
        where = f"token {place} ('{token}')"
        if place > 1 and not builder.depth:
            raise DataError(f"{where} stands outside of the tree, which has ended before it")
        if token.startswith("("):
            builder.open(token[1:])
        elif not builder.depth:
            raise DataError(f"{where} stands outside of all brackets")
        elif token.startswith(")"):
            _close(builder, token[1:], where)
        else:
            word = next(given, None) if given is not None else next((text for _, text in following), None)
            if word is None:
                raise DataError(f"{where}: there is no word left for this tag")
            builder.add_leaf(Leaf("" if token == NO_TAG and tags == "kept" else token, word))
    if builder.depth or not builder.finished:
        raise DataError(
            f"{plural(len(tokens), 'token')} with {plural(builder.depth, 'closing bracket')} missing: no tree"
        )
    n_left = sum(1 for _ in given or ())
    if n_left:
        raise DataError(f"the tree has {plural(n_left, 'word')} too few for its sentence")
    return builder.finished[0]


def _close(builder: TreeBuilder, label: str, where: str) -> None:
    if builder.open_label != label:
        raise DataError(f"{where} closes what '({builder.open_label}' has opened")
    if not builder.n_children:
        raise DataError(f"{where} closes a constituent that has nothing in it")
    builder.close()


def replace_tags(tree: Tree) -> Tree:
    """Return a tree with ``XX`` for the tag of every word: what is left of it where tags are replaced.

    >>> from transduce.text.trees import parse_tree
    >>> replace_tags(parse_tree("(S (NP the (NN cat)) (VP (VBZ runs)))"))
    <Tree (S (NP (XX the) (XX cat)) (VP (XX runs)))>
    """
    return delinearize(linearize(tree), [leaf.word for leaf in tree_leaves(tree)])
