"""Settings: all mistakes at once, each with its origin and a near match; the later source wins; TOML round trip."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from transduce.base.errors import SettingsError
from transduce.base.settings import (
    SectionCheck,
    Settings,
    SettingsSource,
    dump_toml,
    iter_fields,
    parse_override,
    read_toml,
    resolve,
    setting,
)


class Inner(Settings):
    width: int = setting(8, ge=1)
    """Width."""
    heads: int = 2
    """Heads."""
    kind: str | None = None
    """Kind."""
    share: float | None = setting(0.5, ge=0)
    """Share."""
    is_on: bool = True
    """Switch."""
    file: Path | None = None
    """File."""
    mode: Literal["none", "all"] = "all"
    """Mode."""

    @SectionCheck
    def _check(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"heads ({self.heads}) must divide width ({self.width})")


class Outer(Settings):
    inner: Inner = Inner()
    """The inner section."""
    names: tuple[str, ...] = ()
    """Names."""

    @SectionCheck
    def _check(self) -> None:
        if self.inner.width > 100 and self.inner.mode == "none":
            raise ValueError("inner.mode = 'none' needs inner.width of at most 100")


def settings_from(*sources: SettingsSource) -> Outer:
    return resolve(Outer, sources)


def test_the_later_source_wins_and_the_rest_stays() -> None:
    first = SettingsSource("recipe", {"inner": {"width": 12, "heads": 3}})
    assert settings_from(first, parse_override("inner.width=6")).inner == Inner(width=6, heads=3)


def test_every_mistake_is_listed_with_origin_and_near_match() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from(
            SettingsSource("my.toml", {"inner": {"knid": "a"}, "nmaes": ["x"]}),
            parse_override("inner.heads=3"),
        )
    assert str(caught.value) == "\n".join(
        [
            "3 settings are wrong",
            "  my.toml: inner.knid: unknown setting; did you mean 'kind'?",
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


def mistakes(*sources: SettingsSource) -> Sequence[str]:
    """Return the lines of the message without the first one."""
    with pytest.raises(SettingsError) as caught:
        settings_from(*sources)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("inner=3", "this is a section: write inner.NAME = value"),
        ("inner.width=x", "input should be a whole number, but it is 'x'"),
        ("inner.width='77'", "input should be a whole number, but it is '77'"),
        ("inner.width=true", "input should be a whole number, but it is true"),
        ("inner.width=1.5", "input should be a whole number, but it is 1.5"),
        ("inner.width=1e2", "input should be a whole number, but it is 100.0; write 100"),
        ("inner.width=none", "input should be a whole number, but it is 'none'"),
        ("inner.width.x=3", "input should be a whole number"),
        (f"inner.width={1 << 63}", "input should be a whole number below 2**63"),
        ("inner.share='0.5'", "input should be a number, but it is '0.5'"),
        ("inner.share=true", "input should be a number, but it is true"),
        ("inner.share=inf", "input should be a finite number, but it is inf"),
        ("inner.is_on=yes", "input should be true or false, but it is 'yes'"),
        ("inner.is_on=1", "input should be true or false, but it is 1"),
        ("inner.file=3", "input should be text, but it is 3"),
        ("inner.mode=alll", "input should be 'none' or 'all', but it is 'alll'; did you mean 'all'?"),
        ("names=3", "input should be a list, but it is 3"),
        ("names=[1]", "names[0]: input should be text, but it is 1"),
        ("inenr.width=3", "unknown setting; did you mean 'inner'?"),
        ("inner.self=3", "unknown setting"),
    ],
)
def test_values_of_the_wrong_kind_are_refused_in_plain_words(value: str, message: str) -> None:
    assert mistakes(parse_override(value)) == [f"--set {value}: {message}"]


def test_sections_made_in_python_are_strict_too() -> None:
    with pytest.raises(SettingsError):
        Inner(width="77")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("inner.share=2", Outer(inner=Inner(share=2.0))),
        ("inner.file=a/b", Outer(inner=Inner(file=Path("a/b")))),
        ("inner.mode=none", Outer(inner=Inner(mode="none"))),
        ("names=my.en", Outer(names=("my.en",))),
        ("names=['a', 'b']", Outer(names=("a", "b"))),
        ("names=", Outer(names=())),
    ],
)
def test_short_forms_mean_what_they_seem_to(value: str, expected: Outer) -> None:
    assert settings_from(SettingsSource("my.toml", {"names": []}), parse_override(value)) == expected


@pytest.mark.parametrize("word", ["", "none", "None", ' "none" '])
@pytest.mark.parametrize("name", ["kind", "share", "file"])
def test_none_unsets_an_optional_setting_for_good(name: str, word: str, tmp_path: Path) -> None:
    first = SettingsSource("my.toml", {"inner": {"kind": "a", "share": 2.5, "file": "b"}})
    settings = settings_from(first, parse_override(f"inner.{name}={word}"))
    assert getattr(settings.inner, name) is None
    file = tmp_path / "s.toml"
    file.write_text(dump_toml(settings), encoding="utf-8")
    assert settings_from(read_toml(file)) == settings


def test_none_can_be_written_in_toml(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[inner]\nshare = "none"\n', encoding="utf-8")
    assert settings_from(read_toml(file)).inner.share is None


WIDE = SettingsSource("my.toml", {"inner": {"width": 8, "heads": 2}})


@pytest.mark.parametrize("values", [["heads=3", "is_on=false"], ["is_on=false", "heads=3"]])
def test_a_sections_check_is_blamed_on_a_setting_that_it_names(values: list[str]) -> None:
    [line] = mistakes(WIDE, *(parse_override(f"inner.{value}") for value in values))
    assert line == "--set inner.heads=3: heads (3) must divide width (8)"


def test_of_several_settings_that_a_check_names_the_last_one_set_is_blamed() -> None:
    assert mistakes(WIDE, parse_override("inner.heads=3"), parse_override("inner.width=7")) == [
        "--set inner.width=7: heads (3) must divide width (7)"
    ]
    assert mistakes(
        SettingsSource("my.toml", {"inner": {"width": 7}, "names": ["x"]}), parse_override("inner.is_on=false")
    ) == ["my.toml: inner: heads (2) must divide width (7)"]


def test_a_check_over_sections_is_blamed_on_a_setting_that_it_names() -> None:
    first = SettingsSource("my.toml", {"inner": {"width": 200}})
    assert mistakes(first, parse_override("inner.mode=none"), parse_override("names=x")) == [
        "--set inner.mode=none: inner.mode = 'none' needs inner.width of at most 100"
    ]


@pytest.mark.parametrize("wrong", [{"heads": "x"}, {"haeds": 3}])
def test_a_check_that_rests_on_a_wrong_value_is_not_reported(wrong: dict[str, Any]) -> None:
    """With width 9 the default of heads fails, but it is not what was asked for."""
    [line] = mistakes(SettingsSource("my.toml", {"inner": {"width": 9, **wrong}}))
    assert next(iter(wrong)) in line


def test_a_check_that_rests_on_right_values_is_reported_beside_a_wrong_one() -> None:
    lines = mistakes(SettingsSource("my.toml", {"inner": {"width": 9, "heads": 2, "mode": "al"}}))
    assert lines == [
        "my.toml: inner.mode: input should be 'none' or 'all', but it is 'al'; did you mean 'all'?",
        "my.toml: inner: heads (2) must divide width (9)",
    ]


def test_file_names_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(SettingsError, match="not UTF-8 text; rename the file"):
        settings_from(parse_override("names=my\udcff.en"))


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


def test_plain_values_come_back_as_the_same_settings() -> None:
    settings = Outer(inner=Inner(share=2, file=Path("a/b"), kind=None), names=("x",))
    values = settings.as_dict()
    assert values["inner"]["file"] == "a/b" and values["names"] == ["x"] and type(values["inner"]["share"]) is float
    assert Outer.from_dict(values) == settings
    with pytest.raises(SettingsError, match=r"^inner: heads \(3\) must divide width \(8\)$"):
        Outer.from_dict({"inner": {"heads": 3}})


def test_settings_are_values() -> None:
    first, second = Outer(names=("x",)), Outer(names=("y",))
    assert first == second.replace(names=("x",)) != second
    assert len({first, second, Outer(names=("x",))}) == 2
    assert pickle.loads(pickle.dumps(first)) == first
    assert repr(Inner(width=4)).startswith("Inner(width=4, heads=2, ")


def test_what_is_replaced_is_not_checked_again() -> None:
    assert Inner().replace(heads=3).heads == 3


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Outer().names = ("x",)  # type: ignore[misc]


def test_every_setting_is_listed_once() -> None:
    assert [name for name, _ in iter_fields(Outer)] == [
        *(f"inner.{name}" for name in ("width", "heads", "kind", "share", "is_on", "file", "mode")),
        "names",
    ]
