"""Ctrl-C and SIGTERM: let the step end, save, and only then stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import final

from transduce.base.log import logger

__all__ = ["Interrupt", "TrainingInterrupted", "deferred_interrupts"]


class TrainingInterrupted(KeyboardInterrupt):
    """A run was stopped by Ctrl-C or SIGTERM, and everything is saved. The message says where, and how to go on.

    It is a KeyboardInterrupt, so that a program which does not know of it stops as Ctrl-C stops programs; the command
    line prints the message and exits with 130.
    """


@final
class Interrupt:
    """Whether someone has asked the run to stop."""

    def __init__(self) -> None:
        self.requested = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; at the second, stop at once (the last checkpoint stands)."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        logger.warning(
            "%s: finishing this step, then saving; once more stops at once, without saving", signal.Signals(number).name
        )


@contextmanager
def deferred_interrupts() -> Iterator[Interrupt]:
    """Turn SIGINT and SIGTERM into a request that the loop looks at between steps; afterwards all is as before.

    Outside the main thread, where Python allows no signal handlers, it changes nothing and no request ever comes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.signal(number, interrupt.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
