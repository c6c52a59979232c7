"""The one logger. Messages go to stderr; stdout belongs to the data."""

from __future__ import annotations

import logging

__all__ = ["logger", "plural"]

logger = logging.getLogger("transduce")
"""The only global state of the package. Silent until the command line (or the user) attaches a handler."""
logger.addHandler(logging.NullHandler())


def plural(count: int, noun: str) -> str:
    """Write a count with its noun in the right number.

    >>> plural(1, "pair"), plural(29000, "pair"), plural(2, "match")
    ('1 pair', '29,000 pairs', '2 matches')
    """
    if count == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{count:,} {noun}{ending}"
