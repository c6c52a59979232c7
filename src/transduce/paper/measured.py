"""What runs of our own have measured, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from transduce.paper.conclusions import CONCLUSIONS, Conclusion, Difference, Metric, Verdict, judge

__all__ = ["Measured", "MeasuredCost", "MeasuredRow", "MeasuredScore", "Spread", "spread"]


@dataclass(frozen=True)
class Spread:
    """A value measured with one or more seeds."""

    mean: float
    deviation: float | None
    """Sample standard deviation; None: there is one seed."""
    n: int
    """Seeds."""


def spread(values: Sequence[float]) -> Spread:
    """Return mean and spread.

    >>> spread([1.0, 2.0, 3.0])
    Spread(mean=2.0, deviation=1.0, n=3)
    """
    return Spread(mean(values), stdev(values) if len(values) > 1 else None, len(values))


@dataclass(frozen=True)
class MeasuredScore:
    """A score in one flavour."""

    name: str
    value: Spread
    signature: str


@dataclass(frozen=True)
class MeasuredCost:
    """What one run has cost; with several seeds, on the average."""

    hours: Spread
    """Time trained, evaluations and checkpoints left out."""
    flops: float
    """Operations of all matrix products, counted from their shapes."""
    paper_flops: float
    """By the paper's formula: time, times devices, times what one sustains."""
    n_devices: int
    device: str
    tflops: float
    """What one device is taken to sustain."""
    tflops_source: str


@dataclass(frozen=True)
class Measured:
    """What the runs of a row gave."""

    seeds: tuple[int, ...]
    n_parameters: int
    made_of: str
    """What the weights are, in words."""
    perplexity: Spread
    """Per word-piece."""
    scores: tuple[MeasuredScore, ...]
    """In all flavours; sacreBLEU's default first."""
    cost: MeasuredCost

    @property
    def bleu(self) -> Spread:
        """SacreBLEU."""
        return self.scores[0].value

    def score(self, name: str) -> Spread:
        """Return a score by its name.

        Args:
            name: Of a flavour that was measured.
        """
        return next(score.value for score in self.scores if score.name == name)


@dataclass(frozen=True)
class MeasuredRow:
    """A row of Table 3 as it was measured."""

    row: str
    changes: tuple[str, ...]
    """What differs from the base model at this scale."""
    measured: Measured | None
    """None: it was not run, or has failed."""
    failure: str | None
    """What a run of it has failed with."""
    differences: Mapping[Metric, Difference]
    """What it has more than the base model; empty where one of the two was not run."""

    @property
    def verdicts(self) -> tuple[tuple[Conclusion, Verdict], ...]:
        """What the paper concludes from the row, and whether that is borne out."""
        return tuple(
            (conclusion, judge(conclusion, self.differences.get(conclusion.metric)))
            for conclusion in CONCLUSIONS
            if conclusion.row == self.row
        )
