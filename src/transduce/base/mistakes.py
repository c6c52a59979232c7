"""Mistakes in settings, in words: one line each, with the source of the value and a near match."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Any

from transduce.base.near import closest, near_match
from transduce.base.plain import Mistake
from transduce.base.section import Settings, iter_fields, read_section, section_at, setting_fields

__all__ = ["Origins", "Place", "explain_mistakes"]

Place = tuple[str, ...]
"""Where a setting stands in the tree, such as ``("train", "seed")``."""
Origins = dict[Place, str]
"""Where each value came from, in the order in which they were set."""


def explain_mistakes(model: type[Settings], values: dict[str, Any], origins: Origins) -> list[str]:
    """Find all mistakes in a tree of values, and turn each into a line: origin, dotted name, what is wrong, what to do.

    Args:
        model: The section that the tree should be.
        values: The tree. Wrong values are taken out of it.
        origins: Where the values came from.
    """
    lines: list[str] = []
    wrong: set[Place] = set()
    while True:
        found: list[Mistake] = []
        read_section(model, values, (), found)
        lines += [_explain(model, item, origins) for item in found if not _is_doubtful(model, item, origins, wrong)]
        # A section's own check runs only once its fields are right: take the wrong values out and look again.
        removed = [place for item in found if (place := _remove(model, values, item.place)) is not None]
        if not removed:
            return list(dict.fromkeys(lines))
        wrong.update(removed, (_meant_place(model, place) for place in removed))


def _explain(model: type[Settings], item: Mistake, origins: Origins) -> str:
    """Turn one mistake into a line: origin, dotted name, what is wrong, what to do."""
    place = tuple(map(str, item.place))
    dotted, message = item.dotted, _message(model, place, item)
    origin = _origin(place, _fields_named(model, place, message), origins)
    name = f"{dotted}: " if dotted else ""
    if origin.startswith("--"):  # an option, which names the setting itself
        return f"{origin}: {'' if dotted and dotted in origin else name}{message}"
    return f"{origin}: {name}{message}" if origin else f"{name}{message}"


def _is_doubtful(model: type[Settings], item: Mistake, origins: Origins, wrong: Set[Place]) -> bool:
    """Tell whether a mistake may only come of wrong values that were taken out, and so may be none once they are right.

    Args:
        model: What is validated.
        item: The mistake.
        origins: Where the values came from.
        wrong: The places of the values that were taken out.
    """
    place = tuple(map(str, item.place))
    if place in wrong:
        return True
    if section_at(model, place) is None or not any(bad[: len(place)] == place for bad in wrong):
        return False
    named = _fields_named(model, place, item.text)
    rests_on_wrong = any(field[: len(bad)] == bad for field in named for bad in wrong)
    return rests_on_wrong or not any(field in origins for field in named)


def _meant_place(model: type[Settings], place: Place) -> Place:
    """Return the place of the setting that an unknown name probably means; the place itself when it is known."""
    owner = section_at(model, place[:-1])
    if owner is None or place[-1] in setting_fields(owner):
        return place
    return (*place[:-1], closest(place[-1], list(setting_fields(owner))) or place[-1])


def _remove(model: type[Settings], merged: dict[str, Any], loc: Sequence[str | int]) -> Place | None:
    """Take a wrong value out of the merged tree.

    Returns:
        Its place; None where there is nothing to take out: the value is missing, or a section's own check failed.
    """
    place = tuple(map(str, loc))
    node = merged
    for depth, name in enumerate(place, start=1):
        if name not in node:
            return None
        if not isinstance(node[name], dict) or (depth == len(place) and section_at(model, place) is None):
            del node[name]
            return place[:depth]
        node = node[name]
    return None


def _message(model: type[Settings], place: Place, item: Mistake) -> str:
    if item.kind == "unknown":
        owner = section_at(model, place[:-1])
        close = near_match(place[-1], list(setting_fields(owner))) if owner else ""
        return f"{item.text}{close or _in_another_section(model, place)}"
    if item.kind == "section":
        return f"{item.text}: write {'.'.join(place)}.NAME = value"
    return item.text[:1].lower() + item.text[1:]


def _in_another_section(model: type[Settings], place: Place) -> str:
    """Return ``; did you mean 'section.name'?`` where a setting of that name stands in one other section."""
    found = [name for name, _ in iter_fields(model) if name.rpartition(".")[2] == place[-1]]
    return f"; did you mean '{found[0]}'?" if len(found) == 1 else ""


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
