"""Initial weights.

The paper does not say how it begins. We take Xavier's uniform distribution for the projections, zero for biases, and a
normal distribution of standard deviation d_model^-0.5 for embeddings, so that after the multiplication by sqrt(d_model)
a token's vector has the size of its positional encoding, and logits begin near a standard deviation of 1.
"""

from __future__ import annotations

import torch
from torch import nn

from transduce.model.embedding import ScaledEmbedding
from transduce.model.positions import LearnedPositions
from transduce.model.transformer import Transformer

__all__ = ["initialize"]


@torch.no_grad()
def initialize(model: Transformer, generator: torch.Generator) -> None:
    """Overwrite every parameter of a model with its initial value.

    Args:
        model: Its parameters lie on the generator's device.
        generator: The only source of randomness: its seed fixes the weights.
    """
    std = model.d_model**-0.5
    for module in model.modules():
        match module:
            case nn.Linear() if module is model.output:
                module.weight.normal_(0.0, std, generator=generator)  # as when it is tied to an embedding
            case nn.Linear():
                nn.init.xavier_uniform_(module.weight, generator=generator)
                module.bias.zero_()
            case ScaledEmbedding() | LearnedPositions():
                module.weight.normal_(0.0, std, generator=generator)
            case nn.LayerNorm():
                module.weight.fill_(1.0)
                module.bias.zero_()
