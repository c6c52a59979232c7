"""Table 1 of the paper: what a layer of each type costs, how much of it must wait, and how far apart it leaves two positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["TABLE1", "Table1Kind", "Table1Row", "sequential_operations", "table_operations", "table_path"]

Table1Kind = Literal["self-attention", "recurrent", "convolution", "dilated convolution", "restricted self-attention"]


@dataclass(frozen=True)
class Table1Row:
    """A row as the paper has it: n positions, width d, kernel k, neighbourhood r. Paper: section 4, Table 1."""

    complexity: str
    """Multiply-adds of a layer."""
    sequential: str
    """Operations that must wait for one another, at least."""
    path: str
    """Longest path between an input and an output."""


TABLE1: Mapping[Table1Kind, Table1Row] = MappingProxyType(
    {
        "self-attention": Table1Row("O(n²·d)", "O(1)", "O(1)"),
        "recurrent": Table1Row("O(n·d²)", "O(n)", "O(n)"),
        "convolution": Table1Row("O(k·n·d²)", "O(1)", "O(n/k)"),
        "dilated convolution": Table1Row("O(k·n·d²)", "O(1)", "O(log_k(n))"),
        "restricted self-attention": Table1Row("O(r·n·d)", "O(1)", "O(n/r)"),
    }
)
"""The rows. The table itself has one for convolutions, with the path of dilated ones; section 4 has the other path.

Paper: section 4, Table 1.
"""


def table_operations(kind: Table1Kind, n: int, d: int, *, k: int, r: int) -> int:
    """Count the multiply-adds of a layer as the table counts them: what stands within O(...), with a factor of 1.

    Args:
        kind: The type of the layer.
        n: Number of positions.
        d: Width.
        k: Positions that an output of a convolution reads.
        r: Positions that a position of restricted self-attention reads.

    Paper: section 4, Table 1.

    >>> [table_operations(kind, 50, 512, k=3, r=10) for kind in ("self-attention", "recurrent", "convolution")]
    [1280000, 13107200, 39321600]
    """
    match kind:
        case "self-attention":
            return n * n * d
        case "recurrent":
            return n * d * d
        case "convolution" | "dilated convolution":
            return k * n * d * d
        case "restricted self-attention":
            return r * n * d


def sequential_operations(kind: Table1Kind, n: int) -> int:
    """Count the operations that must wait for one another, as the table does: n of a recurrence, else 1.

    Paper: section 4, Table 1.
    """
    return n if kind == "recurrent" else 1


def table_path(kind: Table1Kind, n: int, *, k: int, r: int) -> int:
    """Count the longest path between an input and an output by the table's formula; layers are whole, so it is rounded up.

    Of a recurrence it is the number of transitions from the first position to the last, n - 1. Of the others it is the number of
    stacked layers. The formulas are orders of growth: what real layers need is measured
    (:func:`transduce.model.baselines.connections.layers_to_connect`).

    Args:
        kind: The type of the layer.
        n: Number of positions.
        k: Positions that an output of a convolution reads, at least 2.
        r: Positions that a position of restricted self-attention reads.

    Paper: section 4, Table 1.

    >>> [table_path(kind, 50, k=3, r=10) for kind in TABLE1]
    [1, 49, 17, 4, 5]
    """
    match kind:
        case "self-attention":
            return 1
        case "recurrent":
            return n - 1
        case "convolution":
            return -(-n // k)
        case "dilated convolution":
            return next(layers for layers in range(1, n + 1) if k**layers >= n)
        case "restricted self-attention":
            return -(-n // r)
