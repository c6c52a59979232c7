"""Reports for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from transduce.cli.report import print_json


def test_what_json_has_no_number_for_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"a": math.inf, "b": [1.5, math.nan], "c": ({"d": -math.inf},), "e": Path("f"), "g": None, "h": True}
    print_json(values)
    text = capsys.readouterr().out
    assert "Infinity" not in text and "NaN" not in text
    assert json.loads(text) == {"a": None, "b": [1.5, None], "c": [{"d": None}], "e": "f", "g": None, "h": True}
