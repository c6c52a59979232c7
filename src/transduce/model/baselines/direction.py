"""Which positions a layer reads, and the mistakes in asking for it."""

from __future__ import annotations

from typing import Literal

from transduce.base.errors import SettingsError

__all__ = ["Direction", "check_odd"]

Direction = Literal["causal", "both"]
"""``causal``: a position reads itself and earlier ones, as in a decoder. ``both``: earlier and later ones, as in an encoder."""


def check_odd(name: str, size: int, direction: Direction) -> None:
    """Make sure that a window can lie around its position.

    Args:
        name: What the size is called, for the message.
        size: Positions that one position reads, itself included.
        direction: ``causal`` takes any size, ``both`` an odd one.

    Raises:
        SettingsError: The size is below 1, or even where it must be odd.
    """
    if size < 1:
        raise SettingsError(f"{name} is {size}; it counts the position itself, so it must be at least 1")
    if direction == "both" and size % 2 == 0:
        raise SettingsError(f"{name} is {size}; a window centred on its position is odd: {size - 1} or {size + 1}")
