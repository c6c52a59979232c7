"""Texts to translate as JSON Lines, each with wishes of its own, and translations as JSON Lines.

One object a line in::

    {"text": "How are you?", "prefix": "Wie", "required": ["dir"], "banned": ["Ihnen"], "n_best": 2, "id": "a17"}

One object a line out::

    {"line": 1, "id": "a17", "translations": [{"text": "Wie geht es dir?", "score": -0.48, "log_prob": -0.89}]}

An id is kept as the text that it is written with, and so comes back to the letter: ``1.10``, ``1e400`` and ``null`` too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn

from transduce.base.errors import DataError
from transduce.decoding.request import Request
from transduce.text.segments import one_line

__all__ = ["Record", "parse_records"]

_LISTS = ("required", "banned", "keep")
_KEYS = ("id", *(field.name for field in fields(Request)))
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Record:
    """One line of input."""

    request: Request
    """What is to be translated."""
    id_json: str | None = None
    """What the user knows the line by: a JSON value, as it is written. None: there is none."""


def parse_records(lines: Iterable[str], name: str, *, first_number: int = 1) -> Iterator[Record]:
    """Read requests from the lines of a JSON Lines file. A blank line is a blank text, so that lines can be counted.

    Args:
        lines: The lines.
        name: What messages call the file.
        first_number: Number of the first line.

    Raises:
        DataError: A line is not a JSON object, has no text, an unknown key, a key twice, or a value of the wrong type.

    >>> [record] = parse_records(['{"text": "a blue door", "n_best": 2, "id": 7}'], "in.jsonl")
    >>> record.id_json, record.request.text, record.request.n_best
    ('7', 'a blue door', 2)
    """
    for number, line in enumerate(lines, start=first_number):
        where = f"{name}, line {number}"
        try:
            record = _parse(line, where) if line.strip() else Record(Request(""))
        except RecursionError:
            raise DataError(f"{where}: a value is nested too deeply") from None
        yield record


def _parse(line: str, where: str) -> Record:
    try:
        values = json.loads(line, parse_constant=_refuse_constant)
        pairs = _written_pairs(line) if isinstance(values, dict) else []
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error}); each line must be one JSON object") from None
    if not isinstance(values, dict):
        raise DataError(f'{where}: not a JSON object, and one such as {{"text": "..."}} is needed')
    written = dict(pairs)
    if len(written) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"{where}: the key {_quoted(twice)} stands there twice")
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        raise DataError(f"{where}: unknown key {_quoted(unknown[0])}; the keys are {', '.join(_KEYS)}")
    if "text" not in values:
        raise DataError(f"{where}: no key 'text'; it holds the text to translate (the keys are {', '.join(_KEYS)})")
    return Record(_request(values, where), _id(written["id"], values["id"], where) if "id" in written else None)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _written_pairs(line: str) -> list[tuple[str, str]]:
    """Return the keys of a line that is a JSON object, and the text that the value of each is written with."""
    pairs: list[tuple[str, str]] = []
    place = _behind_space(line, line.index("{") + 1)
    while line[place] != "}":
        key, place = _DECODER.raw_decode(line, place)
        begin = _behind_space(line, line.index(":", place) + 1)
        _, end = _DECODER.raw_decode(line, begin)
        pairs.append((key, line[begin:end]))
        place = _behind_space(line, end)
        if line[place] == ",":
            place = _behind_space(line, place + 1)
    return pairs


_DECODER = json.JSONDecoder()


def _behind_space(line: str, place: int) -> int:
    found = _SPACE.match(line, place)
    assert found is not None  # it can match nothing
    return found.end()


def _id(written: str, value: object, where: str) -> str:
    _check_text(json.dumps(value, ensure_ascii=False), "id", where)
    return written.replace("\r", " ")  # white space between values: in a string it would have been refused


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
    _check_text(value, key, where)
    return value


def _check_text(value: str, key: str, where: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair, which is no text
        raise DataError(
            f"{where}: the value of '{key}' has a lone surrogate (\\u{ord(value[error.start]):04x})"
        ) from None


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:40] + "..."
