"""Signals become a request; the second one stops at once."""

from __future__ import annotations

import logging
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


@pytest.mark.parametrize(
    ("settle_s", "words"), [(0.0, "once more stops at once"), (5.0, "once more, 5 s from now or later, stops at once")]
)
def test_the_message_says_when_a_second_signal_counts(
    settle_s: float, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="transduce"), deferred_interrupts(settle_s):
        os.kill(os.getpid(), signal.SIGTERM)
        if settle_s:
            os.kill(os.getpid(), signal.SIGTERM)  # the same one, as a launcher sends it
    assert caplog.text.count(f"SIGTERM: finishing this step, then saving; {words}, without saving") == 1


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
