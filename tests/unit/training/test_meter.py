"""Speed, padding and time left, by a clock that the test turns."""

from __future__ import annotations

import pytest

from transduce.training.meter import Meter


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0  # a clock's zero means nothing

    def __call__(self) -> float:
        return self.now


def test_rates_count_the_window_only() -> None:
    clock = _Clock()
    meter = Meter(n_steps=100, max_minutes=None, step=0, seconds=0.0, clock=clock)
    meter.add(n_tgt_tokens=100, n_positions=300, n_padded=30)
    clock.now += 10
    assert meter.read(1).tgt_tokens_per_s == 10.0
    meter.new_window()
    meter.add(n_tgt_tokens=100, n_positions=200, n_padded=20)
    meter.add(n_tgt_tokens=100, n_positions=200, n_padded=80)
    clock.now += 5
    reading = meter.read(2)
    assert reading.tgt_tokens_per_s == 40.0
    assert reading.padding == 0.25
    assert reading.seconds == 15.0


def test_pauses_count_as_time_but_not_as_slowness() -> None:
    clock = _Clock()
    meter = Meter(n_steps=10, max_minutes=None, step=0, seconds=0.0, clock=clock)
    meter.add(n_tgt_tokens=50, n_positions=100, n_padded=0)
    clock.now += 5
    with meter.paused():
        clock.now += 20
    reading = meter.read(5)
    assert reading.tgt_tokens_per_s == 10.0
    assert reading.seconds == 25.0
    assert reading.eta_s == 25.0  # five more steps take as long as five did, evaluation included


def test_a_resumed_run_goes_on_with_its_time_and_measures_its_own_pace() -> None:
    clock = _Clock()
    meter = Meter(n_steps=40, max_minutes=None, step=20, seconds=600.0, clock=clock)
    assert meter.read(20).eta_s == float("inf")  # nothing is known yet
    clock.now += 10
    assert meter.seconds == 610.0
    assert meter.read(30).eta_s == 10.0


@pytest.mark.parametrize(("minutes", "eta_s", "is_over"), [(1.0, 30.0, False), (0.5, 0.0, True), (100.0, 270.0, False)])
def test_whichever_limit_comes_first(minutes: float, eta_s: float, is_over: bool) -> None:
    clock = _Clock()
    meter = Meter(n_steps=100, max_minutes=minutes, step=0, seconds=0.0, clock=clock)
    clock.now += 30
    assert meter.read(10).eta_s == eta_s
    assert meter.is_out_of_time is is_over


def test_nothing_done_is_no_error() -> None:
    meter = Meter(n_steps=100, max_minutes=None, step=0, seconds=0.0, clock=_Clock())
    reading = meter.read(0)
    assert (reading.tgt_tokens_per_s, reading.padding) == (0.0, 0.0)
