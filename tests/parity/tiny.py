"""A small model with awkward sizes (d_k, d_v and d_model / n_heads all differ) and a batch with padding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer

VOCAB = 23
SMALL = ModelSettings(
    n_encoder_layers=2, n_decoder_layers=3, d_model=12, d_ff=20, n_heads=3, d_k=5, d_v=2, n_positions=64, p_dropout=0.0
)


def small_model(**changes: object) -> Transformer:
    """Build it in float64, so that two ways of computing differ by rounding only, far below any mistake."""
    settings = ModelSettings.from_dict({**SMALL.as_dict(), **changes})
    return random_weights(build_model(settings, VOCAB, VOCAB).double()).eval()


def random_weights(model: Transformer) -> Transformer:
    """Give biases and norms values too, since at 0 and 1 a mistake with them does not show."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 0.1)
    return model


@dataclass(frozen=True)
class Pairs:
    src: Tensor
    src_valid: Tensor
    tgt_in: Tensor
    tgt_valid: Tensor


def pairs(src_lengths: list[int], tgt_lengths: list[int], seed: int = 3) -> Pairs:
    """Draw sentences of given lengths, padded with 0."""
    generator = torch.Generator().manual_seed(seed)

    def side(lengths: list[int]) -> tuple[Tensor, Tensor]:
        valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        ids = torch.randint(1, VOCAB, valid.shape, generator=generator)
        return ids * valid, valid

    return Pairs(*side(src_lengths), *side(tgt_lengths))
