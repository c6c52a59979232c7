from __future__ import annotations

import pytest

from transduce.text.scripts import is_mostly_in, known_scripts, script_of


@pytest.mark.parametrize(
    ("script", "letters"),
    [
        ("Latin", "aÄßłœﬁªＡ𝐀"),
        ("Greek", "αΩάϑµ"),
        ("Cyrillic", "яЖїӘ"),
        ("Arabic", "عپۀﻻ"),
        ("Hebrew", "אש"),
        ("Devanagari", "कॐ"),
        ("Han", "水々豈〆𠀀"),
        ("Hiragana", "あゑ"),
        ("Katakana", "アｱ"),
        ("Hangul", "한ㄱ"),
        ("Thai", "กใ"),
        ("Armenian", "ԱՖև"),
        ("Georgian", "აჰ"),
        ("Tamil", "அ"),
        ("Ethiopic", "አ"),
        ("", "3 .-ーʼ́ि\u200b"),  # digits, marks, and letters that several scripts share
    ],
)
def test_letters_have_the_script_that_people_see(script: str, letters: str) -> None:
    assert {char: script_of(char) for char in letters} == dict.fromkeys(letters, script)
    assert not script or script in known_scripts()


def test_half_of_the_letters_is_enough() -> None:
    assert is_mostly_in("abc где", ["Latin"])
    assert not is_mostly_in("ab где", ["Latin"])
    assert is_mostly_in("ab где", ["Latin", "Cyrillic"])


def test_text_without_letters_is_in_every_script() -> None:
    assert is_mostly_in("12:30 – €5", ["Thai"])


def test_japanese_needs_its_three_scripts() -> None:
    text = "東京タワーへようこそ"
    assert is_mostly_in(text, ["Han", "Hiragana", "Katakana"])
    assert not is_mostly_in(text, ["Han"])


def test_ascii_text_is_latin_and_nothing_else() -> None:
    assert is_mostly_in("tea", ["Cyrillic", "Latin"])
    assert not is_mostly_in("tea", ["Cyrillic"])
