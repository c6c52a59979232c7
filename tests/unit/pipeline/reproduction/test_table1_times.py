"""What times say: exponents, crossovers, and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.model.baselines.build import LAYER_KINDS, LayerSizes
from transduce.pipeline.reproduction import table1_times
from transduce.pipeline.reproduction.table1_times import WORKS, TimePlan, find_crossover, fit_exponent, time_layers

TINY = LayerSizes(d_model=8)


@given(exponent=st.floats(-3, 3), factor=st.floats(1e-6, 1e6))
def test_an_exact_power_is_found(exponent: float, factor: float) -> None:
    lengths = [8, 16, 64, 512]
    # least squares over logarithms of size 20 in float64
    assert fit_exponent(lengths, [factor * n**exponent for n in lengths]) == pytest.approx(exponent, abs=1e-9)


@given(d=st.integers(9, 4000))
def test_the_crossover_of_two_powers_is_where_they_are_equal(d: int) -> None:
    lengths = [8, 16, 64, 512, 4096]
    crossing = find_crossover(lengths, [float(n * n * d) for n in lengths], [float(n * d * d) for n in lengths])
    assert crossing == pytest.approx(d, rel=1e-6)


def test_lines_that_do_not_cross_or_cross_twice() -> None:
    assert find_crossover([1, 2], [1.0, 1.0], [2.0, 2.0]) is None
    assert find_crossover([1, 2], [2.0, 2.0], [1.0, 1.0]) == 1.0
    assert find_crossover([1, 4, 16, 64], [2.0, 0.5, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0]) == 8.0  # the last time counts
    assert find_crossover([], [], []) is None


def test_every_layer_is_timed_at_every_length() -> None:
    told: list[str] = []
    timings = time_layers(TINY, TimePlan((2, 4), cell_s=0.0, longest_s=60.0), told.append)
    assert {(t.kind, t.work, t.n) for t in timings} == {(k, w, n) for k in LAYER_KINDS for w in WORKS for n in (2, 4)}
    for timing in timings:
        assert len(timing.seconds) == 3
        assert timing.median_s == timing.seconds[1] > 0
        assert list(timing.seconds) == sorted(timing.seconds)
    assert told == ["timing 7 layers at n = 2", "timing 7 layers at n = 4"]


def test_what_would_take_too_long_is_left_out_with_the_reason() -> None:
    timings = time_layers(TINY, TimePlan((2, 4, 8), cell_s=0.0, longest_s=0.0), lambda _: None)
    assert {timing.n for timing in timings if timing.seconds} == {2}
    left_out = [timing for timing in timings if not timing.seconds]
    assert all("the limit is 0 s" in timing.left_out and timing.median_s is None for timing in left_out)


def test_what_does_not_fit_into_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table1_times, "free_memory_bytes", lambda: 1000)
    timings = time_layers(TINY, TimePlan((2,), cell_s=0.0, longest_s=1.0), lambda _: None)
    assert all("are free" in timing.left_out for timing in timings)
