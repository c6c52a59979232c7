from __future__ import annotations

import pytest

from transduce.text.suspects import copied, main_script, numbers_differ, text_suspects


@pytest.mark.parametrize(
    ("text", "suspects"),
    [
        ("plain text, 12 %", ()),
        ("Größe", ("composed",)),
        ("Gro\u0308\u00dfe", ("decomposed",)),
        ("Größe".encode().decode("cp1252"), ("mojibake",)),
        ("“quoted”".encode().decode("cp1252", errors="ignore"), ("mojibake",)),
        ("Привет".encode().decode("latin-1"), ("control", "mojibake")),  # its bytes are C1 controls there
        ("lost \ufffd text", ("replacement",)),
        ("a\x07b", ("control",)),
        ("tab\tis fine", ()),
        ("水曜日に", ()),
    ],
)
def test_signs_of_faults(text: str, suspects: tuple[str, ...]) -> None:
    assert text_suspects(text) == suspects


@pytest.mark.parametrize(
    "text",
    [
        "NÃO É",
        "ÂGÉ",
        "CAFÉ…",
        "„AOÄ“",
        "Çà et là",
        "Ågren & Ångström",
        "Ðà þórr",
        "Ø 12 mm",
        "Ñandú Ñoño",
        "Người Việt",
        "«À»",
    ],
)
def test_letters_that_mojibake_is_made_of_are_fine_alone(text: str) -> None:
    assert "mojibake" not in text_suspects(text)


def test_scripts() -> None:
    assert main_script("Hello") == "Latin"
    assert main_script("Привет, world") == "Cyrillic"
    assert main_script("12:30 !") == ""


def test_a_copy_has_letters() -> None:
    assert copied("Same. ", "Same.")
    assert not copied("12.5 %", "12.5 %")
    assert not copied("Same", "Other")


@pytest.mark.parametrize(
    ("src", "tgt", "differ"),
    [
        ("2,000 people", "2.000 Leute", False),
        ("at 3:45", "um 3.45 Uhr", False),
        ("in 1999", "in 1998", True),
        ("no number", "12", False),
        ("7 of 9", "9 von 7", False),
        ("chapter 07", "Kapitel 7", False),
    ],
)
def test_numbers(src: str, tgt: str, differ: bool) -> None:
    assert numbers_differ(src, tgt) == differ
