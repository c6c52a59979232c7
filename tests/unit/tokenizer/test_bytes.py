from __future__ import annotations

import pytest

from transduce.tokenizer.bytes import BYTE_SYMBOLS, symbols_to_bytes


def test_every_byte_has_a_symbol_of_its_own_and_comes_back() -> None:
    assert len(set(BYTE_SYMBOLS)) == 256
    assert all(len(symbol) == 1 for symbol in BYTE_SYMBOLS)
    assert symbols_to_bytes("".join(BYTE_SYMBOLS)) == bytes(range(256))


def test_the_symbols_are_those_of_the_hugging_face_library() -> None:
    from tokenizers import pre_tokenizers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert set(pre_tokenizers.ByteLevel.alphabet()) == set(BYTE_SYMBOLS)
    for text in ("\0\t\n az~\x7f", "é\x80\xad\xff", "Ж", "日本", "😀", "\U0010ffff"):
        ((symbols, _),) = byte_level.pre_tokenize_str(text)
        assert symbols_to_bytes(symbols) == text.encode()


def test_no_symbol_is_white_space() -> None:
    assert not any(symbol.isspace() for symbol in BYTE_SYMBOLS)


def test_what_is_no_symbol_is_refused() -> None:
    with pytest.raises(ValueError, match="'日'"):
        symbols_to_bytes("a日")
