from __future__ import annotations

import pytest

from transduce.text.segments import find_language, one_line, same_language, side_order


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a b"),
        ("a\r\nb", "a b"),
        ("a \n\n\t b\n", "a b"),
        ("\n", ""),
        ("  spaces stay  ", "  spaces stay  "),
        ("a\u2028b\u0085c\x0bd", "a\u2028b\u0085c\x0bd"),
    ],
)
def test_only_cr_and_lf_become_a_space(text: str, line: str) -> None:
    assert one_line(text) == line


def test_one_line_takes_linear_time_on_a_run_of_blanks() -> None:
    # A pattern that backtracks would need 10^10 steps for this, which the time limit of the suite would stop.
    assert one_line("a" + " " * 100_000 + "b\n") == "a" + " " * 100_000 + "b"


@pytest.mark.parametrize(
    ("code", "wanted", "same"),
    [
        ("en", "EN-us", True),
        ("zh_Hant_TW", "zh-Hant", True),
        ("ca@valencia", "ca", True),
        ("pt-PT", "pt-BR", False),
        ("e", "en", False),
        ("", "en", False),
    ],
)
def test_languages_match_when_one_refines_the_other(code: str, wanted: str, same: bool) -> None:
    assert same_language(code, wanted) is same


def test_the_exact_language_wins_over_the_first() -> None:
    assert find_language(["pt-PT", "pt-br"], "pt-BR") == "pt-br"
    assert find_language(["pt-PT", "pt-BR"], "pt") == "pt-PT"
    assert find_language(["de"], "pt") is None


def test_a_file_without_languages_is_taken_as_it_stands() -> None:
    assert side_order(None, None, src_lang="en", tgt_lang="de") == (0, 1)
    assert side_order("", "de", src_lang="de", tgt_lang="en") == (1, 0)
    assert side_order("en", "fr", src_lang="en", tgt_lang="de") is None
