"""Random trees in brackets, for property tests."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

__all__ = ["gold_and_predicted", "gold_trees"]

_labels = st.sampled_from(["S", "NP", "VP", "ADVP", "PRT", "NP-SBJ", "TOP"])
_tags = st.sampled_from(["NN", "VB", ",", "-NONE-", "PRT"])


def _shapes(n_words: int) -> st.SearchStrategy[str]:
    """Make trees over ``w0 w1 ...``."""

    def build(low: int, high: int, choose: st.DrawFn, depth: int) -> str:
        if high - low == 1 and (depth > 6 or choose(st.booleans())):
            return f"({choose(_tags)} w{low})"
        if depth > 6:
            return " ".join(build(i, i + 1, choose, depth + 1) for i in range(low, high))
        cuts = sorted(choose(st.sets(st.integers(low + 1, high - 1), max_size=2))) if high - low > 1 else []
        edges = [low, *cuts, high]
        children = (build(a, b, choose, depth + 1) for a, b in pairwise(edges))
        return f"({choose(_labels)} {' '.join(children)})"

    @st.composite
    def tree(draw: st.DrawFn) -> str:
        return f"(TOP (S {build(0, n_words, draw, 0)}))"

    return tree()


gold_trees = st.integers(1, 6).flatmap(_shapes)
gold_and_predicted = st.integers(1, 6).flatmap(lambda n: st.tuples(_shapes(n), _shapes(n)))
"""Two trees over the same words. Their tags may delete different ones, so that some pairs fail."""
