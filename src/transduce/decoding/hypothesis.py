"""A translation as the search sees it: ids and numbers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Hypothesis"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished translation. Every hypothesis that a search returns ends with EOS, at the length limit by force.

    So the log-probabilities of all of them are those of whole sentences, and can be compared with each other and with
    those of teacher-forced scoring.
    """

    ids: tuple[int, ...]
    """Target ids without BOS and EOS. May be empty: EOS alone."""
    log_prob: float
    """Natural log-probability of the ids and EOS given the source."""
    score: float
    """``log_prob`` divided by the length penalty: what hypotheses are ranked by, higher is better."""
