"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["closest", "near_match"]


def near_match(name: str, choices: Sequence[str]) -> str:
    """Return ``; did you mean 'x'?`` for the closest choice, or nothing when none is close.

    >>> near_match("d_modle", ["d_model", "d_ff"])
    "; did you mean 'd_model'?"
    >>> near_match("zzz", ["d_model"])
    ''
    """
    close = closest(name, choices)
    return f"; did you mean '{close}'?" if close is not None else ""


def closest(name: str, choices: Sequence[str]) -> str | None:
    """Return the closest choice; None when none is close."""
    import difflib  # here, since there is no mistake as a rule

    return next(iter(difflib.get_close_matches(name, choices, n=1, cutoff=0.6)), None)
