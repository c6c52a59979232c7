"""Settings: typed, frozen, strict. Three sources, the later wins: recipe, the user's TOML, ``--set section.name=value``.

Every mistake is found in one pass and shown with the source of the value and a near match. A section is one frozen
value beside the code that owns it; the docstring under each field is its help text.

A value must be of the kind of its setting: ``"77"`` is no number, and ``"yes"`` is not true. What may be written for short:
a whole number for a number, one text for a list of texts, and ``none`` (or nothing at all) for an optional setting that is
not to be given, whatever an earlier source says.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_origin

from transduce.base.errors import SettingsError
from transduce.base.near import near_match
from transduce.base.plain import Mistake, as_plain
from transduce.base.section import (
    SectionCheck,
    SettingField,
    Settings,
    is_optional,
    iter_fields,
    read_section,
    section_of,
    setting,
    setting_fields,
    setting_texts,
)

if TYPE_CHECKING:
    from transduce.base.mistakes import Origins, Place

__all__ = [
    "SectionCheck",
    "SettingField",
    "Settings",
    "SettingsSource",
    "dump_toml",
    "is_optional",
    "iter_fields",
    "near_match",
    "parse_override",
    "read_toml",
    "resolve",
    "section_of",
    "setting",
    "setting_fields",
    "setting_texts",
]

Section = TypeVar("Section", bound=Settings)
_NONE = "none"


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
    origins: Origins = {}
    for source in sources:
        _check_text(source)
        _merge(merged, source.values, source.origin, (), origins)
    _read_short_forms(model, merged)
    # What only TOML and Python have, such as dates and paths, becomes text.
    merged = json.loads(json.dumps(merged, default=str))
    found: list[Mistake] = []
    checked = read_section(model, merged, (), found)
    if not found:
        return cast(Section, checked)
    from transduce.base.mistakes import explain_mistakes  # here, since there is no mistake as a rule

    lines = explain_mistakes(model, merged, origins)
    head = "1 setting is wrong" if len(lines) == 1 else f"{len(lines)} settings are wrong"
    raise SettingsError("\n".join([head, *(f"  {line}" for line in lines)]))


def dump_toml(settings: Settings) -> str:
    """Write settings as TOML that :func:`resolve` reads back to the same value. What is not given is left out."""
    import tomli_w  # here, since a translator only reads

    return tomli_w.dumps(_as_toml(settings))


def _as_toml(settings: Settings) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in setting_fields(type(settings)).items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            values[name] = _as_toml(value)
        elif value is not None:
            values[name] = as_plain(value)
        elif field.default is not None:
            values[name] = _NONE  # left out, it would come back as the default
    return values


def _check_text(source: SettingsSource) -> None:
    """Refuse file names that are not UTF-8, which only a command line can hold: no settings file could keep them."""
    try:
        json.dumps(source.values, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        raise SettingsError(f"{source.origin}: the value is not UTF-8 text; rename the file") from None


def _merge(into: dict[str, Any], values: Mapping[str, Any], origin: str, path: Place, origins: Origins) -> None:
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
    for name, field in setting_fields(model).items():
        value, inner = values.get(name), section_of(field)
        if inner is not None and isinstance(value, dict):
            _read_short_forms(inner, value)
        elif isinstance(value, str):
            if is_optional(field) and value.strip().lower() in ("", _NONE):
                values[name] = None
            elif get_origin(field.annotation) is tuple:
                values[name] = [value] if value.strip() else []
