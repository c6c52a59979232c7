"""Ctrl-C and SIGTERM: let the step end, save, and only then stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import final

from transduce.base.log import logger

__all__ = ["AbandonedError", "Interrupt", "TrainingInterrupted", "deferred_interrupts"]


class TrainingInterrupted(KeyboardInterrupt):
    """A run was stopped by Ctrl-C or SIGTERM, and everything is saved. The message says where, and how to go on.

    It is a KeyboardInterrupt, so that a program which does not know of it stops as Ctrl-C stops programs; the command
    line prints the message and exits with 130.
    """


class AbandonedError(BaseException):
    """Someone asked to stop during work that can be left undone. Nothing but the loop should catch it."""


@final
class Interrupt:
    """Whether someone has asked the run to stop.

    Args:
        settle_s: A signal within so many seconds after the first one counts as the same, and the message says so.
    """

    def __init__(self, settle_s: float = 0.0) -> None:
        self.requested = False
        self._settle_s = settle_s
        self._first_s = 0.0
        self._may_abandon = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; at the second, stop at once (the last checkpoint stands)."""
        if self.requested:
            if time.monotonic() - self._first_s < self._settle_s:
                return
            raise KeyboardInterrupt
        self.requested, self._first_s = True, time.monotonic()
        doing = "leaving the evaluation" if self._may_abandon else "finishing this step"
        again = f"once more, {self._settle_s:g} s from now or later," if self._settle_s else "once more"
        logger.warning(
            "%s: %s, then saving; %s stops at once, without saving", signal.Signals(number).name, doing, again
        )
        if self._may_abandon:
            self._may_abandon = False
            raise AbandonedError

    @contextmanager
    def abandoning(self) -> Iterator[None]:
        """Let a signal end the block at once, where the block changes nothing that must be whole.

        An evaluation may take minutes, and a machine that is taken away gives its processes some seconds.

        Raises:
            AbandonedError: A signal came within the block, or had come before.
        """
        self._may_abandon = True
        try:
            if self.requested:
                raise AbandonedError
            yield
        finally:
            self._may_abandon = False


@contextmanager
def deferred_interrupts(settle_s: float = 0.0) -> Iterator[Interrupt]:
    """Turn SIGINT and SIGTERM into a request that the loop looks at between steps; afterwards all is as before.

    Outside the main thread, where Python allows no signal handlers, it changes nothing and no request ever comes.

    Args:
        settle_s: A signal within so many seconds after the first one counts as the same.
    """
    interrupt = Interrupt(settle_s)
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.signal(number, interrupt.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
