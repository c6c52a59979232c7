from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.base.errors import TokenizerError
from transduce.tokenizer.normalize import normalize_text


@given(st.text())
def test_none_changes_nothing(text: str) -> None:
    assert normalize_text(text, "none") == text


@given(st.text())
def test_forms_are_those_of_unicode(text: str) -> None:
    assert normalize_text(text, "nfc") == unicodedata.normalize("NFC", text)
    assert normalize_text(text, "nfkc") == unicodedata.normalize("NFKC", text)


def test_a_lone_surrogate_is_named_with_its_place() -> None:
    with pytest.raises(TokenizerError, match=r"U\+D800\) at character 3"):
        normalize_text("ab\ud800c", "none")
