"""N-best lists in files, in the two forms that ``transduce translate --n-best`` prints."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import STDIN, check_readable, read_lines
from transduce.decoding.rescore import ListedText

__all__ = ["NBestList", "read_nbest"]

_LARGEST_SCORE = 1e100
"""Above it, weighted sums might not be finite; no model gives anything near it."""


@dataclass(frozen=True)
class NBestList:
    """The translations of one line, in the order of the file."""

    line: int
    """Number of the source line, from 1."""
    texts: list[ListedText]
    """Translations with the scores that they have been ranked by."""
    fields: dict[str, Any] | None
    """The whole JSON object, so that it can be written again with all that it holds; None in a list of TAB columns."""


def read_nbest(path: Path) -> Iterator[NBestList]:
    """Yield the lists of a file; when its first character is ``{`` it is JSONL, else TAB columns.

    Args:
        path: ``.gz``, ``.zst`` or ``-`` for standard input too.

    Raises:
        DataError: The file cannot be read (at the call), or a line is no part of such a list.
    """
    check_readable(path)
    return _read(path)


def _read(path: Path) -> Iterator[NBestList]:
    name = "standard input" if path == STDIN else str(path)
    lines = enumerate(read_lines(path), start=1)
    first = next(lines, None)
    if first is None:
        return
    everything = itertools.chain([first], lines)
    if first[1].startswith("{"):
        yield from (_parse_object(line, f"{name}, line {number}") for number, line in everything)
        return
    entries = (_parse_columns(line, f"{name}, line {number}") for number, line in everything)
    for line, group in itertools.groupby(entries, key=lambda entry: entry[0]):
        yield NBestList(line, [listed for _, listed in group], fields=None)


def _parse_columns(text: str, place: str) -> tuple[int, ListedText]:
    columns = text.split("\t", 3)
    try:
        line, _, score, translation = columns
        return int(line), ListedText(translation, _finite(score))
    except ValueError:
        raise DataError(
            f"{place}: this is no line of an n-best list ({text[:60]!r}); it should be line number, rank, score and text "
            "with TABs between, as 'transduce translate --n-best' prints them"
        ) from None


def _parse_object(text: str, place: str) -> NBestList:
    try:
        fields = json.loads(text)
        if "\\u" in text:
            json.dumps(fields, ensure_ascii=False).encode("utf-8")  # JSON can write half of a surrogate pair
        texts = [
            ListedText(_typed(item, "text", str), _finite(_typed(item, "score", int, float)))
            for item in _typed(fields, "translations", list)
        ]
        return NBestList(_typed(fields, "line", int), texts, fields)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{place}: this is no n-best list ({type(error).__name__}: {error}); it should be an object with 'line' and "
            "'translations', each with 'text' and 'score', as 'transduce translate --json' prints them"
        ) from None


def _typed(fields: Any, key: str, *types: type) -> Any:
    """Return a value of a JSON object that must be of one of some types; to Python, True is a whole number as well."""
    if not isinstance(fields, dict):
        raise TypeError(f"{json.dumps(fields)[:40]} is no object")
    value = fields[key]
    if not isinstance(value, types) or isinstance(value, bool):
        raise TypeError(f"the value of '{key}' is {json.dumps(value)[:40]}")
    return value


def _finite(number: str | float) -> float:
    value = float(number)
    if not abs(value) <= _LARGEST_SCORE:  # NaN is not
        raise ValueError(f"the score is {number}")
    return value
