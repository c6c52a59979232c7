"""Masks, causality and the names of the weights."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from tests.parity.tiny import VOCAB, pairs, small_model
from transduce.model.build import build_model, export_weights
from transduce.model.noise import Dropout
from transduce.model.settings import ModelSettings

NAMES = Path(__file__).parents[2] / "golden" / "parameter_names.txt"


def test_parameter_names_are_public() -> None:
    """Names in files that users keep: a change here needs a way to load the old ones."""
    model = build_model(
        ModelSettings(
            n_encoder_layers=1,
            n_decoder_layers=1,
            d_model=8,
            n_heads=2,
            tie_embeddings="none",
            positions="learned",
            norm="pre",
        ),
        30,
        20,
    )
    assert sorted(model.state_dict()) == NAMES.read_text().split()
    assert sorted(export_weights(model)) == NAMES.read_text().split()


@pytest.mark.parametrize(
    ("tie", "names"),
    [
        ("all", {"src_embedding.weight"}),
        ("decoder", {"src_embedding.weight", "tgt_embedding.weight"}),
        ("none", {"src_embedding.weight", "tgt_embedding.weight", "output.weight"}),
    ],
)
def test_tied_matrices_are_one_and_stand_once_in_the_state(tie: str, names: set[str]) -> None:
    model = small_model(tie_embeddings=tie)
    pointers = [w.data_ptr() for w in (model.src_embedding.weight, model.tgt_weight, model.output_weight)]
    assert len(set(pointers)) == len(names)
    assert {name for name in model.state_dict() if not name.startswith(("encoder", "decoder"))} == names


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_tied_matrices_stay_one_through_load_and_training(tie: str) -> None:
    model, copy_of_it = small_model(tie_embeddings=tie), small_model(tie_embeddings=tie)
    copy_of_it.load_state_dict(copy.deepcopy(model.state_dict()))
    data = pairs([4], [3])
    optimizer = torch.optim.SGD(copy_of_it.parameters(), lr=0.1)
    torch.autograd.backward(copy_of_it.logits(copy_of_it(data.src, data.src_valid, data.tgt_in)).square().sum())
    optimizer.step()
    assert not torch.equal(copy_of_it.output_weight, model.output_weight)
    if tie == "all":
        assert copy_of_it.src_embedding.weight is copy_of_it.tgt_weight
    if tie != "none":
        assert copy_of_it.tgt_weight is copy_of_it.output_weight


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_no_position_sees_a_later_one(norm: str) -> None:
    model, data = small_model(norm=norm), pairs([6], [8])
    changed = data.tgt_in.clone()
    changed[0, 5] = changed[0, 5] % (VOCAB - 1) + 1
    before, after = (model.logits(model(data.src, data.src_valid, ids))[0] for ids in (data.tgt_in, changed))
    moved = (before - after).abs().amax(-1)
    assert moved[:5].max() == 0  # exactly
    assert moved[5:].min() > 0


def test_the_id_under_source_padding_changes_nothing() -> None:
    model, data = small_model(), pairs([6, 3], [5, 4])
    changed = data.src.clone()
    changed[1, 4] = 9
    before, after = (model(ids, data.src_valid, data.tgt_in) for ids in (data.src, changed))
    assert torch.equal(before, after)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_an_empty_source_is_finite_forward_and_backward_and_alone(norm: str) -> None:
    model, data = small_model(norm=norm), pairs([5, 2], [4, 4])
    whole = model(data.src, data.src_valid, data.tgt_in)
    emptied = data.src_valid.clone()
    emptied[1] = False
    hidden = model(data.src, emptied, data.tgt_in)
    assert hidden.isfinite().all()
    assert torch.equal(hidden[0], whole[0])
    torch.autograd.backward(model.logits(hidden).log_softmax(-1).sum())
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_dropout_stands_in_the_places_of_the_paper() -> None:
    model = build_model(
        ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=8, n_heads=2, p_dropout=0.25), 9, 9
    )
    places = {name: (module.site, module.p) for name, module in model.named_modules() if isinstance(module, Dropout)}
    outputs = [
        "encoder.dropout",  # embeddings and positions
        "encoder.layers.0.self_attention_dropout",  # the output of each sublayer
        "encoder.layers.0.feed_forward_dropout",
        "decoder.dropout",
        "decoder.layers.0.self_attention_dropout",
        "decoder.layers.0.cross_attention_dropout",
        "decoder.layers.0.feed_forward_dropout",
    ]
    assert {name: p for name, (_, p) in places.items() if p} == dict.fromkeys(outputs, 0.25)
    assert sorted(site for site, _ in places.values()) == list(range(len(places)))  # each has a place of its own
    ids, valid = torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, dtype=torch.bool)
    assert not torch.equal(model(ids, valid, ids), model(ids, valid, ids))
    model.eval()
    assert torch.equal(model(ids, valid, ids), model(ids, valid, ids))


def test_max_tokens_is_the_number_of_learned_positions() -> None:
    assert small_model().max_tokens is None
    assert small_model(positions="learned").max_tokens == 64
