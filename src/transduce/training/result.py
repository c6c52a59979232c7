"""What a training run returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transduce.training.records import StopReason

__all__ = ["TrainResult"]


@dataclass(frozen=True)
class TrainResult:
    """How a run ended."""

    step: int
    """Updates made in all."""
    reason: StopReason
    """Why it ended."""
    scores: Mapping[str, float]
    """Scores on the dev set at the end."""
    best_step: int | None
    """The step of the best score by ``train.best_by``, whose model is in ``best``. None: no score was finite."""
    checkpoints: tuple[Path, ...]
    """The checkpoints that are kept, the oldest first."""
    seconds: float
    """Time trained, in seconds, that before a resume and all evaluations included."""
