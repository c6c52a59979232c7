"""What the readers of all formats share: the pair itself, one line per text, and languages that match."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["SentencePair", "find_language", "one_line", "same_language", "side_order"]

_LINE_BREAKS = re.compile(r"[\r\n]+")
_SUBTAG_MARKS = str.maketrans("_@", "--")


class SentencePair(NamedTuple):
    """One sentence in two languages."""

    src: str
    tgt: str


def one_line(text: str) -> str:
    """Return a text as one line, since a pair is one line on each side wherever it is written down.

    A line break and the blanks around it become one space, and vanish at the start and the end. Text without line
    breaks is returned as it is. Only CR and LF break lines.

    >>> one_line("\\n    Save the\\n    changes?\\n")
    'Save the changes?'
    """
    if "\n" not in text and "\r" not in text:
        return text
    lines = (line.strip(" \t") for line in _LINE_BREAKS.split(text))
    return " ".join(line for line in lines if line)


@lru_cache(maxsize=4096)
def same_language(code: str, wanted: str) -> bool:
    """Tell whether two language codes name one language: equal, or one is the other with a region or script added.

    Case does not count, nor does the mark between the parts (``-`` in BCP 47, ``_`` and ``@`` in gettext).

    >>> same_language("EN_us", "en"), same_language("en", "en-GB"), same_language("en-US", "en-GB"), same_language("de", "den")
    (True, True, False, False)
    """
    a, b = (text.lower().translate(_SUBTAG_MARKS) for text in (code, wanted))
    return a == b or a.startswith(f"{b}-") or b.startswith(f"{a}-")


def find_language(codes: Iterable[str], wanted: str) -> str | None:
    """Return the code of the wanted language among many: the same code if it is there, or else the first that matches.

    >>> find_language(["de", "en-GB", "en-US"], "en-US"), find_language(["de", "en-GB", "en-US"], "en")
    ('en-US', 'en-GB')
    """
    first = None
    for code in codes:
        if same_language(code, wanted):
            if code.lower() == wanted.lower():
                return code
            first = first or code
    return first


def side_order(first: str | None, second: str | None, *, src_lang: str, tgt_lang: str) -> tuple[int, int] | None:
    """Tell which side of a two-language file is the source and which is the target.

    Args:
        first: The language that the file gives for its own source side, or None when it gives none.
        second: The same for its own target side.
        src_lang: The source language that is wanted.
        tgt_lang: The target language that is wanted.

    Returns:
        ``(0, 1)``, or ``(1, 0)`` for a file that goes the other way, or None when its languages are others.

    >>> side_order("en-US", "de", src_lang="de", tgt_lang="en")
    (1, 0)
    >>> side_order(None, "fr", src_lang="en", tgt_lang="de") is None
    True
    """

    def fits(code: str | None, wanted: str) -> bool:
        return not code or same_language(code, wanted)

    if fits(first, src_lang) and fits(second, tgt_lang):
        return 0, 1
    if fits(first, tgt_lang) and fits(second, src_lang):
        return 1, 0
    return None
