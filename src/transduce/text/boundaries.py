"""Where words begin and end, in every script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

__all__ = ["is_unspaced", "word_spans"]

_UNSPACED = (
    r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d"  # Kana
)


def is_unspaced(char: str) -> bool:
    """Tell whether a character is of a script that puts no spaces between words.

    >>> is_unspaced("猫"), is_unspaced("ก"), is_unspaced("a"), is_unspaced("한")
    (True, True, False, False)
    """
    return _unspaced_char().match(char) is not None


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every word and every sign of a text, white space left out.

    A word is a run of letters, digits and underscores with the marks on them; points and commas between digits belong
    to it. Hyphens, apostrophes and all other signs stand alone. In scripts without spaces, where only a dictionary
    knows the words, each character with its marks is a word.

    >>> text = "L'été, 1.5 Mäuse 猫だ"
    >>> [text[start:end] for start, end in word_spans(text)]
    ['L', "'", 'été', ',', '1.5', 'Mäuse', '猫', 'だ']
    """
    words = _ASCII_WORDS if text.isascii() else _words()
    return [match.span() for match in words.finditer(text)]


_ASCII_WORDS = re.compile(r"\w+(?:(?<=\d)[.,](?=\d)\w+)*|\S")
"""What :func:`_words` comes to where there are neither marks nor scripts without spaces; much faster."""


@cache
def _unspaced_char() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _words() -> re.Pattern[str]:
    # "\w" lacks the marks, without which no word of Hindi is whole; the joiners and the soft hyphen are inside of words.
    codes = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] == "M") + "\u00ad\u200c\u200d"
    letters = rf"[^\W{_UNSPACED}]+"
    run = rf"{letters}(?:[{marks}]+(?:{letters})?)*"
    return re.compile(rf"{run}(?:(?<=\d)[.,](?=\d){run})*|\S[{marks}]*")
