"""The positional encoding: that a step of k positions is a rotation, in numbers and as a page. Paper: section 3.5."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.positions import SinusoidalPositions, sinusoidal_table
from transduce.paper.page import encode_signed, fill_page

__all__ = ["RotationCheck", "check_rotation", "check_rotations", "positions_page", "rotate_positions"]

_SHOWN = 128
"""Positions on the page."""
_STEPS = (1, 2, 5, 10, 50, 100)


@dataclass(frozen=True)
class RotationCheck:
    """How far PE(pos + k) is from the rotation of PE(pos), at most, over all positions and dimensions."""

    k: int
    """Positions between the two."""
    deviation: float
    """In float64, in which the table is computed."""
    deviation_float32: float
    """Of the table that the model adds, in float32."""


def rotate_positions(table: Float[Tensor, "n d_model"], k: int) -> Float[Tensor, "n d_model"]:
    """Turn positional encodings by what ``k`` positions are: each pair of sine and cosine by its own angle.

    sin(a + b) = sin a cos b + cos a sin b and cos(a + b) = cos a cos b - sin a sin b, where b = k / 10000^(2i / d_model)
    does not depend on the position: one matrix for all of them, which "may allow the model to easily learn to attend by
    relative positions".

    Args:
        table: Encodings of any positions.
        k: How many positions to go on; below 0: back.

    Paper: section 3.5.

    >>> table = sinusoidal_table(8, 4)
    >>> torch.allclose(rotate_positions(table[:5], 3), table[3:])
    True
    """
    d_model = table.shape[1]
    angles = k * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sines, cosines = table.double()[:, 0::2], table.double()[:, 1::2]
    turned = [sines * angles.cos() + cosines * angles.sin(), cosines * angles.cos() - sines * angles.sin()]
    return torch.stack(turned, dim=-1).flatten(1)


def check_rotation(n_positions: int, d_model: int, k: int) -> RotationCheck:
    """Compute how well the rotation holds.

    Args:
        n_positions: Positions 0 to this one are turned.
        d_model: Width, an even number.
        k: How many positions to go on.
    """
    exact = sinusoidal_table(n_positions + k, d_model)
    added = SinusoidalPositions(d_model).table(n_positions + k)[: n_positions + k].double()
    deviations = [(rotate_positions(table[:n_positions], k) - table[k:]).abs().max() for table in (exact, added)]
    return RotationCheck(k, float(deviations[0]), float(deviations[1]))


def check_rotations(d_model: int = 512) -> list[RotationCheck]:
    """Return the checks that stand on the page, for several steps of positions."""
    return [check_rotation(_SHOWN, d_model, k) for k in _STEPS]


def positions_page(d_model: int = 512) -> str:
    """Return the page: the heat map, the rotation of each pair of dimensions, and how well it holds.

    Args:
        d_model: Width, an even number.
    """
    table = sinusoidal_table(_SHOWN, d_model)
    products = table @ table.T / (d_model / 2)  # [n, n]; every encoding has length sqrt(d_model / 2)
    data = {
        "n": _SHOWN,
        "d_model": d_model,
        "table": encode_signed(table),
        "periods": [round(2 * math.pi * 10000.0 ** (2 * i / d_model), 4) for i in range(d_model // 2)],
        "checks": [[check.k, check.deviation, check.deviation_float32] for check in check_rotations(d_model)],
        "products": [round(float(products[_SHOWN // 2, other]), 5) for other in range(_SHOWN)],
    }
    return fill_page("positions", f"Positional encoding, d_model {d_model}", data)
