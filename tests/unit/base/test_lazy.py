"""Public names that are loaded when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from transduce.base.lazy import lazy_names

PACKAGES = ("transduce", "transduce.text", "transduce.tokenizer")


def test_a_name_comes_from_its_home() -> None:
    load = lazy_names("shapes", {"prod": "math", "Path": "pathlib"})
    assert load("prod")([2, 3, 4]) == 24


def test_an_unknown_name_is_an_attribute_error_that_names_the_package() -> None:
    with pytest.raises(AttributeError, match="module 'shapes' has no attribute 'area'"):
        lazy_names("shapes", {"prod": "math"})("area")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_lazy_package_is_there(package: str) -> None:
    module = importlib.import_module(package)
    missing = [name for name in module.__all__ if getattr(module, name, None) is None]
    assert not missing


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_lazy_package_loads_none_of_its_modules(package: str) -> None:
    code = f"import sys, {package}; print(*(name for name in sys.modules if name.startswith('{package}.')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) <= {"transduce.base", "transduce.base.lazy"}
