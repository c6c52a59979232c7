"""Builds a layer, or a stack of layers, of the type that is asked for, and counts its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from torch import nn

from transduce.model.baselines.convolution import Convolution
from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Lstm, Recurrent
from transduce.model.baselines.restricted import RestrictedSelfAttention
from transduce.model.baselines.self_attention import ProjectedSelfAttention, SelfAttention

__all__ = ["LAYER_KINDS", "LayerKind", "LayerSizes", "build_layer", "build_stack", "multiply_adds"]

LayerKind = Literal[
    "self-attention",
    "recurrent",
    "convolution",
    "dilated convolution",
    "restricted self-attention",
    "projected self-attention",
    "LSTM",
]
"""The five types of Table 1 as it counts them, then two as translators use them: with all their matrices."""

LAYER_KINDS: tuple[LayerKind, ...] = get_args(LayerKind)


@dataclass(frozen=True)
class LayerSizes:
    """The sizes of Table 1, all but the number of positions."""

    d_model: int = 512
    """d: width of inputs and outputs."""
    kernel: int = 3
    """k: positions that one output of a convolution reads."""
    neighbourhood: int = 15
    """r: positions that one position of restricted self-attention reads."""
    n_heads: int = 8
    """Heads of self-attention with projections; they change no count."""


def build_layer(kind: LayerKind, sizes: LayerSizes, *, direction: Direction = "both", depth: int = 0) -> nn.Module:
    """Build one layer ``[b, n, d_model] -> [b, n, d_model]`` with random weights.

    Args:
        kind: The type.
        sizes: Its sizes.
        direction: What a position reads; recurrent layers read earlier positions whatever it says.
        depth: The layer's place in its stack, from 0: a dilated convolution there has the dilation k ** depth.

    Raises:
        SettingsError: The kernel or the neighbourhood does not fit the direction.
    """
    match kind:
        case "self-attention":
            return SelfAttention(direction)
        case "projected self-attention":
            return ProjectedSelfAttention(sizes.d_model, sizes.n_heads, direction)
        case "restricted self-attention":
            return RestrictedSelfAttention(sizes.neighbourhood, direction)
        case "recurrent":
            return Recurrent(sizes.d_model)
        case "LSTM":
            return Lstm(sizes.d_model)
        case "convolution":
            return Convolution(sizes.d_model, sizes.kernel, 1, direction)
        case "dilated convolution":
            return Convolution(sizes.d_model, sizes.kernel, sizes.kernel**depth, direction)


def build_stack(kind: LayerKind, sizes: LayerSizes, n_layers: int, *, direction: Direction) -> nn.Sequential:
    """Build a stack of layers of one type, each reading the one below. Dilations are 1, k, k * k and so on.

    >>> [layer.dilation for layer in build_stack("dilated convolution", LayerSizes(4), 3, direction="causal")]
    [1, 3, 9]
    """
    return nn.Sequential(*(build_layer(kind, sizes, direction=direction, depth=depth) for depth in range(n_layers)))


def multiply_adds(kind: LayerKind, sizes: LayerSizes, n: int) -> int:
    """Count the multiply-adds of all matrix products of a layer as it is built here, for one sentence, forward.

    Products with the zeros beyond the ends of the sentence are done and counted. What is not a matrix product (softmax,
    tanh, gates, biases) is not counted. What the paper's table counts of the same layers:
    :func:`transduce.paper.table1.table_operations`.

    Args:
        kind: The type.
        sizes: Its sizes.
        n: Number of positions.

    >>> sizes = LayerSizes(d_model=512)
    >>> [multiply_adds(kind, sizes, 50) for kind in ("self-attention", "recurrent", "convolution")]
    [2560000, 13107200, 39321600]
    """
    d, r = sizes.d_model, sizes.neighbourhood
    match kind:
        case "self-attention":
            return 2 * n * n * d
        case "projected self-attention":
            return 4 * n * d * d + 2 * n * n * d
        case "restricted self-attention":
            n_blocks = -(-n // r)
            return 2 * n_blocks * r * (2 * r - 1) * d
        case "recurrent":
            return n * d * d
        case "LSTM":
            return 8 * n * d * d
        case "convolution" | "dilated convolution":
            return sizes.kernel * n * d * d
