"""How large a reproduction of the paper is to be."""

from __future__ import annotations

from typing import Literal

__all__ = ["SCALES", "Scale"]

Scale = Literal["smoke", "mini", "full"]
"""``full``: as the paper did it, on GPUs. ``mini``: everything shrunk in proportion, for a few hours of a CPU. ``smoke``: a
minute, to see that all parts work; its numbers mean nothing."""

SCALES: tuple[Scale, ...] = ("smoke", "mini", "full")
