"""Which rows a step computes, for searches in which several hypotheses may have the same beginning."""

from __future__ import annotations

import numpy as np

from transduce.decoding.engine import IntArray

__all__ = ["share_rows"]


def share_rows(parents: IntArray, ids: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Let hypotheses that are equal so far share one row, so that the model computes nothing twice.

    Args:
        parents: ``[hypotheses]``: the row that each extends, in the numbering of the latest step.
        ids: ``[hypotheses]``: the token that extends it.

    Returns:
        Parents and ids of the rows of the next step, in the order that engines ask for, and ``[hypotheses]`` the number
        of each one's row among them.

    >>> share_rows(np.array([1, 0, 1, 1]), np.array([7, 5, 6, 7]))
    (array([0, 1, 1]), array([5, 6, 7]), array([2, 0, 1, 2]))
    """
    base = ids.max(initial=0) + 1
    keys, row_of_each = np.unique(parents * base + ids, return_inverse=True)
    row_parents, row_ids = np.divmod(keys, base)
    return row_parents, row_ids, row_of_each
