"""A bar for each download, or a line when one is complete where there is no terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["DownloadProgress"]


@final
class DownloadProgress:
    """Shows downloads on stderr. Use it as a context, so that the bars are always taken down."""

    def __init__(self) -> None:
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> DownloadProgress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
                TransferSpeedColumn,
            )

            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, name: str, n_bytes: int, total: int | None) -> None:
        """Show that ``n_bytes`` of a file are there, of ``total`` where that is known."""
        if self._bars is None:
            if n_bytes == total:
                sys.stderr.write(f"fetched {name} ({n_bytes:,} bytes)\n")
            return
        if name not in self._tasks:
            # What an earlier call fetched is no part of this one's speed.
            self._tasks[name] = self._bars.add_task(name, total=total, completed=n_bytes)
        self._bars.update(self._tasks[name], completed=n_bytes, total=total)
