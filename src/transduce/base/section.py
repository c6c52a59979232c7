"""A section of settings, and the walk over what it holds."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
import types
from collections.abc import Iterator, Sequence
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, field_validator

__all__ = ["Settings", "is_optional", "iter_fields", "section_at", "section_of", "setting_texts"]


class Settings(BaseModel):
    """The base of every settings section: frozen, strict about kinds of values, and no unknown names."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
        defer_build=True,  # most commands need few of the sections, and building one takes milliseconds
    )

    @field_validator("*")
    @classmethod
    def _check_int64(cls, value: Any) -> Any:
        """Refuse whole numbers that arrays, seeds and counters cannot hold, before one of them overflows."""
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ValueError("input should be a whole number below 2**63")
        return value


def iter_fields(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting as its dotted name and its pydantic field, sections opened."""
    for name, field in model.model_fields.items():
        inner = section_of(field)
        if inner is not None:
            yield from iter_fields(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def setting_texts(model: type[Settings], prefix: str = "") -> dict[str, str]:
    """Return the docstring under each setting by its dotted name, sections opened. Read from the source when asked for."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    own = {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(definition.body if isinstance(definition, ast.ClassDef) else ())
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
    texts: dict[str, str] = {}
    for name, field in model.model_fields.items():
        inner = section_of(field)
        if inner is not None:
            texts |= setting_texts(inner, f"{prefix}{name}.")
        elif name in own:
            texts[f"{prefix}{name}"] = own[name]
    return texts


def is_optional(field: Any) -> bool:
    """Tell whether a setting, as :func:`iter_fields` yields it, may be left without a value: set to ``none``."""
    return type(None) in get_args(field.annotation)


def section_of(field: Any) -> type[Settings] | None:
    """Return the section that a field of a section holds; None when it holds a plain value."""
    annotation = field.annotation
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next((part for part in parts if isinstance(part, type) and issubclass(part, Settings)), None)


def section_at(model: type[Settings], place: Sequence[str]) -> type[Settings] | None:
    """Return the section that stands at a place of the tree, such as ``("train",)``; None when there is none."""
    current: type[Settings] | None = model
    for name in place:
        field = current.model_fields.get(name) if current is not None else None
        current = section_of(field) if field is not None else None
    return current
