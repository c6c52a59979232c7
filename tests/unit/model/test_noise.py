"""Dropout as a pure function of step, pair, position and place."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from transduce.model.noise import Dropout, Noise, drop_threshold, noise_key, philox

ZERO = torch.zeros((), dtype=torch.int64)
ONES = torch.full((), 0xFFFFFFFF)
PI = tuple(torch.tensor(word) for word in (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344))


@pytest.mark.parametrize(
    ("counters", "key", "n_rounds", "words"),
    [  # the known answers that the authors of Philox published with it
        ((ZERO,) * 4, (0, 0), 7, "5f6fb709 0d893f64 4f121f81 4f730a48"),
        ((ONES,) * 4, (0xFFFFFFFF, 0xFFFFFFFF), 7, "5207ddc2 45165e59 4d8ee751 8c52f662"),
        (PI, (0xA4093822, 0x299F31D0), 7, "4dfccaba 190a87f0 c47362ba b6b5242a"),
        ((ZERO,) * 4, (0, 0), 10, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES,) * 4, (0xFFFFFFFF, 0xFFFFFFFF), 10, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (PI, (0xA4093822, 0x299F31D0), 10, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox_gives_the_known_answers(
    counters: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[int, int], n_rounds: int, words: str
) -> None:
    assert " ".join(f"{int(word):08x}" for word in philox(counters, torch.tensor(key), n_rounds)) == words


def noise(numbers: list[int], key: tuple[int, int] = (3, 4)) -> Noise:
    return Noise.of(key, torch.tensor(numbers))


@settings(deadline=None, max_examples=25)
@given(width=st.integers(1, 300), n_positions=st.integers(1, 5), site=st.integers(0, 70_000))
def test_each_number_is_decided_by_the_bits_that_are_written_down(width: int, n_positions: int, site: int) -> None:
    kept = noise([9]).keep(site, n_positions, width, 30_000)
    for t in range(n_positions):
        for j in {0, width // 2, width - 1}:
            q, block = j % 128 // 16, 16 * (j // 128) + j % 16
            counters = tuple(torch.tensor(word) for word in (block, t, 9, site))
            word = int(philox(counters, torch.tensor((3, 4)))[q // 2])  # type: ignore[arg-type]
            assert bool(kept[0, t, j]) == ((word >> 16 * (q % 2) & 0xFFFF) >= 30_000)


def test_a_pair_drops_the_same_whatever_stands_beside_it() -> None:
    x = torch.randn(3, 7, 20)
    together = noise([4, 0, 9]).drop(x, 0.3, site=2)
    alone = noise([9]).drop(x[2:, :5], 0.3, site=2)
    assert torch.equal(together[2:, :5], alone)  # less padding too


def test_steps_sites_pairs_positions_and_heads_differ() -> None:
    weights = torch.ones(2, 2, 40, 40)
    dropped = noise([0, 1]).drop_weights(weights, 0.5, site=1)
    others = [
        noise([0, 1], noise_key(1, 2)).drop_weights(weights, 0.5, site=1),
        noise([0, 1]).drop_weights(weights, 0.5, site=2),
    ]
    masks = [dropped[0, 0], dropped[0, 1], dropped[1, 0], dropped[0, 0].T, *(other[0, 0] for other in others)]
    for i, one in enumerate(masks):
        for other in masks[:i]:
            # Independent masks at p = 0.5 agree in half of 1,600 places, give or take 20: this is ten times that.
            assert 600 < int((one == other).sum()) < 1000


def test_share_and_scale_of_what_is_kept() -> None:
    x = torch.ones(50, 40, 100)
    dropped = noise(list(range(50))).drop(x, 0.1, site=0)
    # Of 200,000 numbers a tenth is dropped, give or take 134 (one standard deviation); five of those never happen.
    assert abs(int((dropped == 0).sum()) - 20_000) < 5 * 134
    assert dropped.max() == pytest.approx(65536 / (65536 - 6554))  # 6554 = round(0.1 * 65536)
    assert drop_threshold(0.1) == 6554


def test_keys_of_neighbouring_steps_and_seeds_differ() -> None:
    keys = {noise_key(seed, step) for seed in (-1, 0, 1, 2) for step in (0, 1, 2)}
    assert len(keys) == 12
    assert noise_key(1, 2) == noise_key(1, 2)


def test_without_noise_torch_draws_and_in_evaluation_nothing_is_dropped() -> None:
    dropout, x = Dropout(0.5), torch.ones(1, 10, 10)
    assert not torch.equal(dropout(x), dropout(x))
    with noise([0]).active(dropout):
        assert torch.equal(dropout(x), dropout(x))
        dropout.eval()
        assert torch.equal(dropout(x), x)
    dropout.train()
    assert not torch.equal(dropout(x), dropout(x))  # the noise has ended with its block
