from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.boundaries import word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


@given(st.text())
def test_spans_hold_everything_but_white_space(text: str) -> None:
    assert "".join(words(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("e-mail, don't!", ["e", "-", "mail", ",", "don", "'", "t", "!"]),
        ("1,000.5 or v1.2. 3", ["1,000.5", "or", "v1.2", ".", "3"]),
        ("{0} %s ${a_b}", ["{", "0", "}", "%", "s", "$", "{", "a_b", "}"]),
        ("Zu\u0308rich", ["Zu\u0308rich"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("iPhone用ケース", ["iPhone", "用", "ケ", "ー", "ス"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("한국어 책", ["한국어", "책"]),
        ("👍\ufe0f ok", ["👍\ufe0f", "ok"]),
    ],
)
def test_words_of_many_scripts(text: str, found: list[str]) -> None:
    assert words(text) == found
