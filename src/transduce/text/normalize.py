"""What counts as nothing: text that shows no ink. Text is never changed here; a tokenizer gives back what it was given."""

from __future__ import annotations

import re

__all__ = ["is_blank"]

_INVISIBLE = (
    r"\s\x00-\x1f\x7f-\x9f"  # white space of every kind (NBSP and U+3000 too), control characters
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, Hangul fillers, Mongolian selectors
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"  # zero width, directions, word joiner, empty Braille cell
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"  # variation selectors, byte order mark, interlinear marks
    r"\U000e0000-\U000e0fff"  # tags
)
_INK = re.compile(f"[^{_INVISIBLE}]")


def is_blank(text: str) -> bool:
    """Tell whether a text is empty to the eye: nothing but white space, zero-width, control or filler characters.

    >>> is_blank(""), is_blank(" \\u00a0\\u3000"), is_blank("\\u200b\\ufeff"), is_blank(" .")
    (True, True, True, False)
    """
    return _INK.search(text) is None
