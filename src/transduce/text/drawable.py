"""Text as it can stand in a picture."""

from __future__ import annotations

import re

__all__ = ["drawable"]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def drawable(text: str) -> str:
    """Return a text with U+FFFD for each character that XML, and so SVG, has no place for.

    >>> drawable("a\\x01b") == "a\\ufffdb"
    True
    """
    return _NOT_XML.sub("\ufffd", text)
