"""The learning rate against the paper's numbers, and each schedule's shape."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from transduce.base.errors import SettingsError
from transduce.base.settings import SettingsSource, resolve
from transduce.training.schedule import decays_to_the_end, learning_rate
from transduce.training.settings import TrainSettings


@pytest.mark.parametrize(
    ("step", "expected"), [(1000, 0.000175), (4000, 0.000699), (16000, 0.000349), (100_000, 0.000140)]
)
def test_worked_examples(step: int, expected: float) -> None:
    assert learning_rate(step, TrainSettings(), 512) == pytest.approx(expected, abs=5e-7)  # given to six digits


def test_big_model_peaks_lower() -> None:
    assert learning_rate(4000, TrainSettings(), 1024) == pytest.approx(0.00049, abs=5e-6)  # given to five digits


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (1, 1.746928e-07),
        (2, 3.493856e-07),
        (4000, 6.987712e-04),
        (4001, 6.986839e-04),
        (8000, 4.941059e-04),
        (100_000, 1.397542e-04),
    ],
)
def test_case_b047(step: int, expected: float) -> None:
    assert learning_rate(step, TrainSettings(), 512) == pytest.approx(expected, rel=1e-6)  # given to seven digits


def test_factor_multiplies() -> None:
    assert learning_rate(7, TrainSettings(lr_factor=2.0), 512) == 2 * learning_rate(7, TrainSettings(), 512)


def _settings(schedule: str) -> TrainSettings:
    values = {"schedule": schedule, "peak_lr": 0.01, "warmup_steps": 10, "n_steps": 110}
    return resolve(TrainSettings, [SettingsSource("test", values)])


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "linear", "wsd", "constant"])
def test_other_schedules_rise_in_a_line_to_the_peak(schedule: str) -> None:
    rates = [learning_rate(step, _settings(schedule), 512) for step in range(1, 111)]
    assert rates[:10] == pytest.approx([0.001 * step for step in range(1, 11)])
    assert max(rates) == rates[9] == 0.01
    assert all(later <= earlier for earlier, later in pairwise(rates[9:]))


@pytest.mark.parametrize(
    ("schedule", "middle", "end"),
    [
        ("inverse_sqrt", 0.01 * math.sqrt(10 / 60), 0.01 * math.sqrt(10 / 110)),
        ("cosine", 0.005, 0.0),
        ("linear", 0.005, 0.0),
        ("wsd", 0.01, 0.0),
        ("constant", 0.01, 0.01),
    ],
)
def test_other_schedules_fall(schedule: str, middle: float, end: float) -> None:
    assert learning_rate(60, _settings(schedule), 512) == pytest.approx(middle)
    assert learning_rate(110, _settings(schedule), 512) == pytest.approx(
        end, abs=1e-18
    )  # cos(pi) is -1 but for rounding
    assert learning_rate(500, _settings(schedule), 512) >= 0  # past the end, as after a resume with fewer steps


def test_there_is_no_step_0() -> None:
    with pytest.raises(ValueError, match="steps are counted from 1"):
        learning_rate(0, TrainSettings(), 512)


def test_a_fall_without_room_is_refused() -> None:
    values = {"schedule": "cosine", "peak_lr": 0.01, "warmup_steps": 100, "n_steps": 100}
    with pytest.raises(SettingsError, match=r"falls from warmup_steps \(100\) to n_steps \(100\)"):
        resolve(TrainSettings, [SettingsSource("my.toml", values)])


def _changed(schedule: str, **values: Any) -> TrainSettings:
    return resolve(TrainSettings, [SettingsSource("test", {**_settings(schedule).as_dict(), **values})])


@pytest.mark.parametrize(
    ("shape", "quarter", "middle"), [("linear", 0.0075, 0.005), ("sqrt", 0.005, 0.01 * (1 - 0.5**0.5))]
)
def test_warm_up_stable_decay(shape: str, quarter: float, middle: float) -> None:
    settings = _changed("wsd", n_steps=1000, decay_share=0.4, decay_shape=shape)  # it falls from step 600 to 1000
    rates = {step: learning_rate(step, settings, 512) for step in (10, 11, 300, 600, 700, 800, 1000)}
    assert rates[10] == rates[11] == rates[300] == rates[600] == 0.01
    assert rates[700] == pytest.approx(quarter) and rates[800] == pytest.approx(middle)
    assert rates[1000] == 0.0


def test_wsd_that_decays_all_the_way_is_linear() -> None:
    wsd, linear = (_changed(name, n_steps=100, warmup_steps=1, **values) for name, values in (
        ("wsd", {"decay_share": 0.99, "decay_shape": "linear"}), ("linear", {})
    ))  # fmt: skip
    assert [learning_rate(step, wsd, 8) for step in range(1, 120)] == [
        learning_rate(step, linear, 8) for step in range(1, 120)
    ]


@pytest.mark.parametrize("schedule", ["cosine", "linear", "wsd"])
def test_the_fall_ends_at_a_share_of_the_peak(schedule: str) -> None:
    settings = _changed(schedule, final_lr_share=0.1)
    assert learning_rate(110, settings, 512) == pytest.approx(0.001)
    assert learning_rate(500, settings, 512) == pytest.approx(0.001)
    assert learning_rate(10, settings, 512) == 0.01


@pytest.mark.parametrize("schedule", ["paper", "inverse_sqrt", "constant", "cosine", "linear", "wsd"])
def test_the_rate_depends_on_n_steps_exactly_where_it_is_said_to(schedule: str) -> None:
    peak = {} if schedule == "paper" else {"peak_lr": 0.01}
    short, long = (
        resolve(
            TrainSettings, [SettingsSource("test", {"schedule": schedule, "warmup_steps": 10, "n_steps": n, **peak})]
        )
        for n in (100, 200)
    )
    differs = any(learning_rate(step, short, 512) != learning_rate(step, long, 512) for step in range(1, 101))
    assert differs == decays_to_the_end(short)
