"""What parsers of our own have measured, beside the paper's Table 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["SEARCHES", "ParserResult", "ParserRow", "Search", "SelfTraining", "SetScore"]

Search = Literal["free", "whole trees"]
SEARCHES: tuple[Search, ...] = ("free", "whole trees")
"""How a parser may look for a tree: ``free``: its most probable output, mended where that is no tree; ``whole trees``: among
trees only."""


@dataclass(frozen=True, kw_only=True)
class SetScore:
    """How well a parser does on one set of trees."""

    treebank: str
    part: Literal["dev", "test"]
    """``dev``: the treebank has no test set, and this is the very set that the model was chosen by."""
    trees: str
    """The file, with its sections."""
    search: Search
    n_sentences: int
    f1: float
    """In percent, failures as misses."""
    low: float
    """Of its 95 % interval, over sets like this one."""
    high: float
    recall: float
    precision: float
    complete_match: float
    evalb_f1: float
    """As EVALB computes it: failures are left out."""
    n_outputs: int
    n_well_formed: int
    """Outputs that were trees as they stood."""
    seconds: float
    """Time for parsing, loading not counted."""
    signature: str

    def __post_init__(self) -> None:
        if not (
            self.n_sentences > 0
            and 0 <= self.n_well_formed <= self.n_outputs
            and self.n_outputs > 0
            and self.seconds > 0
        ):
            raise ValueError("a number in it cannot be")

    @property
    def n_repaired(self) -> int:
        """Outputs that were mended."""
        return self.n_outputs - self.n_well_formed

    @property
    def share_well_formed(self) -> float:
        """In percent."""
        return 100 * self.n_well_formed / self.n_outputs

    @property
    def name(self) -> str:
        """What was scored, in short."""
        return f"{self.treebank} {self.part}"

    @property
    def sentences_per_second(self) -> float:
        """How fast it was parsed."""
        return self.n_sentences / self.seconds


@dataclass(frozen=True, kw_only=True)
class SelfTraining:
    """The parses of its own that a parser has learned from."""

    teacher: str
    """The row whose model has parsed."""
    n_sentences: int
    n_repaired: int
    """Sentences whose output was no tree as it stood."""
    n_kept: int
    minutes: float
    """Time for parsing."""


@dataclass(frozen=True, kw_only=True)
class ParserResult:
    """A parser that has been trained and scored."""

    format: Literal[2] = 2
    row: str
    seed: int
    digest: str
    """Of its settings and data."""
    n_trees: int
    """Trees that it learned from, each as often as it stands there."""
    n_parameters: int
    step: int
    """Updates made."""
    made_of: str
    """What its weights are, in words."""
    dev_f1: float
    """On all of its dev set."""
    minutes: float
    """Time of its training, evaluations and checkpoints included; for parsing raw sentences, see ``self_training``."""
    flops: float
    """Operations of all matrix products of its training."""
    device: str
    n_devices: int
    commits: tuple[str, ...]
    """Of this package, with which it was trained."""
    scores: tuple[SetScore, ...]
    self_training: SelfTraining | None
    commands: tuple[str, ...]
    """By which it was made, as one types them."""

    def __post_init__(self) -> None:
        found = [(score.name, score.search) for score in self.scores]
        if sorted(found) != sorted(
            (name, search) for name in dict.fromkeys(name for name, _ in found) for search in SEARCHES
        ):
            raise ValueError("a set is not scored by both searches")

    @property
    def name(self) -> str:
        """The row, with the seed where that is not the usual one."""
        return self.row if self.seed == 1 else f"{self.row}, seed {self.seed}"


@dataclass(frozen=True)
class ParserRow:
    """A row of our own: what there is to be run, and what came of it."""

    row: str
    about: str
    """What it learns from, in words."""
    results: tuple[ParserResult, ...]
    """One a seed; none: it was not run, or has failed."""
    failure: str | None
    """What a run of it has failed with."""
