"""What a person sees while data is prepared: a bar for what is under way, or a line now and then without a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, final

from transduce.pipeline.prepare_progress import PrepareProgress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["PreparationProgress", "format_progress"]

_LINE_EVERY_S = 5.0


@final
class PreparationProgress:
    """A listener that shows on stderr how far ``prepare`` is. Use it as a context, so that the bar is always taken down.

    There is a bar only while something is under way, so that it can stand in one context with that of training.
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._is_terminal = sys.stderr.isatty()  # asked once: while a bar is up, rich stands in for stderr
        self._written_s = time.monotonic()

    def __enter__(self) -> PreparationProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._take_down()

    def __call__(self, record: PrepareProgress) -> None:
        """Show one record."""
        if record.outcome:
            self._take_down()
        elif self._is_terminal:
            self._show(record)
            return
        elif time.monotonic() - self._written_s < _LINE_EVERY_S:
            return
        sys.stderr.write(format_progress(record) + "\n")
        sys.stderr.flush()
        self._written_s = time.monotonic()

    def _show(self, record: PrepareProgress) -> None:
        if self._bar is None or self._task is None:
            self._bar = _make_bar()
            self._bar.start()
            self._task = self._bar.add_task(f"{record.phase} {record.name}", about="")
        self._bar.update(self._task, completed=record.n_pairs, total=record.n_all_pairs, about=_about(record))

    def _take_down(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None


def format_progress(record: PrepareProgress) -> str:
    """Write a record as one plain line.

    >>> format_progress(PrepareProgress("encoding", "train", 2000, 29000, 12.34))
    'encoding train: 2,000 of 29,000 pairs, 12.3 MB/s'
    >>> format_progress(PrepareProgress("learning", "the vocabulary", 29000, 29000, 3.2, "8,000 ids"))
    'learning the vocabulary: 8,000 ids'
    """
    return f"{record.phase} {record.name}: {record.outcome or _about(record)}"


def _about(record: PrepareProgress) -> str:
    of_all = f" of {record.n_all_pairs:,}" if record.n_all_pairs is not None else ""
    return f"{record.n_pairs:,}{of_all} pairs, {record.mb_per_s:.1f} MB/s"


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[about]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
    )
