"""Where the tests find the data that lies beside the checkout. It is never part of the project; without it tests skip."""

from __future__ import annotations

from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def data_file(name: str) -> Path:
    """Return a file of ``shared/data``, such as ``multi30k/train.en.gz``, or skip the test."""
    return _find(_SHARED / "data" / name)


def case_file(name: str) -> Path:
    """Return a file of ``shared/cases/inputs``, such as ``B001.src``, or skip the test."""
    return _find(_SHARED / "cases" / "inputs" / name)


def paper_file(name: str) -> Path:
    """Return a file of ``shared/paper``, such as ``table3.csv``, or skip the test."""
    return _find(_SHARED / "paper" / name)


def _find(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.relative_to(_SHARED.parent)} is not beside this checkout")
    return path
