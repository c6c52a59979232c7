from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.parity.tiny import SMALL
from transduce.data.batch import batch_from_ids
from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.model.stats import Work, parameter_count, step_flops, work_flops


@pytest.mark.parametrize(
    ("tie", "norm", "positions"),
    list(itertools.product(["all", "decoder", "none"], ["post", "pre"], ["sinusoidal", "learned"])),
)
def test_parameters_are_counted_as_they_are_built(tie: str, norm: str, positions: str) -> None:
    shape = SMALL.replace(tie_embeddings=tie, norm=norm, positions=positions)
    src_vocab, tgt_vocab = (30, 30) if tie == "all" else (30, 20)
    built = sum(parameter.numel() for parameter in build_model(shape, src_vocab, tgt_vocab).parameters())
    assert parameter_count(shape, src_vocab, tgt_vocab) == built


def test_sizes_of_the_worked_examples() -> None:
    assert parameter_count(ModelSettings(), 37_000, 37_000) == pytest.approx(63.1e6, abs=0.05e6)
    big = ModelSettings(d_model=1024, d_ff=4096, n_heads=16)
    assert parameter_count(big, 37_000, 37_000) == pytest.approx(214e6, abs=0.5e6)
    encoder_only, decoder_only = (
        parameter_count(ModelSettings(n_encoder_layers=e, n_decoder_layers=d), 0, 0)
        - parameter_count(ModelSettings(n_encoder_layers=1, n_decoder_layers=1), 0, 0)
        for e, d in ((7, 1), (1, 7))
    )
    assert encoder_only == pytest.approx(18.9e6, abs=0.05e6)
    assert decoder_only == pytest.approx(25.2e6, abs=0.05e6)
    layer = build_model(ModelSettings(n_encoder_layers=1, n_decoder_layers=1), 4, 4).get_submodule("encoder.layers.0")
    sizes = {name: parameter.numel() for name, parameter in layer.named_parameters() if parameter.dim() == 2}
    assert sum(n for name, n in sizes.items() if "attention" in name) == 1_048_576
    assert sum(n for name, n in sizes.items() if "feed_forward" in name) == 2_097_152


@pytest.mark.parametrize("src_tokens", [1, 7])
def test_flops_are_those_that_torch_counts(src_tokens: int) -> None:
    model = build_model(SMALL, 23, 23)
    src, tgt = torch.ones(1, src_tokens, dtype=torch.long), torch.ones(1, 5, dtype=torch.long)
    counter = FlopCounterMode(display=False)
    with counter:
        torch.autograd.backward(model.logits(model(src, torch.ones_like(src, dtype=torch.bool), tgt)).sum())
    assert counter.get_total_flops() == step_flops(SMALL, 23, src_tokens, 5)


def test_flops_of_a_padded_batch_are_those_that_torch_counts() -> None:
    """Logits are made of the real tokens only; everything else of the whole rectangle."""
    model = build_model(SMALL, 23, 23)
    batch = batch_from_ids([[5, 6, 7], [8]], [[9], [10, 11, 12, 13]])
    counter = FlopCounterMode(display=False)
    with counter:
        hidden = model(batch.src, batch.src_valid, batch.tgt_in)
        torch.autograd.backward(model.logits(hidden[batch.tgt_valid]).sum())
    work = Work.padded(np.array([4, 2]), np.array([2, 5]))
    assert counter.get_total_flops() == work_flops(SMALL, 23, work)


def test_work_adds_up() -> None:
    lengths = np.array([3, 1, 7]), np.array([2, 2, 5])
    one_by_one = [Work.packed(*(side[i : i + 1] for side in lengths)) for i in range(3)]
    assert sum(one_by_one, Work()) == Work.packed(*lengths)
    assert all(Work.padded(*(side[i : i + 1] for side in lengths)) == one_by_one[i] for i in range(3))
    assert work_flops(SMALL, 23, Work.packed(*lengths)) == sum(
        step_flops(SMALL, 23, int(s), int(t)) for s, t in zip(*lengths, strict=True)
    )
