"""Parse trees in Penn brackets: ``(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))``.

Nothing here recurses: a tree of any depth is read, compared, written and freed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from transduce.base.errors import DataError
from transduce.base.files import STDIN, check_readable, read_lines
from transduce.base.log import plural

__all__ = [
    "Leaf",
    "Tree",
    "TreeBuilder",
    "format_tree",
    "parse_tree",
    "pretty_tree",
    "read_trees",
    "tree_leaves",
    "walk",
]

# Only white space of ASCII parts words: a word may hold a no-break space.
_SPACE = r"[ \t\r\n\f\v]"
_TEXT = r"[^() \t\r\n\f\v]+"
# A word with its tag and both brackets, or one bracket, or a text alone. The first keeps reading fast.
_TOKEN = re.compile(rf"\(({_TEXT}){_SPACE}+({_TEXT}){_SPACE}*\)|([()]|{_TEXT})")
# Between two trees nothing may stand but a bracket, so these are safe there: the banner of the old treebank CDs (`*x*x*`),
# `#` and `;` of various tools, `%%` of NEGRA, and the document marks of the Chinese Treebank (`<S ID=1>`).
_COMMENT = re.compile(r"[ \t]*(?:\*x\*|#|;|%%|<)")


class Leaf(NamedTuple):
    """A word with its part-of-speech tag. The tag is empty for a word that stands in its phrase without brackets."""

    tag: str
    word: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A constituent: its label and, from left to right, what it is made of; at least one child.

    Labels, tags and words hold neither brackets nor white space (words have ``-LRB-`` for a bracket). The label is empty
    where the brackets have none, as the outermost of the Penn Treebank. A word alone in labelled brackets below another
    constituent is a :class:`Leaf`, not a Tree.

    >>> Tree("S", (Tree("NP", (Leaf("DT", "the"), Leaf("NN", "cat"))), Leaf("", "sleeps")))
    <Tree (S (NP (DT the) (NN cat)) sleeps)>
    """

    label: str
    children: tuple[Tree | Leaf, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(a == b for a, b in _in_step(self, other))

    def __hash__(self) -> int:
        return hash(format_tree(self))

    def __repr__(self) -> str:
        return f"<Tree {format_tree(self)}>"


def _in_step(a: Tree, b: Tree) -> Iterator[tuple[object, object]]:
    """Yield what two trees must have alike, node by node, the children counts among it."""
    pending: list[tuple[Tree | Leaf, Tree | Leaf]] = [(a, b)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if isinstance(one, Tree) and isinstance(other, Tree):
            yield one.label, other.label
            yield len(one.children), len(other.children)
            pending += zip(one.children, other.children, strict=True)
        elif isinstance(one, Leaf) and isinstance(other, Leaf):
            yield one, other
        else:
            yield type(one), type(other)


Step = tuple[Literal["open", "close"], Tree] | tuple[Literal["leaf"], Leaf]
"""One step of a walk: into a constituent, past a word, or out of a constituent."""


def walk(tree: Tree) -> Iterator[Step]:
    """Yield the steps of a walk over a tree from left to right, as the text is written.

    >>> [(step, getattr(node, "label", "") or node[0]) for step, node in walk(Tree("NP", (Leaf("NN", "tea"),)))]
    [('open', 'NP'), ('leaf', 'NN'), ('close', 'NP')]
    """
    yield "open", tree
    path = [(tree, iter(tree.children))]
    while path:
        node, children = path[-1]
        for child in children:
            if isinstance(child, Leaf):
                yield "leaf", child
            else:
                yield "open", child
                path.append((child, iter(child.children)))
                break
        else:
            yield "close", node
            path.pop()


def tree_leaves(tree: Tree) -> list[Leaf]:
    """Return the words of a tree with their tags, from left to right.

    >>> tree_leaves(parse_tree("(S (NP the (NN cat)) (VP (VBZ sleeps)))"))
    [Leaf(tag='', word='the'), Leaf(tag='NN', word='cat'), Leaf(tag='VBZ', word='sleeps')]
    """
    return [node for step, node in walk(tree) if isinstance(node, Leaf)]


class TreeBuilder:
    """Builds trees from steps: open a constituent, add a word, close the constituent that was opened last.

    A constituent that is closed with nothing in it leaves nothing behind. One below another that holds a single word without
    a tag becomes that word's tag.

    Attributes:
        finished: The trees that have been built, those alone that stand in no other.
    """

    def __init__(self) -> None:
        self.finished: list[Tree] = []
        self._open: list[tuple[str, list[Tree | Leaf]]] = []

    @property
    def depth(self) -> int:
        """How many constituents are open."""
        return len(self._open)

    @property
    def open_label(self) -> str:
        """The label of the constituent that was opened last; there must be one."""
        return self._open[-1][0]

    @property
    def n_children(self) -> int:
        """How many children the constituent that was opened last has so far; there must be one."""
        return len(self._open[-1][1])

    def open(self, label: str) -> None:
        """Begin a constituent."""
        self._open.append((label, []))

    def add_leaf(self, leaf: Leaf) -> None:
        """Add a word to the constituent that was opened last. Where none is open, its tag is a constituent of its own."""
        if self._open:
            self._open[-1][1].append(leaf)
        else:
            self.finished.append(Tree(leaf.tag, (Leaf("", leaf.word),)))

    def close(self) -> None:
        """End the constituent that was opened last; there must be one."""
        label, children = self._open.pop()
        if not children:
            return
        only = children[0]
        if not self._open:
            self.finished.append(Tree(label, tuple(children)))
        elif len(children) == 1 and isinstance(only, Leaf) and not only.tag:
            self._open[-1][1].append(Leaf(label, only.word))
        else:
            self._open[-1][1].append(Tree(label, tuple(children)))


def format_tree(tree: Tree | Leaf) -> str:
    """Return a tree in brackets on one line, as one tree a line is written and as :func:`read_trees` reads it.

    >>> format_tree(Tree("", (Tree("NP", (Leaf("NN", "tea"),)),)))
    '( (NP (NN tea)))'
    """
    if isinstance(tree, Leaf):
        return f"({tree.tag} {tree.word})" if tree.tag else tree.word
    parts: list[str] = []
    for step, node in walk(tree):
        if isinstance(node, Leaf):
            parts.append(f" ({node.tag} {node.word})" if node.tag else f" {node.word}")
        else:
            parts.append(f" ({node.label}" if step == "open" else ")")
    return "".join(parts)[1:]


def pretty_tree(tree: Tree, *, width: int = 80) -> str:
    """Return a tree over several lines: a constituent that fits into what is left of a line stands on one.

    Args:
        tree: The tree.
        width: Characters a line, where that can be kept.

    >>> print(pretty_tree(parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"), width=24))
    (S
      (NP (DT the) (NN cat))
      (VP (VBZ sleeps)))
    """
    lengths = _lengths(tree)
    lines: list[str] = []
    pending: list[tuple[Tree | Leaf, int, int]] = [(tree, 0, 0)]
    while pending:
        node, indent, n_closing = pending.pop()
        if isinstance(node, Leaf) or indent + lengths[id(node)] + n_closing <= width:
            lines.append(" " * indent + format_tree(node) + ")" * n_closing)
            continue
        lines.append(" " * indent + f"({node.label}")
        *first, last = node.children
        pending.append((last, indent + 2, n_closing + 1))
        pending += [(child, indent + 2, 0) for child in reversed(first)]
    return "\n".join(lines)


def _lengths(tree: Tree) -> dict[int, int]:
    """Return the characters that each constituent takes on one line, by its ``id``."""
    lengths: dict[int, int] = {}
    for step, node in walk(tree):
        if step == "close" and isinstance(node, Tree):
            inner = sum(
                lengths[id(child)] if isinstance(child, Tree) else len(format_tree(child)) for child in node.children
            )
            lengths[id(node)] = len(node.label) + 2 + len(node.children) + inner
    return lengths


def read_trees(path: Path) -> Iterator[Tree]:
    """Yield the trees of a file in Penn brackets, one a line or laid out over many; ``.gz``, ``.zst`` and ``-`` too.

    Trees come as they stand in the file, the nameless outermost brackets of the Penn Treebank, traces and function labels
    included (:func:`transduce.text.clean_tree` takes those away). Between trees there may be blank lines and comments: lines
    that begin with ``*x*`` (the banner of the old treebank CDs), ``#``, ``;``, ``%%`` or ``<``. Inside a tree these are
    words.

    Args:
        path: The file.

    Raises:
        DataError: The file cannot be read (at the call); a bracket is missing or is one too many, brackets are empty, or
            there is text outside of them (when the reader gets there; the message names the line).
    """
    check_readable(path)
    name = "standard input" if path == STDIN else str(path)
    return _parse(read_lines(path), lambda number: f"{name}, line {number}")


def parse_tree(text: str, where: str = "tree") -> Tree:
    """Return the one tree that a text holds.

    Args:
        text: A tree in brackets, on one line or more.
        where: What messages call the text, such as ``out.trees, line 7``.

    Raises:
        DataError: The text does not hold exactly one whole tree.

    >>> parse_tree("( (S (NP (DT the) (NN cat)) runs) )")
    <Tree ( (S (NP (DT the) (NN cat)) runs))>
    """
    trees = list(_parse(text.split("\n"), lambda number: where))
    if len(trees) != 1:
        raise DataError(f"{where}: {len(trees)} trees, and one is needed")
    return trees[0]


def _parse(lines: Iterable[str], where: Callable[[int], str]) -> Iterator[Tree]:
    """Yield the trees of some lines; ``where`` names a line by its number in messages."""
    builder = TreeBuilder()
    bare = False  # True: the last token was an opening bracket, and its label may follow
    begin = margin = 0  # the line that the tree begins on, and the next that has a bracket at the left margin
    for number, line in enumerate(lines, start=1):
        if not builder.depth and not bare:
            if _COMMENT.match(line):
                continue
            margin = 0
        elif line.startswith("(") and not margin:
            margin = number
        for tag, word, token in _TOKEN.findall(line):
            if not builder.depth and not bare:
                begin = number
            if bare and token != ")":
                builder.open("" if token in ("", "(") else token)
            if tag:
                builder.add_leaf(Leaf(tag, word))
            elif token == ")":
                if bare or not builder.depth or not builder.n_children:
                    raise DataError(f"{where(number)}: {_nothing_to_close(builder, bare)}")
                builder.close()
            elif token != "(" and not bare:
                if not builder.depth:
                    raise DataError(f"{where(number)}: '{token}' stands outside of all brackets; a tree begins with (")
                builder.add_leaf(Leaf("", token))
            bare = token == "("
            if builder.finished:
                yield builder.finished.pop()
    n_missing = builder.depth + bare
    if n_missing:
        hint = f"; look before line {margin}, where the next tree seems to begin" if margin else ""
        raise DataError(f"{where(begin)}: the tree that begins here lacks {plural(n_missing, 'closing bracket')}{hint}")


def _nothing_to_close(builder: TreeBuilder, bare: bool) -> str:
    """Say what is wrong with a closing bracket that closes nothing, or nothing but a label."""
    if bare:
        return "empty brackets; take them out, or give them a label and words"
    if not builder.depth:
        return "one closing bracket too many; take it out, or find the opening one that is missing"
    return f"({builder.open_label}) has a label and no words; take it out, or give it words"
