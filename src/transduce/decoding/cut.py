"""Sources that are longer than a model can read: counted while lines go by, and named in one warning at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from transduce.base.log import logger, plural
from transduce.decoding.carry import Prepared

__all__ = ["CutSources"]

_NAMED = 10
"""Lines that the warning names; the rest is counted."""


@final
class CutSources:
    """The lines of one input that were cut.

    Args:
        limit: Tokens that are read of a source.
        why: Where the limit comes from, in words.
    """

    def __init__(self, limit: int, why: str) -> None:
        self.limit = limit
        self.why = why
        self._n_cut = 0
        self._named: list[int] = []

    def shorten(self, prepared: Prepared, number: int) -> Prepared:
        """Return a text that is short enough as it is, and one that is too long cut, which is counted.

        Args:
            prepared: The text.
            number: What the warning calls it.
        """
        query = prepared.query
        if len(query.src) <= self.limit:
            return prepared
        self._n_cut += 1
        if len(self._named) < _NAMED:
            self._named.append(number)
        # Attention tells nothing about what was not read, so tags are put where the order of the words has them.
        restoration = replace(prepared.restoration, src=())
        return Prepared(replace(query, src=query.src[: self.limit]), restoration)

    def warn(self) -> None:
        """Log the warning, if any line was cut."""
        if not self._n_cut:
            return
        rest = self._n_cut - len(self._named)
        logger.warning(
            "%s too long and only translated up to token %s (%s): %s %s%s; split long lines into sentences "
            "(--document does, translate_document in Python)",
            "1 line was" if self._n_cut == 1 else f"{plural(self._n_cut, 'line')} were",
            f"{self.limit:,}",
            self.why,
            "line" if self._n_cut == 1 else "lines",
            ", ".join(str(number) for number in self._named),
            f" and {rest:,} more" if rest else "",
        )
