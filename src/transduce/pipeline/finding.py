"""One thing that a look at data and settings has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Weight", "words_of_share"]

Weight = Literal["stops", "harms", "note"]
"""``stops``: the run will fail, or its results mean nothing. ``harms``: it will be worse or slower than need be."""


@dataclass(frozen=True)
class Finding:
    """What was found, how much it matters, and what to do."""

    kind: str
    """A word for programs, such as ``overlap``."""
    weight: Weight
    rank: int
    """Findings of one weight are ordered by it, the largest first."""
    text: str
    """For people."""
    change: str | None = None
    """What to add to the command (``--set ...``), or a command to run. None: there is nothing to change by one."""


def words_of_share(count: int, n_all: int) -> str:
    """Write a count with its share.

    >>> words_of_share(12, 1000), words_of_share(1, 29000)
    ('12 (1.2 %)', '1 (0.0034 %)')
    """
    share = 100 * count / n_all if n_all else 0.0
    return f"{count:,} ({share:.2g} %)" if share < 10 else f"{count:,} ({share:.0f} %)"
