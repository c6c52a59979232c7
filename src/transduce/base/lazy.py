"""Packages whose public names are loaded when they are first used, so that a program starts with no more than it needs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: Its full name.
        homes: For each public name the full name of the module that has it.

    >>> load = lazy_names("shapes", {"prod": "math"})
    >>> load("prod")([2, 3])
    6
    >>> load("sum")
    Traceback (most recent call last):
    AttributeError: module 'shapes' has no attribute 'sum'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(homes[name]), name)

    return load
