"""The wide bundles of the decoding benchmark say what the trained one says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest
import torch

from tests.parity.tiny import Pairs, pairs, random_weights
from transduce.model.build import build_model, export_weights, load_model
from transduce.model.settings import ModelSettings
from widen import as_base, as_small, share

VOCAB = 23
NARROW = ModelSettings(
    n_encoder_layers=2, n_decoder_layers=3, d_model=12, d_ff=20, n_heads=3, p_dropout=0.0, norm="pre"
)
# The weights are float32, and the logits some units large: sums of a few dozen rounded products, through all layers.
ROUNDING = 2e-5


def logits(settings: ModelSettings, weights: Mapping[str, npt.NDArray[np.float32]], batch: Pairs) -> torch.Tensor:
    model = load_model(settings, weights, VOCAB, VOCAB).double()
    with torch.inference_mode():
        return model.logits(model(batch.src, batch.src_valid, batch.tgt_in))[batch.tgt_valid]


def test_both_shapes_give_the_logits_of_the_trained_model() -> None:
    weights = export_weights(random_weights(build_model(NARROW, VOCAB, VOCAB)))
    batch = pairs([4, 7], [5, 3])
    expected = logits(NARROW, weights, batch)
    for widen in (as_small, as_base):
        wide, wide_weights = widen(NARROW, weights, np.random.default_rng(1))
        torch.testing.assert_close(logits(wide, wide_weights, batch), expected, rtol=0, atol=ROUNDING)


def test_base_is_twice_as_wide_and_twice_as_deep() -> None:
    weights = export_weights(build_model(NARROW, VOCAB, VOCAB))
    wide, _ = as_base(NARROW, weights, np.random.default_rng(1))
    assert (wide.d_model, wide.d_ff, wide.n_heads, wide.key_width) == (24, 80, 6, NARROW.key_width)
    assert (wide.n_encoder_layers, wide.n_decoder_layers) == (4, 6)


def test_no_two_matrices_of_the_base_model_are_equal() -> None:
    # CTranslate2 stores equal ones once, which would make it smaller and faster than it is.
    weights = export_weights(random_weights(build_model(NARROW, VOCAB, VOCAB)))
    _, wide = as_base(NARROW, weights, np.random.default_rng(1))
    matrices = [array.tobytes() for name, array in wide.items() if array.ndim == 2 and "positions" not in name]
    assert len(set(matrices)) == len(matrices)


@pytest.mark.parametrize("n", [2, 4])
def test_shares_add_up_and_are_unequal(n: int) -> None:
    array = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    parts = share(array, n, np.random.default_rng(1)).reshape(2, n, 3)
    np.testing.assert_allclose(parts.sum(axis=1), array, rtol=1e-6)  # float32 rounding of each share
    assert len(np.unique(parts / array[:, None])) == parts.size
