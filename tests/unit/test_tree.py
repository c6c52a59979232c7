"""The file map of the README, the layers and the tree are one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "transduce"


def packages() -> set[str]:
    return {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_every_folder_stands_in_the_readme_and_exists() -> None:
    mapped = re.findall(r"^\| `([^`]+)`", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {Path(name).name for name in mapped if name.startswith("src/transduce/")} == packages() | {"recipes"}
    for name in mapped:
        assert (ROOT / name).exists(), name


def test_every_folder_has_a_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert {name for layer in layers for name in layer.split(" | ")} == packages()


def test_every_file_named_in_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_]+(?:/[a-z0-9_]+)*/[a-z0-9_]+\.(?:py|sh|md))`", text):
        assert (ROOT / name).exists() or (PACKAGE / name).exists(), name


def test_no_file_has_a_name_without_meaning() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert path.stem not in {"utils", "util", "helpers", "common", "misc"}, path
