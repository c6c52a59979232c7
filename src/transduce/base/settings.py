"""Settings: typed, frozen, strict. Three sources, the later wins: recipe, the user's TOML, ``--set section.name=value``.

Every mistake is found in one pass and shown with the source of the value and a near match. A section is one pydantic
model beside the code that owns it; the docstring under each field is its help text.

A value must be of the kind of its setting: ``"77"`` is no number, and ``"yes"`` is not true. What may be written for short:
a whole number for a number, one text for a list of texts, and ``none`` (or nothing at all) for an optional setting that is
not to be given, whatever an earlier source says.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import tomli_w
from pydantic import BaseModel, ConfigDict, ValidationError

from transduce.base.errors import SettingsError

__all__ = [
    "Settings",
    "SettingsSource",
    "dump_toml",
    "is_optional",
    "iter_fields",
    "near_match",
    "parse_override",
    "read_toml",
    "resolve",
]

Section = TypeVar("Section", bound="Settings")


class Settings(BaseModel):
    """The base of every settings section: frozen, strict about kinds of values, and no unknown names."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_default=True,
    )


@dataclass(frozen=True)
class SettingsSource:
    """A tree of values and the name of where it came from, as error messages print it (``my.toml``, ``--set``)."""

    origin: str
    values: Mapping[str, Any]


def read_toml(path: Path) -> SettingsSource:
    """Read a settings file.

    Raises:
        SettingsError: The file is missing, not UTF-8, or not TOML (the message has the line).
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SettingsError(
            f"{path}: no such settings file; 'transduce recipes' lists the ones that are shipped"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read as a settings file ({error})") from None
    try:
        return SettingsSource(str(path), tomllib.loads(text))
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise SettingsError(f"{path}: not valid TOML: {error}") from None


def parse_override(text: str) -> SettingsSource:
    """Read one ``section.name=value`` of the command line. The value is TOML; what is not TOML is taken as a string.

    Raises:
        SettingsError: There is no ``=`` or no name.

    >>> parse_override("train.seed=7").values
    {'train': {'seed': 7}}
    >>> parse_override("model.positions=learned").values
    {'model': {'positions': 'learned'}}
    """
    name, equals, raw = text.partition("=")
    path = [part.strip() for part in name.split(".")]
    if not equals or not all(path):
        raise SettingsError(f"--set {text}: write it as section.name=value, for example --set train.seed=7")
    try:
        value = tomllib.loads(f"value = {raw.strip()}")["value"]
    except ValueError:  # not TOML, or a number of thousands of digits
        value = raw.strip()
    for part in reversed(path):
        value = {part: value}
    return SettingsSource(f"--set {text}", value)


def resolve(model: type[Section], sources: Sequence[SettingsSource]) -> Section:
    """Merge the sources, the later over the earlier, and validate the result.

    Raises:
        SettingsError: One or more settings are wrong: one line for each, with its origin and a near match.
    """
    merged: dict[str, Any] = {}
    origins: _Origins = {}
    for source in sources:
        _check_text(source)
        _merge(merged, source.values, source.origin, (), origins)
    _read_short_forms(model, merged)
    lines: list[str] = []
    wrong: set[_Place] = set()
    while True:
        try:
            # Strict JSON is just as strict as settings are: it takes a list for a tuple, a string for a path, an object
            # for a section and a whole number for a number, and nothing else for anything.
            checked = model.model_validate_json(json.dumps(merged, default=str))
        except ValidationError as error:
            found = error.errors()
        else:
            if not lines:
                return checked
            break
        lines += [_explain(model, item, origins) for item in found if not _is_doubtful(model, item, origins, wrong)]
        # A section's own check runs only once its fields are right: take the wrong values out and look again.
        removed = [place for item in found if (place := _remove(merged, item["loc"])) is not None]
        if not removed:
            break
        wrong.update(removed, (_meant_place(model, place) for place in removed))
    lines = list(dict.fromkeys(lines))
    head = "1 setting is wrong" if len(lines) == 1 else f"{len(lines)} settings are wrong"
    raise SettingsError("\n".join([head, *(f"  {line}" for line in lines)]))


def near_match(name: str, choices: Sequence[str]) -> str:
    """Return ``; did you mean 'x'?`` for the closest choice, or nothing when none is close.

    >>> near_match("d_modle", ["d_model", "d_ff"])
    "; did you mean 'd_model'?"
    >>> near_match("zzz", ["d_model"])
    ''
    """
    close = _closest(name, choices)
    return f"; did you mean '{close}'?" if close is not None else ""


def iter_fields(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting as its dotted name and its pydantic field, sections opened."""
    for name, field in model.model_fields.items():
        inner = _section_of(field.annotation)
        if inner is not None:
            yield from iter_fields(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def is_optional(field: Any) -> bool:
    """Tell whether a setting, as :func:`iter_fields` yields it, may be left without a value, and so be set to ``none``."""
    return type(None) in get_args(field.annotation)


def dump_toml(settings: Settings) -> str:
    """Write settings as TOML that :func:`resolve` reads back to the same value. What is not given is left out."""
    return tomli_w.dumps(_as_toml(settings))


def _as_toml(settings: Settings) -> dict[str, Any]:
    plain = settings.model_dump(mode="json")
    values: dict[str, Any] = {}
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            values[name] = _as_toml(value)
        elif value is not None:
            values[name] = plain[name]
        elif field.get_default(call_default_factory=True) is not None:
            values[name] = _NONE  # left out, it would come back as the default
    return values


_NONE = "none"
_Place = tuple[str, ...]
"""Where a setting stands in the tree, such as ``("train", "seed")``."""
_Origins = dict[_Place, str]
"""Where each value came from, in the order in which they were set."""


def _check_text(source: SettingsSource) -> None:
    """Refuse file names that are not UTF-8, which only a command line can hold: no settings file could keep them."""
    try:
        json.dumps(source.values, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        raise SettingsError(f"{source.origin}: the value is not UTF-8 text; rename the file") from None


def _merge(
    into: dict[str, Any], values: Mapping[str, Any], origin: str, path: _Place, origins: _Origins
) -> None:
    for name, value in values.items():
        place = (*path, name)
        origins.pop(place, None)  # so that the last one set stands last
        if isinstance(value, Mapping):
            if not isinstance(into.get(name), dict):
                into[name] = {}
            _merge(into[name], value, origin, place, origins)
        else:
            into[name] = value
            origins[place] = origin


def _read_short_forms(model: type[Settings], values: dict[str, Any]) -> None:
    """Put what is meant in place of what may be written for short: ``none`` and nothing, and one text for a list."""
    for name, field in model.model_fields.items():
        value, inner = values.get(name), _section_of(field.annotation)
        if inner is not None and isinstance(value, dict):
            _read_short_forms(inner, value)
        elif isinstance(value, str):
            if is_optional(field) and value.strip().lower() in ("", _NONE):
                values[name] = None
            elif get_origin(field.annotation) is tuple:
                values[name] = [value] if value.strip() else []


def _remove(merged: dict[str, Any], loc: Sequence[str | int]) -> _Place | None:
    """Take a wrong value out of the merged tree.

    Returns:
        Its place; None where there is nothing to take out: the value is missing, or a section's own check failed.
    """
    node = merged
    for depth, part in enumerate(map(str, loc), start=1):
        if part not in node:
            return None
        if not isinstance(node[part], dict):
            del node[part]
            return tuple(map(str, loc[:depth]))
        node = node[part]
    return None


def _meant_place(model: type[Settings], place: _Place) -> _Place:
    """Return the place of the setting that an unknown name probably means; the place itself when it is known."""
    owner = _model_at(model, place[:-1])
    if owner is None or place[-1] in owner.model_fields:
        return place
    return (*place[:-1], _closest(place[-1], list(owner.model_fields)) or place[-1])


def _is_doubtful(model: type[Settings], item: Any, origins: _Origins, wrong: set[_Place]) -> bool:
    """Tell whether a mistake may only come of wrong values that were taken out, and so may be none once they are right."""
    place = tuple(map(str, item["loc"]))
    if place in wrong:
        return True
    if _model_at(model, place) is None or not any(bad[: len(place)] == place for bad in wrong):
        return False
    named = _fields_named(model, place, item["msg"])
    return any(field[: len(bad)] == bad for field in named for bad in wrong) or not any(
        field in origins for field in named
    )


def _fields_named(model: type[Settings], place: _Place, message: str) -> list[_Place]:
    """Return the settings of a section that a message of its own check names; none when the place is no section."""
    owner = _model_at(model, place)
    names = [name for name, _ in iter_fields(owner)] if owner is not None else []
    return [
        (*place, *name.split(".")) for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message)
    ]


_PLAIN_WORDS = {
    "bool_type": "input should be true or false",
    "float_type": "input should be a number",
    "int_type": "input should be a whole number",
    "string_type": "input should be text",
    "tuple_type": "input should be a list",
}
"""What pydantic says in the words of JSON or Python."""


def _explain(model: type[Settings], item: Any, origins: _Origins) -> str:
    """Turn one pydantic error into a line: origin, dotted name, what is wrong, what to do."""
    place = tuple(map(str, item["loc"]))
    dotted, message = _dotted(item["loc"]), _message(model, place, item)
    origin = _origin(place, _fields_named(model, place, message), origins)
    name = f"{dotted}: " if dotted else ""
    if origin.startswith("--set"):
        return f"{origin}: {'' if dotted and dotted in origin else name}{message}"
    return f"{origin}: {name}{message}" if origin else f"{name}{message}"


def _message(model: type[Settings], place: _Place, item: Any) -> str:
    kind, value = item["type"], item.get("input")
    if kind == "extra_forbidden":
        owner = _model_at(model, place[:-1])
        return f"unknown setting{near_match(place[-1], list(owner.model_fields)) if owner else ''}"
    if kind == "missing":
        return "this setting is needed and has no default"
    if kind == "model_type":
        return f"this is a section: write {'.'.join(place)}.NAME = value"
    message = _PLAIN_WORDS.get(kind, str(item["msg"]).removeprefix("Value error, "))
    message = message[:1].lower() + message[1:]
    if kind == "value_error" or isinstance(value, dict):
        return message
    message += f", but it is {_as_written(value)}"
    if kind == "int_type" and isinstance(value, float) and value.is_integer():
        message += f"; write {value:.0f}"
    if kind == "literal_error" and isinstance(value, str):
        choices = item["ctx"]["expected"].replace(" or ", ", ").split(", ")
        message += near_match(value, [choice.strip("'") for choice in choices])
    return message


def _as_written(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else repr(value)


def _origin(place: _Place, named: Sequence[_Place], origins: _Origins) -> str:
    """Find where a mistake came from: the last set of the settings that a section's check names, the value itself, or the
    last value set under the nearest place above."""
    found = [origin for key, origin in origins.items() if key in named]
    depth = len(place)
    while not found and (depth > 0 or not place):
        found = [origin for key, origin in origins.items() if key[:depth] == place[:depth]]
        depth -= 1
        if depth < 0:
            break
    return found[-1] if found else ""


def _closest(name: str, choices: Sequence[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, choices, n=1, cutoff=0.6)), None)


def _dotted(loc: Sequence[str | int]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _model_at(model: type[Settings], place: Sequence[str]) -> type[Settings] | None:
    current: type[Settings] | None = model
    for name in place:
        field = current.model_fields.get(name) if current is not None else None
        current = _section_of(field.annotation) if field is not None else None
    return current


def _section_of(annotation: Any) -> type[Settings] | None:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for part in get_args(annotation) if (found := _section_of(part)) is not None), None)
    return None
