"""A score is a value with a signature: everything that would change it, in one string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transduce.base.errors import DataError

__all__ = ["Interval", "Score", "check_counts"]


@dataclass(frozen=True)
class Interval:
    """Where a figure lies, with 95 percent confidence.

    >>> str(Interval(40.107, 41.994))
    '[40.11, 41.99]'
    """

    low: float
    """Lower end."""
    high: float
    """Upper end."""

    def __str__(self) -> str:
        """Format with two digits."""
        return f"[{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Score:
    """One figure and how it came about."""

    name: str
    """Such as ``BLEU``."""
    value: float
    """In the metric's own unit: 0 to 100 for BLEU and chrF."""
    signature: str
    """sacreBLEU's signature: references, case, tokenizer, smoothing, version."""
    interval: Interval | None = None
    """Where it was asked for: the 95 % confidence interval over test sets like this one."""

    def __str__(self) -> str:
        """Format as ``BLEU 41.02 (signature)``, with the interval, where there is one, behind the value."""
        return f"{self.name} {self.format_value()} ({self.signature})"

    def format_value(self) -> str:
        """Format the value with two digits, and the interval where there is one.

        >>> Score("BLEU", 41.016, "tok:13a", Interval(40.1, 42.0)).format_value()
        '41.02 [40.10, 42.00]'
        """
        return f"{self.value:.2f}" if self.interval is None else f"{self.value:.2f} {self.interval}"


def check_counts(hypotheses: Sequence[str], *references: Sequence[str], names: Sequence[str] = ()) -> None:
    """Make sure that line i of the one belongs to line i of the other.

    Args:
        hypotheses: Translations, or other lines to go with references.
        references: One or more sets of them.
        names: Of the files, if they are from files: the hypotheses, then each set of references.

    Raises:
        DataError: The counts differ, there is nothing to score or to score against, or a reference is empty (nearly
            always a sign of misaligned files; the message has the line).
    """
    if not references:
        raise DataError("there is nothing to score against: give one or more sets of references")
    for number, lines in enumerate(references, start=1):
        of_set = "" if len(references) == 1 else f" in set {number} of {len(references)}"
        both = f" ({names[0]} and {names[number]})" if names else ""
        if len(hypotheses) != len(lines):
            raise DataError(
                f"{len(hypotheses):,} hypotheses and {len(lines):,} references{of_set}{both}: they are scored line by line "
                "and must be as many; look for a missing or an extra line"
            )
        if not hypotheses:
            raise DataError(f"there is nothing to score: 0 hypotheses and 0 references{both}")
        for line, reference in enumerate(lines, start=1):
            if not reference.strip():
                file = f" ({names[number]})" if names else ""
                raise DataError(
                    f"reference {line} of {len(lines):,}{of_set} is empty{file}; every line needs one, "
                    "so look for a shifted file"
                )
