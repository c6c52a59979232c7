"""Paths and sequential steps, measured. The worked examples: 50 tokens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from transduce.model.baselines.build import LAYER_KINDS, LayerKind, LayerSizes, build_layer, build_stack
from transduce.model.baselines.connections import (
    connected_positions,
    layers_to_connect,
    products_in_a_row,
    transitions_between,
)
from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Recurrent
from transduce.model.baselines.restricted import neighbours

SIZES = LayerSizes(d_model=4, kernel=3, neighbourhood=11, n_heads=2)


def stacks(kind: LayerKind, direction: Direction) -> Callable[[int], nn.Module]:
    torch.manual_seed(1)
    return lambda n_layers: build_stack(kind, SIZES, n_layers, direction=direction).double()


@pytest.mark.parametrize(
    ("kind", "direction", "expected"),
    [
        ("self-attention", "causal", 1),
        ("self-attention", "both", 1),
        ("projected self-attention", "both", 1),
        # Position 49 is 49 away from 0. Width 3 reads 2 back, or 1 on either side: 24.5 and 49 layers.
        ("convolution", "causal", 25),
        ("convolution", "both", 49),
        # Dilations 1, 3, 9, 27: back 2 (1 + 3 + 9 + 27) = 80, and 26 without the last.
        ("dilated convolution", "causal", 4),
        # From 0 to 2 it would be 3 forward and 1 back, but the first layer would have to read position -1.
        ("dilated convolution", "both", None),
        # 11 positions: 10 back, or 5 on either side.
        ("restricted self-attention", "causal", 5),
        ("restricted self-attention", "both", 10),
    ],
)
def test_layers_between_50_tokens(kind: LayerKind, direction: Direction, expected: int | None) -> None:
    assert layers_to_connect(stacks(kind, direction), 50, 4, direction) == expected


def test_transitions_between_50_tokens() -> None:
    torch.manual_seed(1)
    assert transitions_between(Recurrent(4).double(), 50, 4) == 49


@pytest.mark.parametrize(("kind", "window"), [("restricted self-attention", 11), ("convolution", 3)])
@pytest.mark.parametrize("direction", ["causal", "both"])
def test_one_layer_connects_a_neighbourhood(kind: LayerKind, window: int, direction: Direction) -> None:
    layer = build_layer(kind, SIZES, direction=direction).double()
    assert torch.equal(connected_positions(layer, 23, 4), neighbours(23, window, direction))


@pytest.mark.parametrize("kind", ["recurrent", "LSTM"])
def test_a_recurrence_connects_forward_in_time_only(kind: LayerKind) -> None:
    layer = build_layer(kind, SIZES).double()
    assert torch.equal(connected_positions(layer, 9, 4), torch.ones(9, 9, dtype=torch.bool).tril())


def test_positions_that_nothing_connects() -> None:
    assert layers_to_connect(lambda n_layers: nn.Identity(), 5, 2, "both") is None
    assert layers_to_connect(lambda n_layers: nn.Identity(), 1, 2, "both") == 1
    assert [layers_to_connect(stacks("dilated convolution", "both"), n, 4, "both") for n in (2, 3)] == [1, None]


@pytest.mark.parametrize("kind", LAYER_KINDS)
@pytest.mark.parametrize("n", [6, 50])
def test_products_that_wait_for_one_another(kind: LayerKind, n: int) -> None:
    layer = build_layer(kind, SIZES).double()
    chain = products_in_a_row(layer(torch.ones(1, n, 4, dtype=torch.float64, requires_grad=True)))
    match kind:
        case "recurrent" | "LSTM":  # the product of all inputs of an LSTM stands beside the first of its state
            assert chain == n
        case "projected self-attention":
            assert chain == 3  # projections, the fused attention, projection of the output
        case _:
            assert chain == 1


def test_a_graph_without_products() -> None:
    x = torch.ones(2, requires_grad=True)
    assert products_in_a_row(x + x) == 0
    assert products_in_a_row(torch.ones(2)) == 0
