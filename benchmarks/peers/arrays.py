"""Reads the weights of a bundle with numpy alone, in environments where nothing of this project is installed."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Shape", "Weights", "position_table", "read_bundle_arrays"]

Array = npt.NDArray[np.float32]
Weights = dict[str, Array]


@dataclass(frozen=True)
class Shape:
    """What a peer has to know of a model. All have pre-norm layers and one matrix for all embeddings."""

    n_encoder_layers: int
    n_decoder_layers: int
    d_model: int
    d_ff: int
    n_heads: int
    vocab_size: int


def read_bundle_arrays(directory: Path) -> tuple[Shape, Weights]:
    """Return the shape and the weights of a bundle."""
    with (directory / "model.safetensors").open("rb") as stream:
        header: dict[str, Any] = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
        data = stream.read()
    weights: Weights = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            # A copy: converters change arrays in place.
            weights[name] = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"]).copy()
    model = json.loads((directory / "bundle.json").read_text(encoding="utf-8"))["model"]
    if (model["norm"], model["tie_embeddings"]) != ("pre", "all"):
        raise SystemExit(f"{directory}: the peers are set up for norm = 'pre' and tie_embeddings = 'all'")
    shape = Shape(
        n_encoder_layers=model["n_encoder_layers"],
        n_decoder_layers=model["n_decoder_layers"],
        d_model=model["d_model"],
        d_ff=model["d_ff"],
        n_heads=model["n_heads"],
        vocab_size=len(weights["src_embedding.weight"]),
    )
    return shape, weights


def position_table(weights: Weights, side: str, n_positions: int, d_model: int) -> Array:
    """Return the vectors of the first positions: the learned ones, or sines and cosines.

    Args:
        weights: From :func:`read_bundle_arrays`.
        side: ``encoder`` or ``decoder``.
        n_positions: Rows; after the last learned one they are zeros.
        d_model: Width.
    """
    learned = weights.get(f"{side}.positions.weight")
    if learned is not None:
        padding = np.zeros((max(0, n_positions - len(learned)), d_model), dtype=np.float32)
        return np.concatenate([learned, padding])[:n_positions]
    angles = np.arange(n_positions)[:, None] * np.exp(np.arange(0, d_model, 2) * (-math.log(10000) / d_model))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_positions, d_model).astype(np.float32)
