"""Which weights the native engine reads, and in which order: the C++ side of this is ``Binder::walk`` in ``src/model.cpp``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["NamedWeights", "NativePrecision", "OrderedWeights", "Shape", "ordered_names", "ordered_weights"]

NativePrecision = Literal["float32", "int8"]
"""The numbers that matrix products work on."""
NamedWeights = Mapping[str, npt.NDArray[np.float32]]
"""By their public names."""
OrderedWeights = Sequence[npt.NDArray[np.float32]]
"""In the library's order."""


class Shape(NamedTuple):
    """What the settings of a model come to, as numbers; ``struct Shape`` of ``src/model.h``, in its order."""

    d_model: int
    d_ff: int
    n_heads: int
    d_k: int
    d_v: int
    n_encoder_layers: int
    n_decoder_layers: int
    src_vocab: int
    tgt_vocab: int
    pre_norm: bool
    """True: normalization before each sublayer and a last one. False: after (the paper)."""
    n_positions: int
    """Learned positions; 0: sinusoidal ones, any number."""


def ordered_names(shape: Shape, tie: str) -> list[str]:
    """Return the public names of the weights in the order in which the library reads them.

    Args:
        shape: Of the model.
        tie: ``all``, ``decoder`` or ``none``, as in ``model.tie_embeddings``: tied matrices are named more than once.
    """
    tgt_embedding = "src_embedding.weight" if tie == "all" else "tgt_embedding.weight"
    output = "output.weight" if tie == "none" else tgt_embedding
    names = ["src_embedding.weight", tgt_embedding, output]
    if shape.n_positions:
        names += ["encoder.positions.weight", "decoder.positions.weight"]
    for i in range(shape.n_encoder_layers):
        names += _sublayers(f"encoder.layers.{i}", ["self_attention", "feed_forward"])
    for i in range(shape.n_decoder_layers):
        names += _sublayers(f"decoder.layers.{i}", ["self_attention", "cross_attention", "feed_forward"])
    if shape.pre_norm:
        names += [f"{stack}.norm.{part}" for stack in ("encoder", "decoder") for part in ("weight", "bias")]
    return names


def _sublayers(layer: str, sublayers: list[str]) -> Iterator[str]:
    for sublayer in sublayers:
        linears = ("in_proj", "out_proj") if sublayer == "feed_forward" else ("q_proj", "k_proj", "v_proj", "out_proj")
        for linear in linears:
            yield from (f"{layer}.{sublayer}.{linear}.weight", f"{layer}.{sublayer}.{linear}.bias")
        yield from (f"{layer}.{sublayer}_norm.weight", f"{layer}.{sublayer}_norm.bias")


def ordered_weights(shape: Shape, tie: str, weights: NamedWeights) -> list[npt.NDArray[np.float32]]:
    """Return the weights in the library's order, each of the size that it will read.

    Raises:
        ValueError: One is missing, or has another size; the message names it.
    """
    found = []
    for name in ordered_names(shape, tie):
        expected = _size(name, shape)
        array = weights.get(name)
        if array is None or array.size != expected:
            size = "is missing" if array is None else f"has the shape {list(array.shape)}"
            raise ValueError(f"'{name}' {size}; it should have {expected:,} numbers")
        found.append(np.ascontiguousarray(array, dtype=np.float32))
    return found


def _size(name: str, shape: Shape) -> int:
    """Return how many numbers a weight has: the product of the widths at its two sides, or one of them for a bias."""
    owner, _, kind = name.rpartition(".")
    if owner.endswith("embedding") or owner == "output":
        return (shape.src_vocab if owner == "src_embedding" else shape.tgt_vocab) * shape.d_model
    if owner.endswith("positions"):
        return shape.n_positions * shape.d_model
    if owner.endswith("norm"):
        return shape.d_model
    keys, values = shape.n_heads * shape.d_k, shape.n_heads * shape.d_v
    part = ".".join(owner.split(".")[-2:])
    inputs, outputs = {
        "feed_forward.in_proj": (shape.d_model, shape.d_ff),
        "feed_forward.out_proj": (shape.d_ff, shape.d_model),
    }.get(part) or {
        "q_proj": (shape.d_model, keys),
        "k_proj": (shape.d_model, keys),
        "v_proj": (shape.d_model, values),
        "out_proj": (values, shape.d_model),
    }[owner.split(".")[-1]]
    return outputs if kind == "bias" else inputs * outputs
