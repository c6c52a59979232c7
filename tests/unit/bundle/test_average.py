"""Averages over bundles: in float32 or wider whatever they are stored in, and tied matrices once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.base.files import sha256_file
from transduce.bundle import average_weights, read_bundle
from transduce.model.build import export_weights, load_weights
from transduce.model.settings import ModelSettings


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    return ToyRun(tmp_path_factory.mktemp("runs"))


def _convert(path: Path, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Store the weights of a bundle as other numbers, as someone does who is short of disk."""
    file = path / "model.safetensors"
    weights = {name: tensor.to(dtype) for name, tensor in load_file(file).items()}
    save_file(weights, file)
    header = json.loads((path / "bundle.json").read_text())
    header["files"]["model.safetensors"] = sha256_file(file)
    (path / "bundle.json").write_text(json.dumps(header))
    return weights


@pytest.mark.parametrize("dtypes", [(torch.bfloat16, torch.bfloat16), (torch.float16, torch.float32)])
def test_half_precision_is_averaged_in_float32(run: ToyRun, dtypes: tuple[torch.dtype, torch.dtype]) -> None:
    name = str(dtypes[0])
    paths = run.trainer(name, toy_settings(n_steps=4, checkpoint_every=2, warmup_steps=1)).run(resume=False).checkpoints
    parts = [_convert(path, dtype) for path, dtype in zip(paths, dtypes, strict=True)]
    assert [read_bundle(path).weights().keys() for path in paths] == [part.keys() for part in parts]
    _, averaged = average_weights(paths)
    n_finer = 0
    for key, array in averaged.items():
        expected = (parts[0][key].double() + parts[1][key].double()) / 2
        assert array.dtype == np.float32
        assert np.array_equal(array, expected.float().numpy())  # the sum of two such numbers is exact in float64
        n_finer += int((expected.to(dtypes[0]).double() != expected).sum())
    assert n_finer > 100  # means that the numbers of the files could not have held


@pytest.mark.parametrize(("tied", "names"), [("all", 1), ("decoder", 2), ("none", 3)])
def test_tied_matrices_are_averaged_once(run: ToyRun, tied: Literal["all", "decoder", "none"], names: int) -> None:
    model = ModelSettings(d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, tie_embeddings=tied)
    trainer = run.trainer(tied, toy_settings(n_steps=4, checkpoint_every=2), model=model)
    paths = trainer.run(resume=False).checkpoints
    _, averaged = average_weights(paths)
    large = [key for key, array in averaged.items() if array.shape == trainer._model.output_weight.shape]
    assert len(large) == names
    one, two = (read_bundle(path).weights() for path in paths)
    for key in large:
        np.testing.assert_array_equal(averaged[key], ((one[key].astype(np.float64) + two[key]) / 2).astype(np.float32))
    load_weights(trainer._model, averaged)
    assert all(np.array_equal(array, averaged[key]) for key, array in export_weights(trainer._model).items())
