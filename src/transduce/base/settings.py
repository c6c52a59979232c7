"""Settings: typed, frozen, strict. Three sources, the later wins: recipe, the user's TOML, ``--set section.name=value``.

Every mistake is found in one pass and shown with the source of the value and a near match. A section is one pydantic
model beside the code that owns it; the docstring under each field is its help text.
"""

from __future__ import annotations

import difflib
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
    "iter_fields",
    "near_match",
    "parse_override",
    "read_toml",
    "resolve",
]

Section = TypeVar("Section", bound="Settings")


class Settings(BaseModel):
    """The base of every settings section: frozen, and no unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True)


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
    except tomllib.TOMLDecodeError as error:
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
    except tomllib.TOMLDecodeError:
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
    origins: dict[tuple[str, ...], str] = {}
    for source in sources:
        _merge(merged, source.values, source.origin, (), origins)
    lines: list[str] = []
    while True:
        try:
            checked = model.model_validate(merged)
        except ValidationError as error:
            found = error.errors()
            lines += [_explain(model, item, origins) for item in found]
            # A section's own check runs only once its fields are right: take the wrong values out and look again.
            removed = [_remove(merged, item["loc"]) for item in found]
            if not any(removed):
                break
        else:
            if not lines:
                return checked
            break
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
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def iter_fields(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting as its dotted name and its pydantic field, sections opened."""
    for name, field in model.model_fields.items():
        inner = _section_of(field.annotation)
        if inner is not None:
            yield from iter_fields(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def dump_toml(settings: Settings) -> str:
    """Write settings as TOML that :func:`resolve` reads back to the same value. A setting of None is left out."""
    return tomli_w.dumps(settings.model_dump(mode="json", exclude_none=True))


def _merge(
    into: dict[str, Any],
    values: Mapping[str, Any],
    origin: str,
    path: tuple[str, ...],
    origins: dict[tuple[str, ...], str],
) -> None:
    for name, value in values.items():
        place = (*path, name)
        if isinstance(value, Mapping) and isinstance(into.get(name, {}), dict):
            origins.setdefault(place, origin)
            _merge(into.setdefault(name, {}), value, origin, place, origins)
        else:
            into[name] = value
            origins[place] = origin


def _remove(merged: dict[str, Any], loc: Sequence[str | int]) -> bool:
    """Take a wrong value out of the merged tree. Returns False where there is none: a missing one, a section's own check."""
    node = merged
    for part in loc:
        inner = node.get(str(part))
        if inner is None:
            return False
        if not isinstance(inner, dict):
            del node[str(part)]
            return True
        node = inner
    return False


def _explain(model: type[Settings], item: Any, origins: Mapping[tuple[str, ...], str]) -> str:
    """Turn one pydantic error into a line: origin, dotted name, what is wrong, what to do."""
    place = tuple(str(part) for part in item["loc"])
    dotted, origin = _dotted(item["loc"]), _origin(place, origins)
    if item["type"] == "extra_forbidden":
        owner = _model_at(model, place[:-1])
        message = f"unknown setting{near_match(place[-1], list(owner.model_fields)) if owner else ''}"
    elif item["type"] == "missing":
        message = "this setting is needed and has no default"
    else:
        message = str(item["msg"]).removeprefix("Value error, ")
        message = message[:1].lower() + message[1:]
        value = item.get("input")
        if not isinstance(value, (Mapping, BaseModel)) and item["type"] != "value_error":
            message += f", but it is {value!r}"
        if item["type"] == "literal_error" and isinstance(value, str):
            message += near_match(
                value, [part.strip("'") for part in item["ctx"]["expected"].replace(" or ", ", ").split(", ")]
            )
    name = f"{dotted}: " if dotted else ""
    if origin.startswith("--set"):
        return f"{origin}: {'' if dotted and dotted in origin else name}{message}"
    return f"{origin}: {name}{message}" if origin else f"{name}{message}"


def _origin(place: tuple[str, ...], origins: Mapping[tuple[str, ...], str]) -> str:
    """Find where a value came from: its own place, or the last value set under it, or the nearest place above."""
    below = [origin for key, origin in origins.items() if key[: len(place)] == place and len(key) > len(place)]
    if place in origins and not below:
        return origins[place]
    if below:
        return next((origin for origin in reversed(below) if origin.startswith("--set")), below[-1])
    while place:
        place = place[:-1]
        if place in origins:
            return origins[place]
    return ""


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
