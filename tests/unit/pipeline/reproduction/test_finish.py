from __future__ import annotations

from typing import Literal

import pytest

from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.finish import run_cost
from transduce.training.account import Costs, SessionAccount


def session(
    device: str, n_devices: int, training_s: float, tflops: float, source: Literal["declared", "paper", "measured"]
) -> SessionAccount:
    costs = Costs(
        wall_s=training_s + 5, training_s=training_s, evaluation_s=3.0, checkpoint_s=2.0, steps=10, pairs=100, src_tokens=900,
        tgt_tokens=1000, padding_positions=50, flops=7_000, needed_flops=6_000, paper_flops=1.0, energy_joules=None,
    )  # fmt: skip
    return SessionAccount(
        started="2026-01-01T00:00:00Z", ended=None, first_step=0, last_step=10, costs=costs, peak_memory_bytes=1,
        peak_device_bytes=None, host="host", device=device, n_devices=n_devices, tflops=tflops, tflops_source=source,
        energy_note="", versions={}, commit="c0ffee", settings_sha256="",
    )  # fmt: skip


def test_each_session_costs_what_its_own_devices_sustain() -> None:
    """An hour on eight P100, then half an hour on one processor that was measured."""
    sessions = [
        session("Tesla P100-SXM2-16GB", 8, 3600.0, 9.5, "paper"),
        session("some CPU", 1, 1800.0, 0.1, "measured"),
    ]
    cost = run_cost(sessions, load_settings("base"))
    assert cost.paper_flops == pytest.approx(3600 * 8 * 9.5e12 + 1800 * 0.1e12)
    assert (cost.costs.flops, cost.costs.training_s) == (14_000, 5400.0)
    assert (cost.device, cost.n_devices, cost.tflops) == ("some CPU", 1, 0.1)


def test_a_known_gpu_is_rated_by_its_name_unless_something_is_declared() -> None:
    name = "NVIDIA A100-SXM4-80GB"
    measured = run_cost(
        [session(name, 2, 10.0, 250.0, "measured")], load_settings("base", ["train.precision=bfloat16"])
    )
    assert measured.paper_flops == pytest.approx(10 * 2 * 0.9 * 312e12)
    declared = run_cost([session(name, 2, 10.0, 100.0, "declared")], load_settings("base"))
    assert declared.paper_flops == pytest.approx(10 * 2 * 100e12)
    assert declared.tflops_source == "train.device_tflops"
