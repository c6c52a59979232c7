"""What was measured of Table 1, and what follows from it: exponents and crossovers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from transduce.model.baselines.build import LAYER_KINDS, LayerKind, LayerSizes, multiply_adds
from transduce.model.baselines.direction import Direction
from transduce.paper.scale import Scale
from transduce.paper.table1 import TABLE1, Table1Kind, table_operations, table_path
from transduce.pipeline.reproduction.table1_times import WORKS, Timing, Work, find_crossover, fit_exponent

__all__ = ["PAIRS", "Crossover", "LongestPath", "Table1Report", "Waiting", "is_in_table"]

PAIRS: tuple[tuple[LayerKind, LayerKind], ...] = (
    ("self-attention", "recurrent"),
    ("projected self-attention", "LSTM"),
)
"""Self-attention and recurrence as the table counts them, then both with all their matrices."""

_N_FITTED = 4
"""Exponents are fitted over so many of the largest lengths: there the term with the most n in it weighs most."""
_QUIET = 0.95
"""A process that has the processor to itself has it for at least this share of the time."""


def is_in_table(kind: LayerKind) -> TypeGuard[Table1Kind]:
    """Say whether the paper's table has a row for a type."""
    return kind in TABLE1


@dataclass(frozen=True)
class LongestPath:
    """The longest path between two positions: layers of a stack, or transitions of a recurrence."""

    kind: Table1Kind
    n: int
    direction: Direction
    measured: int | None
    """None: some positions stay apart in any number of layers."""


@dataclass(frozen=True)
class Waiting:
    """The longest chain of matrix products of one layer in which each needs the one before."""

    kind: LayerKind
    n: int
    products: int


@dataclass(frozen=True)
class Crossover:
    """From which length on self-attention takes longer than a recurrence."""

    attention: LayerKind
    recurrence: LayerKind
    work: Work
    counted: int
    """The first length at which the layers as built here do as many multiply-adds."""
    measured: float | None
    """None: it does not take longer at the longest of the lengths."""
    lengths: tuple[int, ...]
    """At which both were timed, ascending."""


@dataclass(frozen=True)
class Table1Report:
    """Everything that was measured, and on what."""

    scale: Scale
    sizes: LayerSizes
    machine: dict[str, str]
    """What it was measured on and with, by name."""
    timings: tuple[Timing, ...]
    paths: tuple[LongestPath, ...]
    waiting: tuple[Waiting, ...]
    page: Path
    """The page; ``report.md`` and ``report.json`` lie beside it."""

    def curve(self, kind: LayerKind, work: Work) -> tuple[list[int], list[float]]:
        """Return the lengths at which a layer was timed, and the median seconds there."""
        points = [(t.n, t.median_s) for t in self.timings if (t.kind, t.work) == (kind, work)]
        timed = [(n, median) for n, median in points if median is not None]
        return [n for n, _ in timed], [median for _, median in timed]

    def exponent(self, kind: LayerKind, work: Work) -> float | None:
        """Return the exponent of n that fits the times of the largest lengths; None: fewer than two were timed."""
        lengths, seconds = self.curve(kind, work)
        return fit_exponent(lengths[-_N_FITTED:], seconds[-_N_FITTED:]) if len(lengths) > 1 else None

    def counted_exponent(self, kind: LayerKind) -> float:
        """Return the exponent that fits the multiply-adds of the layer as built, over the same lengths."""
        lengths = self.fitted_lengths()
        return fit_exponent(lengths, [multiply_adds(kind, self.sizes, n) for n in lengths])

    def lengths(self) -> list[int]:
        """Return all lengths, ascending."""
        return sorted({timing.n for timing in self.timings})

    def fitted_lengths(self) -> list[int]:
        """Return the lengths that exponents are fitted over, where a layer was timed at all of them."""
        return self.lengths()[-_N_FITTED:]

    def warning(self) -> str:
        """Return why the times are not to be trusted; nothing: no reason is known."""
        if self.scale == "smoke":
            return "This is the smallest scale, which shows that all parts work. Its times mean nothing."
        share = self.processor_share()
        if share < _QUIET:
            return (
                f"Other work had the processor for {1 - share:.0%} of the time: the times are too long, and not all by the "
                "same factor. Run it again on a quiet machine."
            )
        return ""

    def processor_share(self) -> float:
        """Return the processor time as a share of the wall time; above 1 where several threads work."""
        return sum(timing.processor_s for timing in self.timings) / sum(sum(timing.seconds) for timing in self.timings)

    def crossovers(self) -> list[Crossover]:
        """Return from where on self-attention takes longer, for each pair and each kind of work."""
        return [self._crossover(*pair, work) for pair in PAIRS for work in WORKS]

    def _crossover(self, attention: LayerKind, recurrence: LayerKind, work: Work) -> Crossover:
        both = [dict(zip(*self.curve(kind, work), strict=True)) for kind in (attention, recurrence)]
        lengths = [n for n in both[0] if n in both[1]]
        seconds = [[of[n] for n in lengths] for of in both]
        counts = (n for n in range(1, 100 * self.sizes.d_model) if self._is_more(attention, recurrence, n))
        return Crossover(attention, recurrence, work, next(counts), find_crossover(lengths, *seconds), tuple(lengths))

    def _is_more(self, one: LayerKind, other: LayerKind, n: int) -> bool:
        return multiply_adds(one, self.sizes, n) >= multiply_adds(other, self.sizes, n)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON: times in seconds, every repeat."""
        return {
            "table": 1,
            "scale": self.scale,
            "sizes": asdict(self.sizes),
            "machine": self.machine,
            "warning": self.warning(),
            "processor_share": self.processor_share(),
            "layers": [self._layer(kind) for kind in LAYER_KINDS],
            "paths": [asdict(path) | {"paper": self.paper_path(path.kind, path.n)} for path in self.paths],
            "products_in_a_row": [asdict(waiting) for waiting in self.waiting],
            "crossovers": [asdict(crossing) | {"table": self.sizes.d_model} for crossing in self.crossovers()],
            "timings": [asdict(timing) | {"median_s": timing.median_s} for timing in self.timings],
            "page": str(self.page),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return the few lines that a terminal shows."""
        lines = [
            (f"{crossing.attention} slower than {crossing.recurrence}, {crossing.work}", self.crossing_text(crossing))
            for crossing in self.crossovers()
        ]
        for kind in LAYER_KINDS:
            grown = [f"n^{exponent:.2f}" for work in WORKS if (exponent := self.exponent(kind, work)) is not None]
            lines.append((f"time of {kind}, forward and forward-backward", " and ".join(grown) or "not timed"))
        warning = [("warning", self.warning())] if self.warning() else []
        return [*lines, *warning, ("report", str(self.page))]

    def crossing_text(self, crossing: Crossover) -> str:
        """Write from where on self-attention takes longer."""
        lengths = crossing.lengths
        if not lengths:
            return "not timed"
        if crossing.measured is None:
            return f"at no n up to {lengths[-1]:,}"
        if crossing.measured <= lengths[0]:
            return f"at every n from {lengths[0]:,} on"
        return f"from n = {crossing.measured:,.0f} on"

    def _layer(self, kind: LayerKind) -> dict[str, Any]:
        lengths = self.lengths()
        counted = {str(n): multiply_adds(kind, self.sizes, n) for n in lengths}
        by_table = {str(n): self.table_count(kind, n) for n in lengths}
        row = TABLE1[kind] if is_in_table(kind) else None
        return {
            "kind": kind,
            "paper": asdict(row) if row is not None else None,
            "multiply_adds_by_the_table": by_table if row is not None else None,
            "multiply_adds_as_built": counted,
            "exponent_counted": self.counted_exponent(kind),
            "exponents_measured": {work: self.exponent(kind, work) for work in WORKS},
        }

    def table_count(self, kind: LayerKind, n: int) -> int | None:
        """Return the multiply-adds by the paper's formula; None: the table has no such row."""
        if not is_in_table(kind):
            return None
        return table_operations(kind, n, self.sizes.d_model, k=self.sizes.kernel, r=self.sizes.neighbourhood)

    def paper_path(self, kind: Table1Kind, n: int) -> int:
        """Return the longest path by the paper's formula."""
        return table_path(kind, n, k=self.sizes.kernel, r=self.sizes.neighbourhood)
