"""Typed values from plain ones: kinds are strict, mistakes are named by their place, and what is written is read back."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from transduce.base.plain import PlainError, as_plain, from_plain


@dataclass(frozen=True)
class Part:
    name: str
    share: float | None = None
    seen: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Whole:
    format: Literal[1]
    parts: tuple[Part, ...]
    plan: dict[str, int | str] = field(default_factory=dict)
    file: Path | None = None


def test_what_is_written_is_read_back() -> None:
    whole = Whole(1, (Part("a", 0.1 + 0.2, Counter(x=2, y=1)), Part("b")), {"n": 3, "kind": "k"}, Path("a/b"))
    assert from_plain(Whole, json.loads(json.dumps(as_plain(whole)))) == whole


def test_a_whole_number_is_taken_for_a_number_and_becomes_one() -> None:
    assert type(from_plain(Part, {"name": "a", "share": 1}).share) is float
    assert math.isnan(from_plain(Part, {"name": "a", "share": math.nan}).share or 0.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "input should be an object, but it is []"),
        ({"parts": []}, "format: Field required"),
        ({"format": 2, "parts": []}, "format: input should be 1, but it is 2"),
        ({"format": True, "parts": []}, "format: input should be 1, but it is true"),
        ({"format": 1, "parts": {}}, "parts: input should be a list"),
        ({"format": 1, "parts": [{"name": 1}]}, "parts[0].name: input should be text, but it is 1"),
        (
            {"format": 1, "parts": [{"name": "a", "share": "1"}]},
            "parts[0].share: input should be a number, but it is '1'",
        ),
        (
            {"format": 1, "parts": [{"name": "a", "seen": {"x": 1.5}}]},
            "parts[0].seen.x: input should be a whole number",
        ),
        ({"format": 1, "parts": [], "plan": {"n": None}}, "plan.n: input should be text, but it is None"),
        ({"format": 1, "parts": [], "more": 1}, "more: Extra inputs are not permitted"),
    ],
)
def test_a_mistake_is_named_by_its_place(values: Any, message: str) -> None:
    with pytest.raises(PlainError) as caught:
        from_plain(Whole, values)
    assert str(caught.value).startswith(message)
