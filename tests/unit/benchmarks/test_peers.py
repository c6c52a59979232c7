"""How our weights get to the peers, without the peers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import peers.eole
import peers.onmt
import peers.transformers
from peers.arrays import position_table, read_bundle_arrays
from transduce.bundle import write_bundle
from transduce.model.build import build_model, export_weights
from transduce.model.positions import sinusoidal_table
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import TokenizerSettings, learn_tokenizers

PRE_NORM = ModelSettings(n_encoder_layers=1, n_decoder_layers=2, d_model=8, d_ff=16, n_heads=2, norm="pre")


def test_a_bundle_is_read_without_the_project(tmp_path: Path) -> None:
    tokenizers = learn_tokenizers([SentencePair("a small cat", "eine kleine Katze")], TokenizerSettings(vocab_size=262))
    weights = export_weights(build_model(PRE_NORM, tokenizers.src.vocab_size, tokenizers.src.vocab_size))
    write_bundle(
        tmp_path / "bundle",
        weights=weights,
        model=PRE_NORM,
        tokenizers=tokenizers,
        settings=RunSettings(model=PRE_NORM),
        step=1,
        scores={},
    )
    shape, read = read_bundle_arrays(tmp_path / "bundle")
    assert (shape.n_encoder_layers, shape.n_decoder_layers, shape.d_model, shape.d_ff, shape.n_heads) == (
        1,
        2,
        8,
        16,
        2,
    )
    assert shape.vocab_size == tokenizers.src.vocab_size
    assert read.keys() == weights.keys()
    for name, array in weights.items():
        np.testing.assert_array_equal(read[name], array)


def test_positions_are_ours() -> None:
    # Two ways to the same float32 numbers, both computed in float64.
    np.testing.assert_allclose(position_table({}, "encoder", 40, 8), sinusoidal_table(40, 8).numpy(), atol=1e-7)
    learned = np.ones((3, 8), dtype=np.float32)
    table = position_table({"decoder.positions.weight": learned}, "decoder", 5, 8)
    np.testing.assert_array_equal(table, [[1] * 8] * 3 + [[0] * 8] * 2)


@pytest.mark.parametrize("peer", [peers.onmt, peers.eole, peers.transformers])
def test_every_parameter_has_a_name_of_its_own_with_the_peer(peer: ModuleType) -> None:
    named = [name for name in export_weights(build_model(PRE_NORM, 9, 9)) if name != "src_embedding.weight"]
    theirs = [peer.their_names(name) for name in named]
    flat = [name for names in theirs for name in names]
    assert len(set(flat)) == len(flat) == len(named)
    for ours in ("self_attention", "cross_attention", "feed_forward.in_proj", "feed_forward_norm", ".norm."):
        assert not any(ours in name for name in flat)
