"""Texts to translate as JSON Lines, each with wishes of its own, and translations as JSON Lines.

One object a line in::

    {"text": "How are you?", "prefix": "Wie", "required": ["dir"], "banned": ["Ihnen"], "n_best": 2, "id": "a17"}

One object a line out::

    {"line": 1, "id": "a17", "translations": [{"text": "Wie geht es dir?", "score": -0.48, "log_prob": -0.89}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from transduce.base.errors import DataError
from transduce.decoding.request import Request
from transduce.text.segments import one_line

__all__ = ["Record", "parse_records"]

_LISTS = ("required", "banned", "keep")
_KEYS = ("id", *(field.name for field in fields(Request)))


@dataclass(frozen=True, slots=True)
class Record:
    """One line of input."""

    request: Request
    """What is to be translated."""
    id: Any = None
    """What the user knows the line by: any JSON value. None: nothing."""


def parse_records(lines: Iterable[str], name: str, *, first_number: int = 1) -> Iterator[Record]:
    """Read requests from the lines of a JSON Lines file. A blank line is a blank text, so that lines can be counted.

    Args:
        lines: The lines.
        name: What messages call the file.
        first_number: Number of the first line.

    Raises:
        DataError: A line is not a JSON object, has no text, an unknown key, or a value of the wrong type.

    >>> [record] = parse_records(['{"text": "a blue door", "n_best": 2, "id": 7}'], "in.jsonl")
    >>> record.id, record.request.text, record.request.n_best
    (7, 'a blue door', 2)
    """
    for number, line in enumerate(lines, start=first_number):
        yield _parse(line, f"{name}, line {number}") if line.strip() else Record(Request(""))


def _parse(line: str, where: str) -> Record:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error}); each line must be one JSON object") from None
    if not isinstance(values, dict):
        raise DataError(f'{where}: not a JSON object, and one such as {{"text": "..."}} is needed')
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        raise DataError(f"{where}: unknown key {_quoted(unknown[0])}; the keys are {', '.join(_KEYS)}")
    if "text" not in values:
        raise DataError(f"{where}: no key 'text'; it holds the text to translate (the keys are {', '.join(_KEYS)})")
    return Record(_request(values, where), values.get("id"))


def _request(values: Mapping[str, Any], where: str) -> Request:
    n_best = values.get("n_best")
    if n_best is not None and (not isinstance(n_best, int) or isinstance(n_best, bool) or n_best < 1):
        raise DataError(f"{where}: the value of 'n_best' must be a whole number of at least 1, not {_quoted(n_best)}")
    text, prefix = (one_line(_text(values.get(key, ""), key, where)) for key in ("text", "prefix"))
    required, banned, keep = (_texts(values.get(key, []), key, where) for key in _LISTS)
    return Request(text, prefix, required, banned, keep, n_best)


def _texts(value: object, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise DataError(f"{where}: the value of '{key}' must be a list of strings, not {_quoted(value)}")
    return tuple(_text(item, key, where) for item in value)


def _text(value: object, key: str, where: str) -> str:
    if not isinstance(value, str):
        kind = "a list of strings, each of them" if key in _LISTS else "a string,"
        raise DataError(f"{where}: the value of '{key}' must be {kind} not {_quoted(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair, which is no text
        raise DataError(
            f"{where}: the value of '{key}' has a lone surrogate (\\u{ord(value[error.start]):04x})"
        ) from None
    return value


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:40] + "..."
