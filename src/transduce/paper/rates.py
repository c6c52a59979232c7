"""Learning rates over the steps as a page: the paper's formula with several numbers, and the schedules that we ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transduce.paper.page import fill_page
from transduce.training.schedule import learning_rate
from transduce.training.settings import TrainSettings

__all__ = ["PAPER_SCHEDULES", "RateCurve", "paper_curves", "rate_curve", "rates_page"]

PAPER_SCHEDULES: Sequence[tuple[str, int, int]] = (
    ("base: d_model 512, 4,000 warm-up steps", 512, 4000),
    ("big: d_model 1024, 4,000 warm-up steps", 1024, 4000),
    ("d_model 256, 4,000 warm-up steps", 256, 4000),
    ("d_model 512, 8,000 warm-up steps", 512, 8000),
    ("d_model 512, 16,000 warm-up steps", 512, 16000),
)
"""Names, d_model and warmup_steps: the two models of the paper, and what each of the two numbers does."""

_N_POINTS = 240
_PAPER_STEPS = 100_000


@dataclass(frozen=True)
class RateCurve:
    """The learning rate of one schedule."""

    name: str
    points: tuple[tuple[int, float], ...]
    """Steps and their learning rates, from step 1 to the last one."""

    @property
    def peak(self) -> tuple[int, float]:
        """The step with the highest rate, and that rate."""
        return max(self.points, key=lambda point: point[1])


def rate_curve(name: str, settings: TrainSettings, d_model: int) -> RateCurve:
    """Return the learning rates of a run, at its end of the warm-up and at steps that are close to each other.

    Args:
        name: What the curve is called.
        settings: The schedule and its numbers.
        d_model: Width of the model.

    >>> rate_curve("base", TrainSettings(), 512).peak[0]
    4000
    """
    last = settings.n_steps
    evenly = {1 + round(i * (last - 1) / (_N_POINTS - 1)) for i in range(_N_POINTS)}
    in_powers = {round(last ** (i / (_N_POINTS - 1))) for i in range(_N_POINTS)}
    steps = sorted(evenly | in_powers | {min(settings.warmup_steps, last)})
    return RateCurve(name, tuple((step, learning_rate(step, settings, d_model)) for step in steps))


def paper_curves() -> list[RateCurve]:
    """Return the curves of the paper's formula. Paper: section 5.3, equation 3."""
    return [
        rate_curve(name, TrainSettings(n_steps=_PAPER_STEPS, warmup_steps=warmup_steps), d_model)
        for name, d_model, warmup_steps in PAPER_SCHEDULES
    ]


def rates_page(groups: Mapping[str, Sequence[RateCurve]]) -> str:
    """Return the page.

    Args:
        groups: Titles and the curves of each chart.
    """
    charts = [
        {
            "title": title,
            "curves": [
                {"name": curve.name, "peak": curve.peak, "points": [[step, float(f"{rate:.5g}")] for step, rate in curve.points]}
                for curve in curves
            ],
        }
        for title, curves in groups.items()
    ]  # fmt: skip
    return fill_page("rates", "Learning rate", {"charts": charts})
