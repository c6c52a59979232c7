"""Which of two models is the better one: by a dev score of one's choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from transduce.base.errors import TrainingError

__all__ = ["BestBy", "best_of", "is_better", "score_by"]

BestBy = Literal["perplexity", "bleu", "chrf", "f1"]

_NAMES: Mapping[BestBy, str] = {"perplexity": "perplexity", "bleu": "BLEU", "chrf": "chrF", "f1": "F1"}
"""What the scores are called in records and bundles."""


def score_by(best_by: BestBy, scores: Mapping[str, float]) -> float:
    """Return the score that decides.

    Raises:
        TrainingError: It was not measured.

    >>> score_by("bleu", {"perplexity": 4.5, "BLEU": 31.0})
    31.0
    """
    name = _NAMES[best_by]
    if name not in scores:
        raise TrainingError(
            f"train.best_by = '{best_by}' needs the dev score {name}, which nothing measures; set train.validate_bleu = true, "
            "or train.best_by = 'perplexity'"
        )
    return scores[name]


def is_better(best_by: BestBy, score: float, best: float | None) -> bool:
    """Tell whether a score is better than the best so far. One that is not finite never is; equal is not better.

    >>> is_better("perplexity", 4.0, 5.0), is_better("bleu", 4.0, 5.0), is_better("chrf", 4.0, None)
    (True, False, True)
    """
    if not math.isfinite(score):
        return False
    return best is None or (score < best if best_by == "perplexity" else score > best)


def best_of(best_by: BestBy, scores: list[float]) -> int:
    """Return the place of the best score, the first of equal ones; 0 when none is finite."""
    place = 0
    best = None
    for candidate, score in enumerate(scores):
        if is_better(best_by, score, best):
            place, best = candidate, score
    return place
