"""What looks wrong with a text, or with a pair of them: signs of faults in a corpus, not proofs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Literal

from transduce.text.scripts import script_of

__all__ = ["TextSuspect", "copied", "main_script", "numbers_differ", "text_suspects"]

TextSuspect = Literal["replacement", "control", "mojibake", "decomposed", "composed"]
"""U+FFFD; control characters; UTF-8 that was read as another encoding; letters as base and mark, or in one character."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
# What the bytes 80 to BF of UTF-8 look like to a program that takes them for Latin-1 or Windows-1252.
_TAIL = "\\x80-\\xbf" + re.escape("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ")
_MOJIBAKE = re.compile(
    f"Ã[{_TAIL}]|Â[\\x80-\\xba\\xbc-\\xbf]|â€[{_TAIL}]|(?:[ÐÑ][{_TAIL}]){{2}}|(?:[ÎÏ][{_TAIL}]){{2}}|(?:[ØÙ][{_TAIL}]){{2}}"
)
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[.,:'’\s\u00a0\u202f](?=\d)")
_NUMBER = re.compile(r"\d+")


def text_suspects(text: str) -> tuple[TextSuspect, ...]:
    """Return what stands out in a text. ``composed`` and ``decomposed`` are suspicious only where a corpus has both.

    >>> text_suspects("naïve"), text_suspects("nai\\u0308ve"), text_suspects("naÃ¯ve"), text_suspects("tea")
    (('composed',), ('decomposed',), ('mojibake',), ())
    """
    if text.isascii() and text.isprintable():
        return ()
    found: list[TextSuspect] = []
    if "\ufffd" in text:
        found.append("replacement")
    if not text.isprintable() and _CONTROL.search(text):
        found.append("control")
    if text.isascii():
        return tuple(found)
    if _MOJIBAKE.search(text):
        found.append("mojibake")
    elif not unicodedata.is_normalized("NFC", text):
        found.append("decomposed")
    elif not unicodedata.is_normalized("NFD", text):
        found.append("composed")
    return tuple(found)


def main_script(text: str) -> str:
    """Return the script of most letters of a text; nothing where there are none.

    >>> main_script("Die Zeitung «Правда»"), main_script("1999")
    ('Latin', '')
    """
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    counts = Counter(map(script_of, text))
    del counts[""]
    return counts.most_common(1)[0][0] if counts else ""


def copied(src: str, tgt: str) -> bool:
    """Tell whether a target is its source, with letters in it: not translated.

    >>> copied("Hello there", " Hello there"), copied("12.50", "12.50")
    (True, False)
    """
    plain = src.strip()
    return plain == tgt.strip() and any(map(str.isalpha, plain))


def numbers_differ(src: str, tgt: str) -> bool:
    """Tell whether both texts have numbers and share none of them. Numbers in words do not count.

    >>> numbers_differ("on 12 May 1,000 came", "am 12. Mai kamen 1.000"), numbers_differ("line 5", "Zeile 6")
    (False, True)
    """
    mine = set(_numbers(src))
    return bool(mine) and bool(its := set(_numbers(tgt))) and mine.isdisjoint(its)


def _numbers(text: str) -> list[str]:
    return [number.lstrip("0") for number in _NUMBER.findall(_BETWEEN_DIGITS.sub("", text))]
