"""The weights by name: each public name is read, in every kind of model, and is of the size that will be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parity.engines import random_model
from transduce.model.build import export_weights
from transduce.native.weights import Shape, ordered_names, ordered_weights

NAMES = set((Path(__file__).parents[2] / "golden" / "parameter_names.txt").read_text(encoding="utf-8").split())
"""Of a model of one layer a side that has everything: no tied matrices, learned positions, last norms."""

# tests/parity/engines.py: "odd", for a vocabulary of 12
ODD = Shape(38, 51, 5, 7, 3, 1, 2, 12, 12, pre_norm=True, n_positions=0)


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("n_positions", [0, 7])
def test_every_public_name_is_read(tie: str, pre_norm: bool, n_positions: int) -> None:
    shape = Shape(16, 32, 2, 8, 8, 1, 1, 12, 12, pre_norm, n_positions)
    absent = {
        "all": {"tgt_embedding.weight", "output.weight"},
        "decoder": {"output.weight"},
        "none": set(),
    }[tie]
    if not pre_norm:
        absent |= {"encoder.norm.weight", "encoder.norm.bias", "decoder.norm.weight", "decoder.norm.bias"}
    if not n_positions:
        absent |= {"encoder.positions.weight", "decoder.positions.weight"}
    names = ordered_names(shape, tie)
    assert set(names) == NAMES - absent
    shared = {"all": "src_embedding.weight", "decoder": "tgt_embedding.weight"}.get(tie)
    assert len(names) == len(set(names)) + {"all": 2, "decoder": 1, "none": 0}[tie]  # what is tied comes again
    assert all(names.count(name) == 1 for name in names if name != shared)


def test_layers_come_one_after_the_other() -> None:
    names = ordered_names(Shape(16, 32, 2, 8, 8, 2, 3, 12, 12, pre_norm=False, n_positions=0), "all")
    layers = [name.split(".layers.") for name in names if ".layers." in name]
    order = list(dict.fromkeys(f"{stack} {rest.split('.')[0]}" for stack, rest in layers))
    assert order == ["encoder 0", "encoder 1", "decoder 0", "decoder 1", "decoder 2"]


def test_a_model_of_odd_widths_fits_its_shape() -> None:
    weights = export_weights(random_model("odd"))
    ordered = ordered_weights(ODD, "decoder", weights)
    for name, array in zip(ordered_names(ODD, "decoder"), ordered, strict=True):
        assert np.array_equal(array, weights[name])
        assert array.dtype == np.float32 and array.flags.c_contiguous


def test_arrays_of_another_layout_are_put_in_order() -> None:
    weights = export_weights(random_model("odd"))
    other = {name: np.asfortranarray(array) for name, array in weights.items()}
    for a, b in zip(ordered_weights(ODD, "decoder", other), ordered_weights(ODD, "decoder", weights), strict=True):
        assert a.flags.c_contiguous and np.array_equal(a, b)


@pytest.mark.parametrize("name", sorted(set(ordered_names(ODD, "decoder"))))
def test_a_weight_of_another_size_is_named(name: str) -> None:
    weights = export_weights(random_model("odd"))
    full = weights[name].size
    weights[name] = weights[name].reshape(-1)[1:]
    with pytest.raises(ValueError, match=rf"^'{name}' has the shape \[{full - 1}\]; it should have {full:,} numbers$"):
        ordered_weights(ODD, "decoder", weights)
    del weights[name]
    with pytest.raises(ValueError, match=rf"^'{name}' is missing; it should have {full:,} numbers$"):
        ordered_weights(ODD, "decoder", weights)
