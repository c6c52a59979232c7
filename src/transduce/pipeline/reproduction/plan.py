"""Which runs a table of the paper asks for, and where each of them lies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from transduce.base.errors import SettingsError
from transduce.base.settings import near_match
from transduce.decoding.settings import DecodeSettings
from transduce.paper.proportion import PROPORTIONS
from transduce.paper.runs import TABLE2_RUNS, TABLE3, Pair
from transduce.paper.scale import Scale

__all__ = [
    "RECIPE",
    "Part",
    "PlannedRun",
    "Run",
    "TableName",
    "default_rows",
    "describe_search",
    "plan_runs",
    "refuse_repeats",
    "row_names",
    "row_pair",
    "run_name",
]

TableName = Literal["table2", "table3"]
Part = Literal["dev", "test"]

RECIPE = "base"
"""All runs are changes to this recipe."""

_SMOKE_ROWS = ("base", "A-h1", "B-dk16", "C-n2", "D-ls0.0", "E-learned")
"""One of each group: every process takes some seconds to start."""


class Run(Protocol):
    """What is to be known of a run to keep it in a directory of its own."""

    @property
    def name(self) -> str:
        """Its directory."""
        ...

    @property
    def overrides(self) -> tuple[str, ...]:
        """What differs from its recipe."""
        ...

    @property
    def digest(self) -> str:
        """What tells apart runs of one name that were made with other settings."""
        ...

    def directory(self, out: Path) -> Path:
        """Return where the run lies."""
        ...


@dataclass(frozen=True)
class PlannedRun:
    """One model to train and to score."""

    row: str
    """Of Table 3, or of :data:`transduce.paper.runs.TABLE2_RUNS`."""
    seed: int
    pair: Pair
    overrides: tuple[str, ...]
    """Everything that differs from the recipe, the seed included, as ``transduce train --data`` takes it."""
    part: Part
    """What it is scored on."""

    @property
    def name(self) -> str:
        """Its directory.

        >>> plan_runs("table3", "mini", ["A-h1"], [2])[0].name
        'A-h1-seed2'
        """
        return run_name(self.row, self.seed)

    @property
    def digest(self) -> str:
        """What tells apart runs of one name that were made with other settings."""
        return hashlib.sha256("\n".join((RECIPE, self.part, *self.overrides)).encode()).hexdigest()[:16]

    def directory(self, out: Path) -> Path:
        """Return where the run lies."""
        return out / "runs" / self.name


def run_name(row: str, seed: int) -> str:
    """Return the name of a run, which is that of its directory."""
    return f"{row}-seed{seed}"


def row_names(table: TableName) -> tuple[str, ...]:
    """Return the rows of a table that are runs, in the paper's order."""
    return tuple(TABLE2_RUNS if table == "table2" else TABLE3)


def row_pair(table: TableName, row: str) -> Pair:
    """Return the task of a row; Table 3 has one for all."""
    return TABLE2_RUNS[row].pair if table == "table2" else "en-de"


def default_rows(table: TableName, scale: Scale) -> tuple[str, ...]:
    """Return the rows that are run when none are named: all that there is data for, and at ``smoke`` some.

    >>> default_rows("table2", "mini")
    ('base-en-de', 'big-en-de')
    """
    if table == "table3" and scale == "smoke":
        return _SMOKE_ROWS
    pairs: Mapping[Pair, object] = PROPORTIONS[scale].data
    return tuple(row for row in row_names(table) if row_pair(table, row) in pairs)


def plan_runs(table: TableName, scale: Scale, rows: Sequence[str], seeds: Sequence[int]) -> tuple[PlannedRun, ...]:
    """Return the runs for some rows: all rows with the first seed, then all with the next.

    Args:
        table: Of the paper.
        scale: How large.
        rows: Their names.
        seeds: At least one.

    Raises:
        SettingsError: A row is unknown or has no data at this scale, or a row or a seed comes twice.
    """
    _check(table, scale, rows, seeds)
    return tuple(
        PlannedRun(
            row=row,
            seed=seed,
            pair=row_pair(table, row),
            overrides=(*_overrides(table, scale, row), f"train.seed={seed}"),
            part="test" if table == "table2" else "dev",
        )
        for seed in seeds
        for row in rows
    )


def _overrides(table: TableName, scale: Scale, row: str) -> tuple[str, ...]:
    proportion = PROPORTIONS[scale]
    if table == "table3":
        # The paper's Table 3 is without the average of checkpoints: what is scored is the last one.
        last = ("train.average_last=1", "train.keep_checkpoints=2")
        return (*proportion.base(), *last, *proportion.shrink(TABLE3[row].overrides))
    return (*proportion.base(), *proportion.shrink(TABLE2_RUNS[row].overrides))


def _check(table: TableName, scale: Scale, rows: Sequence[str], seeds: Sequence[int]) -> None:
    known = row_names(table)
    for row in rows:
        if row not in known:
            raise SettingsError(f"{table} has no row '{row}'{near_match(row, known)}; its rows are: {', '.join(known)}")
        if row_pair(table, row) not in PROPORTIONS[scale].data:
            raise SettingsError(
                f"there is no data for row '{row}' at scale '{scale}'; leave it out, or use --scale full"
            )
    for what, given in (("row", rows), ("seed", seeds)):
        if not given:
            raise SettingsError(f"no {what} is given; name at least one")
        refuse_repeats(what, given)


def refuse_repeats(what: str, given: Sequence[object]) -> None:
    """Make sure that nothing is named twice.

    Args:
        what: What is named, in a word.
        given: The names.

    Raises:
        SettingsError: One comes again.
    """
    twice = [value for value in dict.fromkeys(given) if given.count(value) > 1]
    if twice:
        raise SettingsError(f"{what} {twice[0]} is given twice; name each once")


def describe_search(decode: DecodeSettings) -> str:
    """Return what a beam search keeps to, in words."""
    longest = f"at most {decode.max_extra_tokens} tokens more than the source"
    if decode.max_length_ratio is not None:
        longest += f" and {decode.max_length_ratio:g} times as many"
    return f"beam {decode.beam_size}, length penalty {decode.length_alpha:g}, {longest}"
