"""Trees as sequences of tokens, so that parsing is translation: ``(S (NP XX XX )NP (VP XX )VP )S``.

Each constituent is an opening and a closing bracket that both bear its label, and each word is one token: its part-of-speech
tag, or ``XX`` for all. The words themselves are left out, since the parser has them, or follow their tags. So does "Grammar as a
Foreign Language" (Vinyals and others, 2014), whose way the paper follows. Paper: section 6.3.

Words may be numbered besides, which is our own: ``(S (NP XX/0 XX/1 )NP (VP XX/2 )VP )S``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.text.trees import Leaf, Tree, TreeBuilder, tree_leaves, walk

__all__ = [
    "ANY_TAG",
    "NO_TAG",
    "N_NUMBERS",
    "Tags",
    "Words",
    "delinearize",
    "linearize",
    "number_token",
    "replace_tags",
    "split_number",
]

ANY_TAG = "XX"
"""Stands for the tag of any word where tags are replaced."""

NO_TAG = "-NOTAG-"
"""Stands for the tag of a word that has none, where tags are kept."""

N_NUMBERS = 10
"""Words are numbered by turns from 0 to below this."""

Tags = Literal["replaced", "kept"]
"""Whether the token of a word is XX for all words, or its part-of-speech tag."""

Words = Literal["dropped", "kept"]
"""Whether words are left out, or each follows the token of its tag."""


def linearize(tree: Tree, *, tags: Tags = "replaced", words: Words = "dropped", numbered: bool = False) -> list[str]:
    """Return the tokens of a tree, the outermost brackets included.

    Args:
        tree: The tree.
        tags: Whether the token of a word is ``XX``, or its tag.
        words: Whether words are left out, or each follows the token of its tag.
        numbered: True: the number of the word, from 0 and modulo 10, stands behind the token of its tag.

    >>> from transduce.text.trees import parse_tree
    >>> tree = parse_tree("(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))")
    >>> " ".join(linearize(tree))
    '(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S'
    >>> " ".join(linearize(tree, tags="kept", words="kept"))
    '(S (NP NNP John )NP (VP VBZ has (NP DT a NN dog )NP )VP . . )S'
    >>> " ".join(linearize(tree, numbered=True))
    '(S (NP XX/0 )NP (VP XX/1 (NP XX/2 XX/3 )NP )VP XX/4 )S'
    """
    tokens = []
    places = itertools.count()
    for step, node in walk(tree):
        if isinstance(node, Leaf):
            token = ANY_TAG if tags == "replaced" else node.tag or NO_TAG
            tokens.append(number_token(token, next(places)) if numbered else token)
            if words == "kept":
                tokens.append(node.word)
        else:
            tokens.append(f"({node.label}" if step == "open" else f"){node.label}")
    return tokens


def delinearize(
    tokens: Sequence[str], words: Sequence[str] | None = None, *, tags: Tags = "replaced", numbered: bool = False
) -> Tree:
    """Return the tree of a sequence of tokens: what :func:`linearize` was given, tags aside where they are replaced.

    Args:
        tokens: The tokens of one tree.
        words: The words of the sentence, as they stand in trees, where the tokens are without; None: the tokens have them.
        tags: Whether tags are replaced in the tokens. Where they are, each word gets the tag ``XX``.
        numbered: Whether words have numbers, which must be in turn.

    Raises:
        DataError: The tokens are no tree: a bracket is missing, has another label than its partner, holds nothing or stands
            outside of the tree; or they have another number of words than were given, or words out of turn.

    >>> delinearize("(S (NP XX )NP (VP XX )VP )S".split(), ["cats", "sleep"])
    <Tree (S (NP (XX cats)) (VP (XX sleep)))>
    """
    builder = TreeBuilder()
    given = None if words is None else iter(words)
    following = iter(enumerate(tokens, start=1))
    places = itertools.count()
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
            if numbered:
                tag, number = split_number(token)
                due = next(places) % N_NUMBERS
                if number != due:
                    raise DataError(f"{where} stands where the number {due} is due")
            else:
                tag = token
            builder.add_leaf(Leaf("" if tag == NO_TAG and tags == "kept" else tag, word))
    if builder.depth or not builder.finished:
        raise DataError(
            f"{plural(len(tokens), 'token')} with {plural(builder.depth, 'closing bracket')} missing: no tree"
        )
    n_left = sum(1 for _ in given or ())
    if n_left:
        raise DataError(f"the tree has {plural(n_left, 'word')} too few for its sentence")
    return builder.finished[0]


def number_token(token: str, place: int) -> str:
    """Return the token of a word with its number.

    Args:
        token: ``XX`` or a tag.
        place: Of the word in its sentence, from 0.

    >>> number_token("XX", 3), number_token("NN", 13)
    ('XX/3', 'NN/3')
    """
    return f"{token}/{place % N_NUMBERS}"


def split_number(token: str) -> tuple[str, int | None]:
    """Return what :func:`number_token` has put together; no number for a token that has none.

    >>> split_number("NN/3"), split_number("NN")
    (('NN', 3), ('NN', None))
    """
    tag, mark, number = token.rpartition("/")
    return (tag, int(number)) if mark and number.isdecimal() and number.isascii() else (token, None)


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
