"""Optional packages: imported where they are used, and asked for by name when they are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from transduce.base.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Args:
        module: The module's import name, such as ``"lxml.etree"``.
        extra: The extra of this package that installs it, such as ``"formats"``.
        purpose: What needs it, as the start of a sentence: ``"Reading TMX files"``.

    Raises:
        MissingExtraError: The package is not installed.

    >>> require("json", extra="formats", purpose="Reading JSONL").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not module.startswith(error.name):
            raise  # the package is there but one of its own dependencies is not: that is another fault
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs the package '{package}', which is not installed: pip install 'transduce[{extra}]'"
        ) from None
