"""Trees for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from transduce.text.trees import Leaf, Tree

__all__ = ["trees"]

_LABELS = st.sampled_from(["S", "NP", "VP", "NP-SBJ-1", "PP=2", "ADVP|PRT", "XX", "X"])
_TAGS = st.sampled_from(["NN", "VBZ", "XX", ".", "``", "-LRB-", "PRP$", "-NONE-", "#"])
_WORDS = st.one_of(
    st.sampled_from(["the", "-LRB-", "1\\/2", "*", "XX", "#", "a\u00a0b", "``"]),
    st.text(st.characters(codec="utf-8", exclude_characters="() \t\r\n\f\v"), min_size=1, max_size=4),
)
_LEAVES = st.one_of(st.builds(Leaf, _TAGS, _WORDS), st.builds(Leaf, st.just(""), _WORDS))


def trees() -> st.SearchStrategy[Tree]:
    """Return trees as they may stand in a file: of any labels, tags and words, some words without a tag."""
    inner = st.recursive(_LEAVES, lambda child: _constituents(child), max_leaves=12)
    wrapped = st.builds(lambda tree: Tree("", (tree,)), _constituents(inner))
    return st.one_of(_constituents(inner), wrapped)


def _constituents(child: st.SearchStrategy[Tree | Leaf]) -> st.SearchStrategy[Tree]:
    return st.builds(Tree, _LABELS, st.lists(child, min_size=1, max_size=4).map(tuple)).filter(_may_be_written)


def _may_be_written(tree: Tree) -> bool:
    """A word alone in labelled brackets is read as a word with a tag."""
    only = tree.children[0]
    return len(tree.children) > 1 or not isinstance(only, Leaf) or bool(only.tag)
