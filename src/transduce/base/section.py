"""A section of settings, and the walk over what it holds."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import (
    Any,
    NamedTuple,
    NoReturn,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from transduce.base.errors import SettingsError
from transduce.base.plain import Mistake, Spot, as_plain, read_value, wrong_value

__all__ = [
    "SectionCheck",
    "SettingField",
    "Settings",
    "is_optional",
    "iter_fields",
    "read_section",
    "section_at",
    "section_of",
    "setting",
    "setting_fields",
    "setting_texts",
]

Default = TypeVar("Default")
Check = Callable[[Any], None]

_BOUNDS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "ge": (operator.ge, "greater than or equal to"),
    "gt": (operator.gt, "greater than"),
    "le": (operator.le, "less than or equal to"),
    "lt": (operator.lt, "less than"),
}


class SectionCheck:
    """Marks a method that checks the section as a whole, once each value is right by itself. It raises ValueError."""

    def __init__(self, method: Check) -> None:
        self.method = method


def setting(
    default: Default,
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    check: Check | None = None,
) -> Default:
    """Describe a setting in the body of a section, where the default alone does not.

    Args:
        default: Its default.
        ge: The least value.
        gt: A value that it must be more than.
        le: The greatest value.
        lt: A value that it must be less than.
        check: Raises ValueError for a wrong value. It is asked before anything else.
    """
    bounds = {"ge": ge, "gt": gt, "le": le, "lt": lt}
    limits = {name: bound for name, bound in bounds.items() if bound is not None}
    described: Any = SettingField(None, default, limits, check)
    return cast(Default, described)  # so that type checkers see the default


class SettingField(NamedTuple):
    """What is known of a setting."""

    annotation: Any
    """Its kind."""
    default: Any
    """What it is where it is not given."""
    limits: Mapping[str, float]
    """Its bounds, by the names that :func:`setting` has for them."""
    check: Check | None
    """What looks at its values first."""

    def read(self, value: Any, place: Spot, found: list[Mistake]) -> Any:
        """Return a value as this setting holds it; what is wrong goes into ``found``."""
        section = section_of(self)
        if section is not None:
            return read_section(section, value, place, found)
        try:
            if self.check is not None:
                self.check(value)
        except ValueError as error:
            found.append(Mistake(place, str(error)))
            return value
        mistakes: list[Mistake] = []
        typed = read_value(self.annotation, value, place, mistakes)
        if not mistakes and isinstance(typed, int | float):
            mistakes += self._out_of_range(typed, value, place)
        found += mistakes
        return typed

    def _out_of_range(self, number: float, given: Any, place: Spot) -> Iterator[Mistake]:
        if isinstance(number, float) and not math.isfinite(number):
            yield wrong_value(place, "input should be a finite number", given)
            return
        for name, bound in self.limits.items():
            holds, words = _BOUNDS[name]
            if not holds(number, bound):
                yield wrong_value(place, f"input should be {words} {bound}", given)
                return
        # Arrays, seeds and counters cannot hold more: it is refused before one of them overflows.
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            yield Mistake(place, "input should be a whole number below 2**63")


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Settings:
    """The base of every settings section: frozen, strict about kinds of values, and no unknown names.

    The body of a section gives each setting its kind and its default, as that of a dataclass does. It is none, since what is
    given is looked at before it is taken.

    Raises:
        SettingsError: A name is unknown, a value is wrong, or the values do not go together.
    """

    def __init__(self, /, **values: Any) -> None:
        fields, checks = _describe(cast(Any, type(self)))
        found: list[Mistake] = []
        for name, field in fields.items():
            vars(self)[name] = field.read(values.get(name, field.default), (name,), found)
        found += [Mistake((name,), "unknown setting", "unknown") for name in values if name not in fields]
        try:
            for check in () if found else checks:
                check(self)
        except ValueError as error:
            found.append(Mistake((), str(error), "check"))
        if found:
            lines = [f"{each.dotted}: {each.text}" if each.place else each.text for each in found]
            raise SettingsError("; ".join(lines), found)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return settings of plain values, as :meth:`as_dict` gives them.

        Raises:
            SettingsError: As for the class.
        """
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them: sections as dicts, lists for tuples, text for paths."""
        return {
            name: value.as_dict() if isinstance(value, Settings) else as_plain(value)
            for name, value in vars(self).items()
        }

    def replace(self, /, **changes: Any) -> Self:
        """Return the same settings with some of them changed. They are not checked again: whoever changes them knows them."""
        other = object.__new__(type(self))
        vars(other).update({**vars(self), **changes})
        return other

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: settings cannot be changed; make others with replace()")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def setting_fields(model: type[Settings]) -> Mapping[str, SettingField]:
    """Return what is known of each setting of a section, by its name."""
    return _describe(cast(Any, model))[0]  # mypy takes no class for hashable


@cache
def _describe(model: type) -> tuple[Mapping[str, SettingField], Sequence[Check]]:
    """Return the settings of a section, and its checks."""
    fields = {}
    for name, kind in get_type_hints(model).items():
        default = vars(model)[name]
        field = default if isinstance(default, SettingField) else SettingField(None, default, {}, None)
        fields[name] = field._replace(annotation=kind)
    return fields, [check.method for check in vars(model).values() if isinstance(check, SectionCheck)]


def read_section(model: type[Settings], value: Any, place: Spot, found: list[Mistake]) -> Any:
    """Return a tree of values as a section.

    Args:
        model: The section.
        value: The tree, or the section itself. What is no section comes back as it is.
        place: Where it stands.
        found: Takes what is wrong.
    """
    if isinstance(value, model):
        return value
    if not isinstance(value, Mapping):
        found.append(Mistake(place, "this is a section", "section"))
        return value
    try:
        return model(**value)
    except SettingsError as error:
        found += [each.below(place) for each in error.mistakes]
        return value


def iter_fields(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, SettingField]]:
    """Yield every setting as its dotted name and what is known of it, sections opened."""
    for name, field in setting_fields(model).items():
        inner = section_of(field)
        if inner is not None:
            yield from iter_fields(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def setting_texts(model: type[Settings], prefix: str = "") -> dict[str, str]:
    """Return the docstring under each setting by its dotted name, sections opened. Read from the source when asked for."""
    import ast  # these here, since a translator explains nothing
    import inspect
    import itertools
    import textwrap

    [definition] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    own = {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(definition.body if isinstance(definition, ast.ClassDef) else ())
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
    texts: dict[str, str] = {}
    for name, field in setting_fields(model).items():
        inner = section_of(field)
        if inner is not None:
            texts |= setting_texts(inner, f"{prefix}{name}.")
        elif name in own:
            texts[f"{prefix}{name}"] = own[name]
    return texts


def is_optional(field: SettingField) -> bool:
    """Tell whether a setting, as :func:`iter_fields` yields it, may be left without a value: set to ``none``."""
    return type(None) in get_args(field.annotation)


def section_of(field: SettingField) -> type[Settings] | None:
    """Return the section that a field of a section holds; None when it holds a plain value."""
    annotation = field.annotation
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next((part for part in parts if isinstance(part, type) and issubclass(part, Settings)), None)


def section_at(model: type[Settings], place: Sequence[str]) -> type[Settings] | None:
    """Return the section that stands at a place of the tree, such as ``("train",)``; None when there is none."""
    current: type[Settings] | None = model
    for name in place:
        field = setting_fields(current).get(name) if current is not None else None
        current = section_of(field) if field is not None else None
    return current
