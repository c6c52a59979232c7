from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.parity.tiny import SMALL, VOCAB, pairs, small_model
from transduce.base.errors import BundleError, SettingsError
from transduce.model.build import build_model, export_weights, load_model, load_weights
from transduce.model.settings import ModelSettings


def test_a_seed_fixes_the_weights_and_leaves_the_global_generator_alone() -> None:
    state = torch.random.get_rng_state()
    first, again, other = (export_weights(build_model(SMALL, VOCAB, VOCAB, seed=seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["src_embedding.weight"], other["src_embedding.weight"])


def test_initial_weights_have_the_stated_distributions() -> None:
    shape = ModelSettings(
        n_encoder_layers=1, n_decoder_layers=1, d_model=256, n_heads=4, tie_embeddings="none", positions="learned"
    )
    weights = export_weights(build_model(shape, 1000, 1000))
    # 256,000 draws: the sampling error of a standard deviation is 0.14 %
    for name in ("src_embedding.weight", "tgt_embedding.weight", "output.weight", "encoder.positions.weight"):
        assert weights[name].std() == pytest.approx(256**-0.5, rel=0.01)
    q = weights["decoder.layers.0.cross_attention.q_proj.weight"]
    bound = (6 / (256 + 256)) ** 0.5  # Xavier: sqrt(6 / (fan_in + fan_out))
    assert np.abs(q).max() <= bound
    assert q.std() == pytest.approx(bound / 3**0.5, rel=0.01)
    for name, value in weights.items():
        if name.endswith("bias"):
            assert not value.any()
        elif "norm" in name:
            assert (value == 1).all()


def test_tying_all_needs_one_vocabulary() -> None:
    with pytest.raises(
        SettingsError, match=r"the source has 30 tokens and the target 20; set tokenizer.joint = true, or"
    ):
        build_model(SMALL, 30, 20)
    model = build_model(SMALL.replace(tie_embeddings="decoder"), 30, 20)
    assert (len(model.src_embedding.weight), len(model.output_weight)) == (30, 20)


def test_export_and_load_give_the_same_model() -> None:
    model, data = small_model().float(), pairs([4, 2], [3, 3])
    weights = export_weights(model)
    for array in weights.values():
        array.setflags(write=False)  # as arrays that are mapped from a file
    loaded = load_model(SMALL, weights, VOCAB, VOCAB)
    assert not loaded.training
    with torch.no_grad():
        ours, theirs = (m(data.src, data.src_valid, data.tgt_in) for m in (model, loaded))
    assert torch.equal(ours, theirs)
    assert loaded.src_embedding.weight.data_ptr() == loaded.output_weight.data_ptr()


def test_weights_that_do_not_fit_are_named_and_nothing_is_changed() -> None:
    model = build_model(SMALL, VOCAB, VOCAB)
    before, weights = export_weights(model), export_weights(build_model(SMALL, VOCAB, VOCAB, seed=2))
    weights["stranger.weight"] = weights.pop("encoder.layers.0.feed_forward.in_proj.bias")
    weights["src_embedding.weight"] = weights["src_embedding.weight"][:5]
    with pytest.raises(BundleError) as caught:
        load_weights(model, weights)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("the weights do not fit the model of these settings (3 differences)")
    assert lines[1:] == [
        "  encoder.layers.0.feed_forward.in_proj.bias: missing",
        "  src_embedding.weight: shape [5, 12], but the model has [23, 12]",
        "  stranger.weight: unknown",
    ]
    assert all(np.array_equal(value, before[name]) for name, value in export_weights(model).items())
