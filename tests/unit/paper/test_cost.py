from __future__ import annotations

import pytest

from transduce.paper.cost import SUSTAINED_SHARE, cost_per_point, rate_device, training_flops
from transduce.paper.numbers import TABLE2, find_system
from transduce.paper.runs import TABLE3
from transduce.pipeline.recipes import load_settings

DAY_S = 24 * 3600


def test_base_and_big_cost_what_table_2_prints() -> None:
    """Half a day and three and a half days on eight P100; the printed numbers have two digits."""
    rating = rate_device("Tesla P100-SXM2-16GB", "float32")
    assert rating is not None
    base, big = (training_flops(days * DAY_S, 8, rating.tflops) for days in (0.5, 3.5))
    assert f"{base:.1e}" == f"{find_system('Transformer (base)').cost_en_de:.1e}"
    assert f"{big:.1e}" == f"{find_system('Transformer (big)').cost_en_de:.1e}"


def test_the_best_ensemble_costs_52_times_the_big_model() -> None:
    ensemble = next(row for row in TABLE2 if row.system == "ConvS2S Ensemble")
    assert (ensemble.cost_en_fr or 0) / (find_system("Transformer (big)").cost_en_fr or 1) == pytest.approx(52, abs=0.5)


def test_tokens_of_a_run() -> None:
    base, big = (load_settings("base", TABLE3[name].overrides).train for name in ("base", "big"))
    assert (base.n_steps * base.batch_tokens, big.n_steps * big.batch_tokens) == (2_500_000_000, 7_500_000_000)


@pytest.mark.parametrize(
    ("name", "tflops"), [("Tesla K80", 2.8), ("Tesla K40m", 3.7), ("Tesla M40", 6.0), ("Tesla P100-PCIE-16GB", 9.5)]
)
def test_the_papers_gpus_are_rated_as_in_its_footnote(name: str, tflops: float) -> None:
    rating = rate_device(name, "float32")
    assert rating is not None and rating.tflops == tflops
    assert rating.source == "the paper's footnote 5"


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA A100-SXM4-80GB", 312.0),
        ("NVIDIA H100 80GB HBM3", 989.4),
        ("NVIDIA H100 PCIe", 756.0),
        ("NVIDIA H200", 989.4),
        ("NVIDIA H100 NVL", 835.5),
        ("Tesla V100-PCIE-16GB", 14.0),
        ("Tesla V100-SXM2-16GB", 15.7),  # it has no units for bfloat16: float32
    ],
)
def test_later_gpus_are_rated_by_their_data_sheets(name: str, peak: float) -> None:
    rating = rate_device(name, "bfloat16")
    assert rating is not None
    assert rating.tflops == pytest.approx(SUSTAINED_SHARE * peak, abs=0.005)  # rounded to two digits
    assert f"{peak:g}" in rating.source


@pytest.mark.parametrize("name", ["Quadro M4000", "Quadro K4000", "NVIDIA GeForce RTX 4090", "AMD EPYC"])
def test_other_devices_are_not_rated_by_name(name: str) -> None:
    assert rate_device(name, "float32") is None


def test_the_share_is_that_of_the_papers_p100() -> None:
    assert pytest.approx(9.5 / 10.6, abs=0.005) == SUSTAINED_SHARE  # the peak of its data sheet, single precision


@pytest.mark.parametrize("name", ["Intel(R) Xeon(R) Processor", "AMD EPYC 7763", "NVIDIA Unheard 3000"])
def test_what_is_not_known_is_not_rated(name: str) -> None:
    assert rate_device(name, "float32") is None


def test_no_point_of_bleu_has_no_cost() -> None:
    assert cost_per_point(1e18, 0.0) is None
