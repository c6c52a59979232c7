"""A translation as the search sees it: ids and numbers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Hypothesis"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished translation. Every hypothesis that a search returns ends with EOS, at the length limit by force.

    A forced EOS costs its log-probability like any other. So all log-probabilities are those of whole sentences: they can
    be compared with each other, with those of teacher-forced scoring, and with exhaustive search over all sentences that
    the limit allows. Nothing that is not finished takes part, and a hypothesis that only the limit ends seldom wins,
    since the model gives EOS little probability there; where nothing ends of its own accord, it is all there is. Either
    way ``at_limit`` says so.
    """

    ids: tuple[int, ...]
    """Target ids without BOS and EOS. May be empty: EOS alone."""
    log_prob: float
    """Natural log-probability that the model gives the ids and EOS after the source, whatever the search has preferred."""
    score: float
    """What the search ranks by, higher is better. In a beam search: ``log_prob`` divided by the length penalty, plus the
    coverage penalty if there is one; with a repetition penalty, the penalized log-probability takes the place of
    ``log_prob``. With minimum Bayes risk: the mean agreement with the other samples, 0 to 100."""
    at_limit: bool = False
    """True: it has as many tokens as the length limit allows, so its end may be missing."""
