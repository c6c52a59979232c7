"""Files to sentence pairs and parse trees, and which of the pairs are kept.

Each name is loaded when it is first used: whoever translates needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.lazy import lazy_names

if TYPE_CHECKING:
    from transduce.text.clean import DROP_REASONS as DROP_REASONS
    from transduce.text.clean import Cleaner as Cleaner
    from transduce.text.clean import DropReason as DropReason
    from transduce.text.clean import reason_to_drop as reason_to_drop
    from transduce.text.linearize import delinearize as delinearize
    from transduce.text.linearize import linearize as linearize
    from transduce.text.normalize import is_blank as is_blank
    from transduce.text.overlap import HeldOut as HeldOut
    from transduce.text.pairs import PAIR_SUFFIXES as PAIR_SUFFIXES
    from transduce.text.pairs import check_pairs_file as check_pairs_file
    from transduce.text.pairs import read_pairs as read_pairs
    from transduce.text.pairs import read_parallel as read_parallel
    from transduce.text.sections import read_sections as read_sections
    from transduce.text.segments import SentencePair as SentencePair
    from transduce.text.tree_drawing import draw_tree_svg as draw_tree_svg
    from transduce.text.tree_drawing import draw_tree_text as draw_tree_text
    from transduce.text.treebank import clean_tree as clean_tree
    from transduce.text.trees import Leaf as Leaf
    from transduce.text.trees import Tree as Tree
    from transduce.text.trees import format_tree as format_tree
    from transduce.text.trees import parse_tree as parse_tree
    from transduce.text.trees import pretty_tree as pretty_tree
    from transduce.text.trees import read_trees as read_trees

__all__ = [
    "DROP_REASONS",
    "PAIR_SUFFIXES",
    "Cleaner",
    "DropReason",
    "HeldOut",
    "Leaf",
    "SentencePair",
    "Tree",
    "check_pairs_file",
    "clean_tree",
    "delinearize",
    "draw_tree_svg",
    "draw_tree_text",
    "format_tree",
    "is_blank",
    "linearize",
    "parse_tree",
    "pretty_tree",
    "read_pairs",
    "read_parallel",
    "read_sections",
    "read_trees",
    "reason_to_drop",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Cleaner": "transduce.text.clean",
        "DROP_REASONS": "transduce.text.clean",
        "DropReason": "transduce.text.clean",
        "HeldOut": "transduce.text.overlap",
        "Leaf": "transduce.text.trees",
        "PAIR_SUFFIXES": "transduce.text.pairs",
        "SentencePair": "transduce.text.segments",
        "Tree": "transduce.text.trees",
        "check_pairs_file": "transduce.text.pairs",
        "clean_tree": "transduce.text.treebank",
        "delinearize": "transduce.text.linearize",
        "draw_tree_svg": "transduce.text.tree_drawing",
        "draw_tree_text": "transduce.text.tree_drawing",
        "format_tree": "transduce.text.trees",
        "is_blank": "transduce.text.normalize",
        "linearize": "transduce.text.linearize",
        "parse_tree": "transduce.text.trees",
        "pretty_tree": "transduce.text.trees",
        "read_pairs": "transduce.text.pairs",
        "read_parallel": "transduce.text.pairs",
        "read_sections": "transduce.text.sections",
        "read_trees": "transduce.text.trees",
        "reason_to_drop": "transduce.text.clean",
    },
)
