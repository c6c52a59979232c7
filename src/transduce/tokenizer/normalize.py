"""What happens to a text before any tokenizer sees it."""

from __future__ import annotations

import unicodedata
from typing import Literal

from transduce.base.errors import TokenizerError

__all__ = ["Normalization", "normalize_text"]

Normalization = Literal["none", "nfc", "nfkc"]
"""The Unicode normalization form of a tokenizer. ``none`` keeps every character as it is."""


def normalize_text(text: str, normalization: Normalization) -> str:
    """Return a text in the given form, after making sure that it is Unicode text at all.

    A lone surrogate (half of a UTF-16 pair, which JSON can spell and UTF-8 cannot) is refused: a replacement would
    break the promise that text comes back as it was.

    Raises:
        TokenizerError: The text has a lone surrogate.

    >>> normalize_text("Zu\\u0308rich", "nfc") == "Z\\u00fcrich"
    True
    """
    if text.isascii():  # no form changes ASCII
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"the text has a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start + 1}, "
            f"which is not valid Unicode; remove or replace it"
        ) from None
    match normalization:
        case "none":
            return text
        case "nfc":
            return unicodedata.normalize("NFC", text)
        case "nfkc":
            return unicodedata.normalize("NFKC", text)
