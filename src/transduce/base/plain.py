"""Typed values from plain ones, those that JSON and TOML have, and back.

The kinds: ``bool``, ``int``, ``float``, ``str``, ``Path``, ``Literal``, ``X | Y``, ``tuple[X, ...]``, ``dict[str, X]``,
``Counter[X]``, and dataclasses of them. A value must be of its kind: ``"77"`` is no number, and ``True`` is none either.
What is taken all the same, since plain values have no kind of their own for it: a whole number for a number, a list for a
tuple, text for a path, and an object for a dataclass.
"""

from __future__ import annotations

import math
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from transduce.base.near import near_match

__all__ = ["Mistake", "PlainError", "Spot", "as_plain", "from_plain", "read_value", "wrong_value"]

Spot = tuple[str | int, ...]
"""Where a value stands inside another: names, and numbers in lists."""

Typed = TypeVar("Typed")

_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "text",
    tuple: "a list",
}
_TAKEN: Mapping[Any, tuple[type, ...]] = {
    float: (float, int),
    Path: (str, Path),
    tuple: (list, tuple),
    Counter: (dict,),
}
"""What is taken for a kind, where it is not the kind alone."""


class PlainError(ValueError):
    """Plain values are not what they should be: says where, and why."""


class Mistake(NamedTuple):
    """One value that is not what it should be."""

    place: Spot
    """Where it stands."""
    text: str
    """What is wrong, in words, with the value."""
    kind: Literal["value", "unknown", "section", "check"] = "value"
    """``value``: it is missing, of another kind, or out of its range. ``unknown``: there is nothing of that name. ``section``: it
    should be an object, with names of its own. ``check``: right values do not go together."""

    def below(self, place: Spot) -> Mistake:
        """Return the same mistake as it is seen from further up."""
        return self._replace(place=(*place, *self.place))

    @property
    def dotted(self) -> str:
        """Its place as people write it.

        >>> Mistake(("data", "train", 0), "").dotted
        'data.train[0]'
        """
        text = ""
        for part in self.place:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text


def wrong_value(place: Spot, words: str, value: object) -> Mistake:
    """Return the mistake of a value that should be something else.

    >>> wrong_value(("n",), "input should be a whole number", 3.0).text
    'input should be a whole number, but it is 3.0'
    """
    if isinstance(value, dict):
        return Mistake(place, words)
    return Mistake(place, f"{words}, but it is {str(value).lower() if isinstance(value, bool) else repr(value)}")


def from_plain(kind: type[Typed], value: object) -> Typed:
    """Return a plain value as one of a kind.

    Raises:
        PlainError: It is none.

    >>> from_plain(tuple[float, ...], [1, 2.5])
    (1.0, 2.5)
    """
    found: list[Mistake] = []
    typed = read_value(kind, value, (), found)
    if found:
        raise PlainError(f"{found[0].dotted}: {found[0].text}" if found[0].place else found[0].text)
    return cast(Typed, typed)


def as_plain(value: Any) -> Any:
    """Return a value as JSON has it; :func:`from_plain` reads it back.

    >>> as_plain((Path("a/b"), 1))
    ['a/b', 1]
    """
    if is_dataclass(value):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def read_value(kind: Any, value: Any, place: Spot, found: list[Mistake]) -> Any:
    """Return a value as one of a kind.

    Args:
        kind: The kind, as an annotation.
        value: The value. One that is none of the kind comes back as it is.
        place: Where it stands.
        found: Takes what is wrong.
    """
    base, parts = get_origin(kind) or kind, get_args(kind)
    if base in (Union, types.UnionType):
        return _read_union(parts, value, place, found)
    if base is Literal:
        return _read_choice(parts, value, place, found)
    if is_dataclass(base):
        return _read_dataclass(cast(type, base), value, place, found)
    if isinstance(value, bool) is not (base is bool) or not isinstance(value, _TAKEN.get(base, base)):
        found.append(_wrong_kind(base, value, place))
        return value
    if base is tuple:
        return tuple(read_value(parts[0], item, (*place, i), found) for i, item in enumerate(value))
    if base is Counter:
        return Counter(read_value(types.GenericAlias(dict, (parts[0], int)), value, place, found))
    if base is dict:
        return {name: read_value(parts[1], item, (*place, name), found) for name, item in value.items()}
    return _as_float(value) if base is float else base(value)


def _read_union(kinds: Sequence[Any], value: Any, place: Spot, found: list[Mistake]) -> Any:
    """Return a value as the first of some kinds that takes it."""
    if value is None and type(None) in kinds:
        return None
    mistakes: list[Mistake] = []
    for kind in kinds:
        if kind is type(None):
            continue
        mistakes = []
        typed = read_value(kind, value, place, mistakes)
        if not mistakes:
            return typed
    found += mistakes
    return value


def _read_choice(choices: Sequence[Any], value: Any, place: Spot, found: list[Mistake]) -> Any:
    if any(value == choice and type(value) is type(choice) for choice in choices):
        return value
    names = [repr(choice) for choice in choices]
    words = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    mistake = wrong_value(place, f"input should be {words}", value)
    if isinstance(value, str):
        mistake = mistake._replace(text=mistake.text + near_match(value, list(map(str, choices))))
    found.append(mistake)
    return value


def _read_dataclass(model: type, value: Any, place: Spot, found: list[Mistake]) -> Any:
    if isinstance(value, model):
        return value
    if not isinstance(value, Mapping):
        found.append(wrong_value(place, "input should be an object", value))
        return value
    kinds, mistakes = get_type_hints(model), list[Mistake]()
    values = {
        name: read_value(kind, value[name], (*place, name), mistakes) for name, kind in kinds.items() if name in value
    }
    mistakes += [
        Mistake((*place, field.name), "Field required")
        for field in fields(model)
        if field.name not in value and field.default is MISSING and field.default_factory is MISSING
    ]
    mistakes += [
        Mistake((*place, name), "Extra inputs are not permitted", "unknown") for name in value if name not in kinds
    ]
    found += mistakes
    return value if mistakes else model(**values)


def _wrong_kind(kind: type, value: Any, place: Spot) -> Mistake:
    mistake = wrong_value(place, f"input should be {_WORDS.get(kind, 'an object')}", value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return mistake._replace(text=f"{mistake.text}; write {value:.0f}")
    return mistake


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf
