"""A word with its forms, each asked for by a format spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Word"]


@dataclass(frozen=True, eq=False)
class Word:
    """A word that is not declined by case: a verb, or an adjective with its comparison.

    Templates are plain Python format strings, so a form is asked for by its format spec. A form that the word lacks is a
    mistake in a template, and raises ``KeyError``.

    >>> f"{Word({'': 'go', 'past': 'went'}):past}"
    'went'
    """

    forms: Mapping[str, str]
    """Format spec -> form. The empty spec is the form in the dictionary."""

    def __format__(self, spec: str) -> str:
        return self.forms[spec]
