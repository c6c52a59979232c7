"""JSON Lines: one JSON object a line, in the three shapes that are in use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from transduce.base.errors import DataError
from transduce.text.segments import SentencePair, find_language, one_line

__all__ = ["parse_jsonl"]


def parse_jsonl(lines: Iterable[str], name: str, *, src_lang: str, tgt_lang: str) -> Iterator[SentencePair]:
    """Yield the pairs of the lines of a JSON Lines file. Line breaks inside a text become a space; other keys are not read.

    Each line is one of::

        {"src": "a blue door", "tgt": "eine blaue Tür"}
        {"en": "a blue door", "de": "eine blaue Tür"}
        {"translation": {"en": "a blue door", "de": "eine blaue Tür"}}

    Lines of white space alone are no pairs and are passed over.

    Args:
        lines: The lines of the file.
        name: What messages call the file.
        src_lang: The key of the source, where the keys are languages.
        tgt_lang: The key of the target.

    Raises:
        DataError: A line is not a JSON object, or one of its two texts is missing or not a string.
    """
    for number, line in enumerate(lines, start=1):
        if line and not line.isspace():
            yield _parse(line, f"{name}, line {number}", src_lang, tgt_lang)


def _parse(line: str, where: str, src_lang: str, tgt_lang: str) -> SentencePair:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error}); each line must be one JSON object") from None
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if not isinstance(record, dict):
        raise DataError(f'{where}: not a JSON object, and one such as {{"src": "...", "tgt": "..."}} is needed')
    if "src" in record and "tgt" in record:
        src_key, tgt_key = "src", "tgt"
    else:
        src_key, tgt_key = _language_key(record, src_lang, where), _language_key(record, tgt_lang, where)
    return SentencePair(_text(record, src_key, where), _text(record, tgt_key, where))


def _language_key(record: dict[str, Any], language: str, where: str) -> str:
    key = find_language(record, language)
    if key is None:
        raise DataError(
            f"{where}: no key '{language}' among {', '.join(repr(name) for name in record) or 'none'}; "
            f"use the keys 'src' and 'tgt', or set data.src_lang and data.tgt_lang to the keys of the file"
        )
    return key


def _text(record: dict[str, Any], key: str, where: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise DataError(f"{where}: the value of '{key}' must be a string, but is {json.dumps(value)[:40]}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair, which no text file can hold
        raise DataError(
            f"{where}: the value of '{key}' has a lone surrogate (\\u{ord(value[error.start]):04x})"
        ) from None
    return one_line(value)
