"""A score is a value with a signature: everything that would change it, in one string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transduce.base.errors import DataError

__all__ = ["Score", "check_counts"]


@dataclass(frozen=True)
class Score:
    """One figure and how it came about."""

    name: str
    """Such as ``BLEU``."""
    value: float
    """In the metric's own unit: 0 to 100 for BLEU and chrF."""
    signature: str
    """sacreBLEU's signature: references, case, tokenizer, smoothing, version."""

    def __str__(self) -> str:
        """Format as ``BLEU 41.02 (signature)``."""
        return f"{self.name} {self.value:.2f} ({self.signature})"


def check_counts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Make sure that line i of the one belongs to line i of the other.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty (nearly always a sign of
            misaligned files; the message has the line).
    """
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses):,} hypotheses and {len(references):,} references: they are scored line by line "
            "and must be as many; look for a missing or an extra line"
        )
    if not hypotheses:
        raise DataError("there is nothing to score: 0 hypotheses and 0 references")
    for number, reference in enumerate(references, start=1):
        if not reference.strip():
            raise DataError(
                f"reference {number} of {len(references):,} is empty; every line needs one, so look for a shifted file"
            )
