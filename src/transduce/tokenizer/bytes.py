"""Bytes as printable symbols, so that a byte-level vocabulary can be kept, and matched, as text.

Each of the 256 bytes has one character of its own, as in GPT-2: printable Latin-1 bytes stand for themselves, the
others (controls, the space, 0x7F to 0xA0, the soft hyphen) for characters from U+0100 on. A space is ``Ġ``. No symbol
is a raw space: a name with a space in it is one that no text can ever match.
"""

from __future__ import annotations

__all__ = ["BYTE_SYMBOLS", "symbols_to_bytes"]


def _byte_symbols() -> tuple[str, ...]:
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return tuple(chr(byte) if byte in printable else chr(0x100 + others.index(byte)) for byte in range(256))


BYTE_SYMBOLS = _byte_symbols()
"""The symbol of each byte: 256 strings of one character."""

_NO_BYTE = 0x100
_BYTE_OF = dict.fromkeys(range(0x100), _NO_BYTE) | {ord(symbol): byte for byte, symbol in enumerate(BYTE_SYMBOLS)}
"""For ``str.translate``, which is many times quicker than a look at each character: a vocabulary has 100,000 of them."""


def symbols_to_bytes(symbols: str) -> bytes:
    """Return the bytes that a string of symbols stands for.

    Raises:
        ValueError: A character is not one of the 256 symbols.

    >>> symbols_to_bytes("ĠHÃ¤user").decode()
    ' Häuser'
    """
    try:
        return symbols.translate(_BYTE_OF).encode("latin-1")
    except UnicodeEncodeError as error:
        raise ValueError(f"{symbols!r} holds {symbols[error.start]!r}, which is not the symbol of a byte") from None
