"""The script that a text is written in, from the names that Unicode gives to its letters."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cache

__all__ = ["is_mostly_in", "known_scripts", "script_of"]

# First words of letter names that are not the name of the script. The empty script fits every text.
_OTHER_NAMES = {"CJK": "Han", "IDEOGRAPHIC": "Han", "VERTICAL": "Han", "KATAKANA-HIRAGANA": "", "MODIFIER": ""}


class _ScriptCache(dict[str, str]):
    """Characters and their scripts, filled as they are met, so that a text of a million words asks a few hundred times."""

    def __missing__(self, char: str) -> str:
        script = self[char] = _look_up(char)
        return script


def _look_up(char: str) -> str:
    if not char.isalpha():
        return ""
    # The compatibility form turns full-width, mathematical and ordinal letters into the letters that they show.
    plain = unicodedata.normalize("NFKC", char)[0]
    word = unicodedata.name(plain, "").partition(" ")[0]
    return _OTHER_NAMES.get(word, word.capitalize())


_SCRIPTS = _ScriptCache()


def script_of(char: str) -> str:
    """Return the script of a letter, as the first word of its Unicode name (Han for ideographs).

    Returns:
        A name such as ``Latin``, ``Greek``, ``Cyrillic``, ``Hangul`` or ``Thai``; nothing for what is not a letter, and
        for the few letters that several scripts share.

    >>> script_of("ß"), script_of("Ж"), script_of("水"), script_of("3")
    ('Latin', 'Cyrillic', 'Han', '')
    """
    return _SCRIPTS[char]


def is_mostly_in(text: str, scripts: Collection[str]) -> bool:
    """Tell whether at least half of the letters of a text are of one of the scripts. True for a text without letters.

    >>> is_mostly_in("Wir hören gern «Мир»", ["Latin"]), is_mostly_in("Война", ["Latin"]), is_mostly_in("1999", ["Latin"])
    (True, False, True)
    """
    if text.isascii() and "Latin" in scripts:
        return True
    counts = Counter(map(_SCRIPTS.__getitem__, text))
    del counts[""]
    return 2 * sum(counts[script] for script in scripts) >= counts.total()


@cache
def known_scripts() -> frozenset[str]:
    """Return every name that :func:`script_of` can give. Takes a moment, since it looks at the whole of Unicode."""
    return frozenset(map(_look_up, filter(str.isalpha, map(chr, range(sys.maxunicode + 1))))) - {""}
