"""Parse trees as pictures: SVG for people, and lines of text for terminals.

Nothing here recurses, so that a tree may be as deep as it likes, and nothing needs a drawing library. The tag ``XX``, which a
parser without tags gives to every word, says nothing and is left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from transduce.text.drawable import drawable
from transduce.text.linearize import ANY_TAG
from transduce.text.trees import Leaf, Tree, tree_leaves, walk

__all__ = ["draw_tree_svg", "draw_tree_text"]

_FONT_PX, _LEVEL_PX, _GAP_PX, _MARGIN_PX = 15, 46, 18, 16
_TAG_TO_WORD_PX = 21
_NARROW, _BROAD = frozenset("fijlrtIJ.,:;'`|!()[]{}-/\\ "), frozenset("mwMW@%&")

_STYLE = """
.parse { background: #fff; font: 15px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.parse text { text-anchor: middle; }
.parse .label { fill: #1d4f91; font-weight: 600; }
.parse .tag { fill: #6b7280; font-size: 12px; }
.parse .word { fill: #111827; }
.parse path { fill: none; stroke: #9aa5b4; stroke-width: 1.3; }
.parse .down { stroke-dasharray: 1 4; stroke-linecap: round; }
.parse circle { fill: #9aa5b4; }
@media (prefers-color-scheme: dark) {
  .parse { background: #14171c; }
  .parse .label { fill: #8ab8f5; }
  .parse .tag { fill: #9aa3af; }
  .parse .word { fill: #f3f4f6; }
  .parse path { stroke: #5b6675; }
  .parse circle { fill: #5b6675; }
}
"""


def draw_tree_text(tree: Tree) -> str:
    """Draw a tree with box characters: one constituent or word a line, the root first.

    Args:
        tree: The tree.

    >>> from transduce.text.trees import parse_tree
    >>> print(draw_tree_text(parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))")))
    S
    ├─ NP
    │  ├─ DT the
    │  └─ NN cat
    └─ VP
       └─ VBZ sleeps
    """
    lines: list[str] = []
    pending: list[tuple[Tree | Leaf, str, str]] = [(tree, "", "")]
    while pending:
        node, before, below = pending.pop()
        text = f"{_shown_tag(node)} {node.word}".strip() if isinstance(node, Leaf) else node.label or "·"
        lines.append(before + text)
        if isinstance(node, Tree):
            *first, last = node.children
            pending.append((last, below + "└─ ", below + "   "))
            pending += [(child, below + "├─ ", below + "│  ") for child in reversed(first)]
    return "\n".join(lines)


def draw_tree_svg(tree: Tree) -> str:
    """Draw a tree as an SVG document: constituents by their depth, tags and words along the bottom.

    It stands alone (no network, no script), fits light and dark surroundings, and can be put into a page as it is. Texts are
    escaped; characters that XML forbids become U+FFFD. Widths of texts are estimated, since fonts differ.

    Args:
        tree: The tree.

    Returns:
        The document, from ``<svg`` to ``</svg>`` and a newline.
    """
    nodes = _lay_out(tree)
    width = nodes[0].width + 2 * _MARGIN_PX
    bottom = _LEVEL_PX * (1 + max(node.depth for node in nodes if not node.word))
    height = _MARGIN_PX + _FONT_PX + bottom + _TAG_TO_WORD_PX + _MARGIN_PX
    title = _text(" ".join(leaf.word for leaf in tree_leaves(tree)))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="parse" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-_MARGIN_PX} {-_MARGIN_PX - _FONT_PX} {width:.0f} {height:.0f}">\n',
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n",
            *(_edges(node, nodes, bottom) for node in nodes),
            *(_label(node, bottom) for node in nodes),
            "</svg>\n",
        )
    )


@dataclass(slots=True)
class _Node:
    """A constituent or a word, and where it is drawn."""

    label: str
    word: str
    """Empty for a constituent."""
    depth: int
    own_width: float
    """Of its texts, and some room."""
    width: float = 0.0
    """Of all that is below it; at least its own."""
    left: float = 0.0
    x: float = 0.0
    """The middle of its text."""
    children: list[int] = field(default_factory=list)


def _lay_out(tree: Tree) -> list[_Node]:
    """Give each node a column; a node comes before those below it."""
    nodes: list[_Node] = []
    path: list[int] = []
    for step, node in walk(tree):
        if step == "close":
            closed = nodes[path.pop()]
            closed.width = max(closed.own_width, sum(nodes[i].width for i in closed.children))
            continue
        if path:
            nodes[path[-1]].children.append(len(nodes))
        if isinstance(node, Leaf):
            tag = _shown_tag(node)
            own = max(_width(node.word), 0.8 * _width(tag)) + _GAP_PX
            nodes.append(_Node(tag, node.word, len(path), own, width=own))
        else:
            nodes.append(_Node(node.label, "", len(path), _width(node.label) + _GAP_PX))
            path.append(len(nodes) - 1)
    for parent in nodes:
        left = parent.left + (parent.width - sum(nodes[i].width for i in parent.children)) / 2
        for i in parent.children:
            nodes[i].left = left
            left += nodes[i].width
    for parent in reversed(nodes):
        half = parent.own_width / 2
        low, high = parent.left + half, parent.left + parent.width - half
        middle = (nodes[parent.children[0]].x + nodes[parent.children[-1]].x) / 2 if parent.children else low
        parent.x = min(max(middle, low), high)
    return nodes


def _edges(parent: _Node, nodes: list[_Node], bottom: float) -> str:
    """Draw the lines to a node's children: a curve down one level, and below it a dotted line to a word."""
    top, end = parent.depth * _LEVEL_PX + 6, (parent.depth + 1) * _LEVEL_PX - _FONT_PX
    middle = (top + end) / 2
    parts = []
    for child in (nodes[i] for i in parent.children):
        x = f"{child.x:.1f}"
        parts.append(f'<path d="M{parent.x:.1f} {top}C{parent.x:.1f} {middle} {x} {middle} {x} {end}"/>\n')
        tag_top = bottom - _FONT_PX + (0 if child.label else _TAG_TO_WORD_PX)
        if child.word and end < tag_top:
            parts.append(f'<path class="down" d="M{x} {end}V{tag_top}"/>\n')
    return "".join(parts)


def _label(node: _Node, bottom: float) -> str:
    x = f"{node.x:.1f}"
    if node.word:
        tag = f'<text class="tag" x="{x}" y="{bottom}">{_text(node.label)}</text>\n' if node.label else ""
        return f'{tag}<text class="word" x="{x}" y="{bottom + _TAG_TO_WORD_PX}">{_text(node.word)}</text>\n'
    y = node.depth * _LEVEL_PX
    if not node.label:  # the outermost brackets of a treebank
        return f'<circle cx="{x}" cy="{y - 2}" r="3.5"/>\n'
    return f'<text class="label" x="{x}" y="{y}">{_text(node.label)}</text>\n'


def _shown_tag(leaf: Leaf) -> str:
    return "" if leaf.tag == ANY_TAG else leaf.tag


def _text(text: str) -> str:
    return escape(drawable(text))


def _width(text: str) -> float:
    """Estimate the width of a text in pixels, rather too large than too small."""
    return _FONT_PX * sum(_advances(text))


def _advances(text: str) -> Iterator[float]:
    for character in text:
        if unicodedata.combining(character):
            yield 0.0
        elif unicodedata.east_asian_width(character) in ("W", "F"):
            yield 1.05
        elif character in _NARROW:
            yield 0.4
        elif character in _BROAD:
            yield 0.95
        else:
            yield 0.72 if character.isupper() else 0.6
