"""A sentence pair, and reading pairs from files of every kind."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SentencePair"]


class SentencePair(NamedTuple):
    """One sentence in two languages."""

    src: str
    tgt: str
