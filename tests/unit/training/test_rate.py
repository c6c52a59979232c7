from __future__ import annotations

import pytest
import torch

from transduce.training.rate import device_rate

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "tflops"), [("Tesla K80", 2.8), ("Tesla K40m", None), ("Tesla M40", 6.0), ("Tesla P100-SXM2-16GB", 9.5)]
)
def test_the_gpus_of_the_paper_have_its_numbers(name: str, tflops: float | None) -> None:
    """Footnote 5: 2.8, 3.7, 6.0 and 9.5 TFLOP/s for K80, K40, M40 and P100. K40m is sold as a K40, too."""
    rate = device_rate(CPU, name, declared_tflops=None)
    assert (rate.tflops, rate.source) == (tflops or 3.7, "paper")


def test_a_declared_rate_comes_first() -> None:
    assert device_rate(CPU, "Tesla P100", declared_tflops=7.0).source == "declared"


def test_other_devices_are_measured_without_drawing_random_numbers() -> None:
    before = torch.get_rng_state()
    rate = device_rate(CPU, "some processor", declared_tflops=None)
    assert rate.source == "measured"
    assert rate.tflops > 0
    assert torch.equal(before, torch.get_rng_state())
