"""Settings: all mistakes at once, each with its origin and a near match; the later source wins; TOML round trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, ValidationError, model_validator

from transduce.base.errors import SettingsError
from transduce.base.settings import Settings, SettingsSource, dump_toml, iter_fields, parse_override, read_toml, resolve


class Inner(Settings):
    width: int = Field(default=8, ge=1)
    """Width."""
    heads: int = 2
    """Heads."""
    kind: str | None = None
    """Kind."""

    @model_validator(mode="after")
    def _check(self) -> Inner:
        if self.width % self.heads:
            raise ValueError(f"heads ({self.heads}) must divide width ({self.width})")
        return self


class Outer(Settings):
    inner: Inner = Field(default_factory=Inner)
    """The inner section."""
    names: tuple[str, ...] = ()
    """Names."""


def settings_from(*sources: SettingsSource) -> Outer:
    return resolve(Outer, sources)


def test_the_later_source_wins_and_the_rest_stays() -> None:
    first = SettingsSource("recipe", {"inner": {"width": 12, "heads": 3}})
    assert settings_from(first, parse_override("inner.width=6")).inner == Inner(width=6, heads=3)


def test_every_mistake_is_listed_with_origin_and_near_match() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from(
            SettingsSource("my.toml", {"inner": {"widht": 4}, "nmaes": ["x"]}),
            parse_override("inner.heads=3"),
        )
    assert str(caught.value) == "\n".join(
        [
            "3 settings are wrong",
            "  my.toml: inner.widht: unknown setting; did you mean 'width'?",
            "  my.toml: nmaes: unknown setting; did you mean 'names'?",
            "  --set inner.heads=3: heads (3) must divide width (8)",
        ]
    )


def test_one_mistake_is_said_in_the_singular_with_the_value() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from(parse_override("inner.width=0"))
    assert str(caught.value) == (
        "1 setting is wrong\n  --set inner.width=0: input should be greater than or equal to 1, but it is 0"
    )


@pytest.mark.parametrize("value", ["inner=3", "inner.width=x", "names=3", "names=[1]"])
def test_values_of_the_wrong_kind_are_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="1 setting is wrong"):
        settings_from(parse_override(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b=3", {"a": {"b": 3}}),
        ("a.b=0.5", {"a": {"b": 0.5}}),
        ("a.b=true", {"a": {"b": True}}),
        ('a.b="3"', {"a": {"b": "3"}}),
        ("a.b=no", {"a": {"b": "no"}}),
        ("a.b=data/train.en", {"a": {"b": "data/train.en"}}),
        ('a.b=["x", "y"]', {"a": {"b": ["x", "y"]}}),
        ("a.b=x=y", {"a": {"b": "x=y"}}),
        ("a.b=", {"a": {"b": ""}}),
    ],
)
def test_overrides_are_toml_or_else_text(text: str, expected: dict[str, Any]) -> None:
    assert parse_override(text).values == expected


@pytest.mark.parametrize("text", ["train.seed", "=3", "train.=3", ""])
def test_an_override_without_a_name_or_value_is_explained(text: str) -> None:
    with pytest.raises(SettingsError, match=r"section\.name=value"):
        parse_override(text)


def test_toml_round_trip(tmp_path: Path) -> None:
    settings = Outer(inner=Inner(width=6, heads=3), names=("ä", 'quote"', "back\\slash"))
    file = tmp_path / "s.toml"
    file.write_text(dump_toml(settings), encoding="utf-8")
    assert settings_from(read_toml(file)) == settings


def test_files_that_are_missing_or_not_toml_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"gone\.toml: no such settings file"):
        read_toml(tmp_path / "gone.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[inner\nwidth = 3", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"broken\.toml: not valid TOML: .*line 1"):
        read_toml(broken)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Outer().names = ("x",)  # type: ignore[misc]


def test_every_setting_is_listed_once() -> None:
    assert [name for name, _ in iter_fields(Outer)] == ["inner.width", "inner.heads", "inner.kind", "names"]
