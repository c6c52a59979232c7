"""Signals become a request; the second one stops at once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from transduce.training.interrupt import Interrupt, TrainingInterrupted, deferred_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_is_a_request_and_the_second_stops(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with deferred_interrupts() as interrupt:
        os.kill(os.getpid(), number)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_nothing_changes() -> None:
    seen: list[Interrupt] = []

    def run() -> None:
        with deferred_interrupts() as interrupt:
            seen.append(interrupt)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not seen[0].requested


def test_an_interrupted_run_ends_a_program_as_ctrl_c_does() -> None:
    assert issubclass(TrainingInterrupted, KeyboardInterrupt)
