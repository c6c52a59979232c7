"""The layers of Table 1 = slower or plainer ways to the same numbers, forward and gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from transduce.model.attention import attention, attention_weights
from transduce.model.baselines.convolution import Convolution
from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Lstm, Recurrent
from transduce.model.baselines.restricted import RestrictedSelfAttention, neighbours
from transduce.model.baselines.self_attention import ProjectedSelfAttention, SelfAttention

D = 6
ATOL = 1e-11
"""float64: only the order of sums of some dozen terms of size 1 differs."""


def sentences(n: int) -> Tensor:
    generator = torch.Generator().manual_seed(n)
    return torch.randn(2, n, D, dtype=torch.float64, generator=generator, requires_grad=True)


def assert_same(one: Tensor, other: Tensor, x: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=ATOL)
    weights = torch.linspace(-1, 1, one.numel(), dtype=torch.float64).view_as(one)
    gradients = [torch.autograd.grad((y * weights).sum(), x)[0] for y in (one, other)]
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0, atol=ATOL)


@given(n=st.integers(1, 40), half=st.integers(0, 6), direction=st.sampled_from(["causal", "both"]))
def test_blocks_are_masked_attention(n: int, half: int, direction: Direction) -> None:
    x, r = sentences(n), 2 * half + 1
    head = x.unsqueeze(1)
    masked = attention(head, head, head, neighbours(n, r, direction)[None, None]).squeeze(1)
    assert_same(RestrictedSelfAttention(r, direction)(x), masked, x)


@pytest.mark.parametrize("direction", ["causal", "both"])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_neighbourhood_of_everything_is_full_attention(n: int, direction: Direction) -> None:
    x = sentences(n)
    r = n if direction == "causal" else 2 * n - 1
    assert_same(RestrictedSelfAttention(r, direction)(x), SelfAttention(direction)(x), x)


def test_self_attention_is_the_formula() -> None:
    x = sentences(7)
    assert_same(SelfAttention("both")(x), attention_weights(x, x) @ x, x)
    later = torch.ones(7, 7, dtype=torch.bool).tril()
    assert_same(SelfAttention("causal")(x), attention_weights(x, x, later) @ x, x)


def test_projections_of_nothing_but_ones_are_no_projections() -> None:
    x, layer = sentences(7), ProjectedSelfAttention(D, 1).double()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.copy_(torch.eye(D) if name.endswith("weight") else torch.zeros(D))
    assert_same(layer(x), SelfAttention()(x), x)


def test_a_dilation_of_1_is_the_plain_convolution_of_torch() -> None:
    x = sentences(8)
    layer, plain = Convolution(D, 3, 1).double(), nn.Conv1d(D, D, 3, padding=1).double()
    plain.load_state_dict(layer.conv.state_dict())
    assert_same(layer(x), plain(x.transpose(1, 2)).transpose(1, 2), x)


@given(n=st.integers(1, 12), dilation=st.integers(1, 4), direction=st.sampled_from(["causal", "both"]))
def test_a_convolution_is_a_sum_over_shifted_positions(n: int, dilation: int, direction: Direction) -> None:
    x, layer = sentences(n), Convolution(D, 3, dilation, direction).double()
    first = -2 * dilation if direction == "causal" else -dilation
    assert layer.conv.bias is not None
    total = layer.conv.bias.expand(2, n, D)
    for tap in range(3):
        total = total + shifted(x, first + tap * dilation) @ layer.conv.weight[:, :, tap].T
    assert_same(layer(x), total, x)


def shifted(x: Tensor, by: int) -> Tensor:
    """Row t of the answer is row t + by of x, or zero where there is none."""
    n = x.shape[1]
    rows = [x[:, t + by] if 0 <= t + by < n else torch.zeros_like(x[:, 0]) for t in range(n)]
    return torch.stack(rows, dim=1)


def test_the_recurrence_is_that_of_torch() -> None:
    x, layer = sentences(9), Recurrent(D).double()
    plain = nn.RNN(D, D, batch_first=True, bias=False).double()
    with torch.no_grad():
        layer.start.uniform_(-1, 1)
    plain.load_state_dict({"weight_ih_l0": torch.eye(D), "weight_hh_l0": layer.weight.detach().T})
    assert_same(layer(x), plain(x, layer.start.detach().expand(1, 2, D).contiguous())[0], x)


def test_the_lstm_is_its_equations() -> None:
    x, layer = sentences(5), Lstm(D).double()
    weights = dict(layer.lstm.named_parameters())
    state, cell = torch.zeros(2, D, dtype=torch.float64), torch.zeros(2, D, dtype=torch.float64)
    states = []
    for x_t in x.unbind(1):
        gates = x_t @ weights["weight_ih_l0"].T + weights["bias_ih_l0"]
        gates = gates + state @ weights["weight_hh_l0"].T + weights["bias_hh_l0"]
        into, forget, fresh, out = gates.chunk(4, dim=1)
        cell = forget.sigmoid() * cell + into.sigmoid() * fresh.tanh()
        state = out.sigmoid() * cell.tanh()
        states.append(state)
    assert_same(layer(x), torch.stack(states, dim=1), x)
