from __future__ import annotations

import unicodedata

import pytest

from transduce.text import is_blank


@pytest.mark.parametrize(
    "char",
    [" ", "\t", "\xa0", "\u3000", "\u200b", "\u200d", "\u2060", "\ufeff", "\u2028", "\x85", "\xad", "\u3164", "\x00"],
)
def test_a_character_without_ink_is_blank(char: str) -> None:
    assert is_blank(char * 3)
    assert not is_blank(f"{char}x{char}")


def test_nothing_that_unicode_shows_is_blank() -> None:
    blank = [char for char in map(chr, range(0x110000)) if is_blank(char)]
    categories = {unicodedata.category(char) for char in blank}
    # Fillers are letters to Unicode (Lo), the empty Braille cell is a symbol (So), selectors are marks (Mn), the rest is
    # white space, control, format or unassigned.
    assert categories <= {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Cn", "Lo", "So"}
    letters_and_symbols = {char for char in blank if unicodedata.category(char) in ("Lo", "So")}
    assert letters_and_symbols == {"\u115f", "\u1160", "\u3164", "\uffa0", "\u2800"}


def test_white_space_is_blank_whatever_its_kind() -> None:
    assert all(is_blank(char) for char in map(chr, range(0x110000)) if char.isspace())
