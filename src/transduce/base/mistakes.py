"""Mistakes in settings, in words: one line each, with the source of the value and a near match."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Any

from transduce.base.section import Settings, iter_fields, section_at

__all__ = ["Origins", "Place", "explain_mistake", "is_doubtful", "meant_place", "near_match"]

Place = tuple[str, ...]
"""Where a setting stands in the tree, such as ``("train", "seed")``."""
Origins = dict[Place, str]
"""Where each value came from, in the order in which they were set."""

_PLAIN_WORDS = {
    "bool_type": "input should be true or false",
    "float_type": "input should be a number",
    "int_type": "input should be a whole number",
    "string_type": "input should be text",
    "tuple_type": "input should be a list",
}


def near_match(name: str, choices: Sequence[str]) -> str:
    """Return ``; did you mean 'x'?`` for the closest choice, or nothing when none is close.

    >>> near_match("d_modle", ["d_model", "d_ff"])
    "; did you mean 'd_model'?"
    >>> near_match("zzz", ["d_model"])
    ''
    """
    close = _closest(name, choices)
    return f"; did you mean '{close}'?" if close is not None else ""


def explain_mistake(model: type[Settings], item: Any, origins: Origins) -> str:
    """Turn one pydantic error into a line: origin, dotted name, what is wrong, what to do."""
    place = tuple(map(str, item["loc"]))
    dotted, message = _dotted(item["loc"]), _message(model, place, item)
    origin = _origin(place, _fields_named(model, place, message), origins)
    name = f"{dotted}: " if dotted else ""
    if origin.startswith("--"):  # an option, which names the setting itself
        return f"{origin}: {'' if dotted and dotted in origin else name}{message}"
    return f"{origin}: {name}{message}" if origin else f"{name}{message}"


def is_doubtful(model: type[Settings], item: Any, origins: Origins, wrong: Set[Place]) -> bool:
    """Tell whether a mistake may only come of wrong values that were taken out, and so may be none once they are right.

    Args:
        model: What is validated.
        item: A pydantic error.
        origins: Where the values came from.
        wrong: The places of the values that were taken out.
    """
    place = tuple(map(str, item["loc"]))
    if place in wrong:
        return True
    if section_at(model, place) is None or not any(bad[: len(place)] == place for bad in wrong):
        return False
    named = _fields_named(model, place, item["msg"])
    rests_on_wrong = any(field[: len(bad)] == bad for field in named for bad in wrong)
    return rests_on_wrong or not any(field in origins for field in named)


def meant_place(model: type[Settings], place: Place) -> Place:
    """Return the place of the setting that an unknown name probably means; the place itself when it is known."""
    owner = section_at(model, place[:-1])
    if owner is None or place[-1] in owner.model_fields:
        return place
    return (*place[:-1], _closest(place[-1], list(owner.model_fields)) or place[-1])


def _message(model: type[Settings], place: Place, item: Any) -> str:
    kind, value = item["type"], item.get("input")
    if kind == "extra_forbidden":
        owner = section_at(model, place[:-1])
        close = near_match(place[-1], list(owner.model_fields)) if owner else ""
        return f"unknown setting{close or _in_another_section(model, place)}"
    if kind == "missing":
        return "this setting is needed and has no default"
    if kind == "model_type":
        return f"this is a section: write {'.'.join(place)}.NAME = value"
    message = _PLAIN_WORDS.get(kind, str(item["msg"]).removeprefix("Value error, "))
    message = message[:1].lower() + message[1:]
    if kind == "value_error" or isinstance(value, dict):
        return message
    message += f", but it is {_as_toml(value)}"
    if kind == "int_type" and isinstance(value, float) and value.is_integer():
        message += f"; write {value:.0f}"
    if kind == "literal_error" and isinstance(value, str):
        choices = item["ctx"]["expected"].replace(" or ", ", ").split(", ")
        message += near_match(value, [choice.strip("'") for choice in choices])
    return message


def _in_another_section(model: type[Settings], place: Place) -> str:
    """Return ``; did you mean 'section.name'?`` where a setting of that name stands in one other section."""
    found = [name for name, _ in iter_fields(model) if name.rpartition(".")[2] == place[-1]]
    return f"; did you mean '{found[0]}'?" if len(found) == 1 else ""


def _as_toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _origin(place: Place, named: Sequence[Place], origins: Origins) -> str:
    """Find where a mistake came from.

    That is, of the settings that a section's check names, the one that was set last; or else the value itself, or what was
    set last under the nearest place above it.
    """
    found = [origin for key, origin in origins.items() if key in named]
    for depth in range(len(place), min(len(place), 1) - 1, -1):
        found = found or [origin for key, origin in origins.items() if key[:depth] == place[:depth]]
    return found[-1] if found else ""


def _fields_named(model: type[Settings], place: Place, message: str) -> list[Place]:
    """Return the settings of a section that a message of its own check names; none when the place is no section."""
    owner = section_at(model, place)
    names = [name for name, _ in iter_fields(owner)] if owner is not None else []
    return [(*place, *name.split(".")) for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message)]


def _dotted(loc: Sequence[str | int]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _closest(name: str, choices: Sequence[str]) -> str | None:
    import difflib  # here, since there is no mistake as a rule

    return next(iter(difflib.get_close_matches(name, choices, n=1, cutoff=0.6)), None)
