"""Speed, padding and the time that is left: plain arithmetic on counts and a clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

__all__ = ["Meter", "MeterReading"]


@dataclass(frozen=True)
class MeterReading:
    """What a meter shows at one moment. Rates are over the window, which began at the last :meth:`Meter.new_window`."""

    tgt_tokens_per_s: float
    """Real target tokens a second in the window, pauses not counted."""
    padding: float
    """Share of padding among all positions computed in the window, 0 to 1."""
    seconds: float
    """Time of the whole run in seconds, that before a resume and pauses included."""
    eta_s: float
    """Seconds until the run ends, as it goes now."""


@final
class Meter:
    """Measures one run.

    Args:
        n_steps: Steps of the whole run.
        max_minutes: Minutes of the whole run; None: no limit.
        step: Steps made before.
        seconds: Seconds trained before.
        clock: Returns seconds; tests give one of their own.

    >>> now = iter([0.0, 10.0, 10.0, 10.0])
    >>> meter = Meter(n_steps=100, max_minutes=None, step=0, seconds=0.0, clock=lambda: next(now))
    >>> meter.add(n_tgt_tokens=900, n_positions=2000, n_padded=200)
    >>> meter.read(step=20)
    MeterReading(tgt_tokens_per_s=90.0, padding=0.1, seconds=10.0, eta_s=40.0)
    """

    def __init__(
        self,
        *,
        n_steps: int,
        max_minutes: float | None,
        step: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._n_steps, self._max_minutes, self._clock = n_steps, max_minutes, clock
        self._first_step, self._seconds_before = step, seconds
        self._start = clock()
        self.new_window(now=self._start)

    @property
    def seconds(self) -> float:
        """Time of the whole run so far, in seconds, that before a resume included."""
        return self._seconds_before + self._clock() - self._start

    @property
    def is_out_of_time(self) -> bool:
        """True: ``max_minutes`` are over."""
        return self._max_minutes is not None and self.seconds >= 60 * self._max_minutes

    def new_window(self, *, now: float | None = None) -> None:
        """Begin to count speed and padding from zero."""
        self._window_start = self._clock() if now is None else now
        self._paused_s = 0.0
        self._n_tgt_tokens = self._n_positions = self._n_padded = 0

    def add(self, *, n_tgt_tokens: int, n_positions: int, n_padded: int) -> None:
        """Count one step.

        Args:
            n_tgt_tokens: Real target tokens of all ranks, EOS included.
            n_positions: Positions that this rank computed on both sides, padding included.
            n_padded: Those of them that are padding.
        """
        self._n_tgt_tokens += n_tgt_tokens
        self._n_positions += n_positions
        self._n_padded += n_padded

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the time of the block out of the speed (not out of the time of the run)."""
        started = self._clock()
        try:
            yield
        finally:
            self._paused_s += self._clock() - started

    def read(self, step: int) -> MeterReading:
        """Return what the meter shows after a step."""
        busy_s = self._clock() - self._window_start - self._paused_s
        seconds = self.seconds
        return MeterReading(
            tgt_tokens_per_s=self._n_tgt_tokens / busy_s if busy_s > 0 else 0.0,
            padding=self._n_padded / self._n_positions if self._n_positions else 0.0,
            seconds=seconds,
            eta_s=self._eta(step, seconds),
        )

    def _eta(self, step: int, seconds: float) -> float:
        """Seconds to the last step at the pace of this session, evaluations included, or to the end of the time."""
        made = step - self._first_step
        by_steps = (self._n_steps - step) * (seconds - self._seconds_before) / made if made > 0 else float("inf")
        by_time = 60 * self._max_minutes - seconds if self._max_minutes is not None else float("inf")
        return max(0.0, min(by_steps, by_time))
