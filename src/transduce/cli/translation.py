"""What a person sees while a file is translated: a bar with lines a second, where stderr is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["TranslationProgress", "show_bar"]


@final
class TranslationProgress:
    """A bar on stderr. Use it as a context, so that it is always taken down.

    Args:
        n_lines: Lines of the input; None: not known.
        shown: False: there is no bar, and calls do nothing.
    """

    def __init__(self, n_lines: int | None, *, shown: bool) -> None:
        self._n_lines = n_lines
        self._bar: Progress | None = _make_bar() if shown else None
        self._task: TaskID | None = None
        self._first: int | None = None
        self._started_s = 0.0

    def __enter__(self) -> TranslationProgress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("translating", total=self._n_lines, about="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, n_done: int) -> None:
        """Show how many lines are done. The first call starts the clock: its lines were done before."""
        if self._bar is None or self._task is None:
            return
        if self._first is None:
            self._first, self._started_s = n_done, time.monotonic()
        seconds = time.monotonic() - self._started_s
        speed = f"{(n_done - self._first) / seconds:,.0f} lines/s" if n_done > self._first and seconds > 0 else ""
        of_all = f" of {self._n_lines:,}" if self._n_lines is not None else ""
        self._bar.update(self._task, completed=n_done, about=f"{n_done:,}{of_all} lines  {speed}")


def show_bar(*, to_stdout: bool) -> bool:
    """Tell whether a bar would be seen, and disturb nothing: lines on the same terminal would be mixed with it."""
    return sys.stderr.isatty() and not (to_stdout and sys.stdout.isatty())


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[about]}"),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
    )
