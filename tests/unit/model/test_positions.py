from __future__ import annotations

import math

import pytest
import torch

from transduce.base.errors import SettingsError
from transduce.model.positions import LearnedPositions, SinusoidalPositions, sinusoidal_table


def test_worked_example_of_the_paper() -> None:
    table = sinusoidal_table(2, 512)
    assert table[0].tolist() == [0.0, 1.0] * 256
    assert table[1, :2].tolist() == pytest.approx([math.sin(1), math.cos(1)])
    assert table[1, :2].tolist() == pytest.approx([0.841, 0.540], abs=5e-4)
    last_sine = table[1, 510].item()
    assert 1 / math.asin(last_sine) == pytest.approx(9647, abs=1)  # the divisor of the last pair, i = 255
    assert last_sine == pytest.approx(0.0001, abs=5e-5)


def test_a_step_of_k_positions_is_one_rotation_everywhere() -> None:
    table, k = sinusoidal_table(40, 16), 7
    angles = k / 10000 ** (torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    sine, cosine = table[:-k, 0::2], table[:-k, 1::2]
    # float64 sines of angles up to 40
    torch.testing.assert_close(table[k:, 0::2], sine * angles.cos() + cosine * angles.sin(), rtol=0, atol=1e-12)
    torch.testing.assert_close(table[k:, 1::2], cosine * angles.cos() - sine * angles.sin(), rtol=0, atol=1e-12)


def test_the_table_grows_and_parts_equal_the_whole() -> None:
    positions = SinusoidalPositions(6)
    x = torch.zeros(1, 700, 6)
    whole = positions(x, 0)[0]
    assert torch.equal(whole, sinusoidal_table(700, 6).float())
    assert torch.equal(SinusoidalPositions(6)(x[:, :1], 699)[0], whole[699:])
    assert positions.max_tokens is None
    assert positions.state_dict() == {}


def test_the_table_follows_the_precision_of_its_input() -> None:
    positions = SinusoidalPositions(6)
    positions(torch.zeros(1, 3, 6), 0)
    assert torch.equal(positions(torch.zeros(1, 3, 6, dtype=torch.float64), 0)[0], sinusoidal_table(3, 6))


def test_a_table_made_while_translating_serves_training() -> None:
    positions = SinusoidalPositions(4)
    with torch.inference_mode():
        positions(torch.zeros(1, 3, 4), 0)
    x = torch.zeros(1, 3, 4, requires_grad=True)
    torch.autograd.backward(positions(x, 0).sum())
    assert x.grad is not None and x.grad.eq(1).all()


def test_learned_positions_are_looked_up_and_end() -> None:
    positions = LearnedPositions(5, 4)
    torch.nn.init.normal_(positions.weight)
    x = torch.zeros(2, 3, 4)
    assert torch.equal(positions(x, 2)[1], positions.weight[2:5])
    assert positions.max_tokens == 5
    with pytest.raises(SettingsError, match=r"a sentence of 6 tokens has no place in a model with 5 learned positions"):
        positions(x, 3)
