"""What is too long: counted while lines go by, and named in one warning at the end.

Sources that are longer than a model can read, and translations that are as long as they may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import final

from transduce.decoding.carry import Prepared
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.translation import Translation
from transduce.tokenizer.protocol import Tokenizer

__all__ = ["CutSources", "TranslationsAtLimit"]

_NAMED = 10
"""Lines that the warning names; the rest is counted."""


@final
class CutSources:
    """The lines of one input that were cut.

    Args:
        limit: Tokens that are read of a source.
        why: Where the limit comes from, in words.
        tokenizer: That of the target side.
    """

    def __init__(self, limit: int, why: str, tokenizer: Tokenizer) -> None:
        self.limit = limit
        self.why = why
        self._tokenizer = tokenizer
        self._lines = _Lines()

    def shorten(self, prepared: Prepared, number: int) -> Prepared:
        """Return a text that is short enough as it is, and one that is too long cut, which is counted.

        Args:
            prepared: The text.
            number: What the warning calls it.
        """
        query = prepared.query
        if len(query.src) <= self.limit:
            return prepared
        self._lines.add(number)
        # Attention tells nothing about what was not read, so tags are put where the order of the words has them.
        restoration = replace(prepared.restoration, src=())
        return Prepared(replace(query, src=query.src[: self.limit]), restoration)

    def warn(self) -> None:
        """Log the warning, if any line was cut."""
        if not self._lines.count:
            return
        from transduce.base.log import logger, plural  # here, since most inputs give no warning
        from transduce.tokenizer.trees import TreeTokenizer

        parses = isinstance(self._tokenizer, TreeTokenizer)
        logger.warning(
            "%s %s too long and only %s up to token %s (%s): %s; split long lines into sentences%s",
            plural(self._lines.count, "line"),
            "was" if self._lines.count == 1 else "were",
            "read" if parses else "translated",
            f"{self.limit:,}",
            self.why,
            self._lines,
            "" if parses else " (--document does, translate_document in Python)",
        )


@final
class TranslationsAtLimit:
    """The lines of one input with a translation that is as long as it may be.

    Args:
        settings: They have the limits.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        optional = {
            "decode.max_tokens": settings.max_tokens,
            "decode.max_length_ratio": settings.max_length_ratio,
        }
        self._limits = ["decode.max_extra_tokens", *(name for name, value in optional.items() if value is not None)]
        self._lines = _Lines()

    def look_at(self, translations: Iterable[Translation], number: int) -> None:
        """Count a line if one of its translations is as long as it may be.

        Args:
            translations: Those that are shown.
            number: What the warning calls the line.
        """
        if any(translation.at_limit for translation in translations):
            self._lines.add(number)

    def warn(self) -> None:
        """Log the warning, if there is any such line."""
        if not self._lines.count:
            return
        from transduce.base.log import logger, plural  # here, since most inputs give no warning

        logger.warning(
            "the translations of %s have as many tokens as the limit allows, so their ends may be missing: %s; raise %s",
            plural(self._lines.count, "line"),
            self._lines,
            " or ".join(self._limits),
        )


@final
class _Lines:
    """Numbers of lines: all are counted, and the first few named."""

    def __init__(self) -> None:
        self.count = 0
        self._named: list[int] = []

    def add(self, number: int) -> None:
        self.count += 1
        if len(self._named) < _NAMED:
            self._named.append(number)

    def __str__(self) -> str:
        rest = self.count - len(self._named)
        named = ", ".join(str(number) for number in self._named)
        return f"{'line' if self.count == 1 else 'lines'} {named}{f' and {rest:,} more' if rest else ''}"
