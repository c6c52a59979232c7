"""From settings to a model: the one place that knows both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from transduce.base.errors import BundleError, SettingsError
from transduce.model.attention import MultiHeadAttention
from transduce.model.blocks import DecoderLayer, EncoderLayer
from transduce.model.embedding import ScaledEmbedding
from transduce.model.feedforward import FeedForward
from transduce.model.init import initialize
from transduce.model.positions import LearnedPositions, Positions, SinusoidalPositions
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Decoder, Encoder, Transformer

__all__ = ["build_model", "export_weights", "load_model", "load_weights"]


def build_model(settings: ModelSettings, src_vocab_size: int, tgt_vocab_size: int, seed: int = 1) -> Transformer:
    """Build a model on the CPU with initial weights.

    The global random state of torch is neither used nor changed.

    Args:
        settings: The shape of the model.
        src_vocab_size: Number of source ids, control ids included.
        tgt_vocab_size: Number of target ids, control ids included.
        seed: Fixes the initial weights.

    Raises:
        SettingsError: All embeddings are to be tied, but the vocabularies differ in size.

    >>> model = build_model(ModelSettings(d_model=8, d_ff=16, n_heads=2), 100, 100)
    >>> model.output_weight is model.src_embedding.weight
    True
    """
    model = _allocate(settings, src_vocab_size, tgt_vocab_size)
    initialize(model, torch.Generator().manual_seed(seed))
    return model


def load_model(
    settings: ModelSettings, weights: Mapping[str, npt.NDArray[np.generic]], src_vocab_size: int, tgt_vocab_size: int
) -> Transformer:
    """Build a model on the CPU with given weights, ready to translate (in eval mode).

    Args:
        settings: The shape of the model.
        weights: Each parameter by its name, from :func:`export_weights`. They are copied.
        src_vocab_size: Number of source ids, control ids included.
        tgt_vocab_size: Number of target ids, control ids included.

    Raises:
        BundleError: The weights are not those of such a model.
        SettingsError: All embeddings are to be tied, but the vocabularies differ in size.
    """
    model = _allocate(settings, src_vocab_size, tgt_vocab_size)
    load_weights(model, weights)
    return model.eval()


@torch.no_grad()
def load_weights(model: Transformer, weights: Mapping[str, npt.NDArray[np.generic]]) -> None:
    """Copy weights into a model. Every parameter must be given, in its shape, and nothing else.

    Args:
        model: Where to; it keeps its device and its precision.
        weights: Each parameter by its name, from :func:`export_weights`.

    Raises:
        BundleError: A parameter is missing, unknown or of another shape: the model is left as it was.
    """
    own = dict(model.named_parameters())
    wrong = [f"  {name}: missing" for name in own.keys() - weights.keys()]
    wrong += [f"  {name}: unknown" for name in weights.keys() - own.keys()]
    wrong += [
        f"  {name}: shape {list(weights[name].shape)}, but the model has {list(own[name].shape)}"
        for name in own.keys() & weights.keys()
        if tuple(weights[name].shape) != tuple(own[name].shape)
    ]
    if wrong:
        shown = sorted(wrong)[:10] + ([f"  and {len(wrong) - 10} more"] if len(wrong) > 10 else [])
        head = f"the weights do not fit the model of these settings ({len(wrong)} differences)"
        raise BundleError("\n".join([f"{head}; use the settings.toml that lies beside them", *shown]))
    for name, parameter in own.items():
        parameter.copy_(
            torch.from_numpy(np.array(weights[name]))
        )  # a copy: the array may be mapped from a read-only file


def export_weights(model: Transformer) -> dict[str, npt.NDArray[np.float32]]:
    """Return a copy of every parameter by its name, tied ones once, in float32 on the CPU."""
    return {
        name: np.array(parameter.detach().to(device="cpu", dtype=torch.float32).numpy(), order="C")
        for name, parameter in model.named_parameters()
    }


def _allocate(settings: ModelSettings, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    """Build a model whose weights are arbitrary: neither time nor random numbers are spent on values to be replaced."""
    if settings.tie_embeddings == "all" and src_vocab_size != tgt_vocab_size:
        raise SettingsError(
            f"model.tie_embeddings = 'all' needs one vocabulary for both sides, but the source has {src_vocab_size} tokens "
            f"and the target {tgt_vocab_size}; set tokenizer.joint = true, or model.tie_embeddings = 'decoder'"
        )
    with torch.device("meta"):
        model = _assemble(settings, src_vocab_size, tgt_vocab_size)
    # What Module.to_empty does, without the half second that it takes to import torch's symbolic shapes.
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            module.register_parameter(name, nn.Parameter(torch.empty(parameter.shape)))
    return model


def _assemble(settings: ModelSettings, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    d_model, tied = settings.d_model, settings.tie_embeddings
    return Transformer(
        src_embedding=ScaledEmbedding(src_vocab_size, d_model),
        tgt_embedding=None if tied == "all" else ScaledEmbedding(tgt_vocab_size, d_model),
        output=nn.Linear(d_model, tgt_vocab_size, bias=False) if tied == "none" else None,
        encoder=Encoder(
            _positions(settings),
            [_encoder_layer(settings) for _ in range(settings.n_encoder_layers)],
            _final_norm(settings),
            settings.p_dropout,
        ),
        decoder=Decoder(
            _positions(settings),
            [_decoder_layer(settings) for _ in range(settings.n_decoder_layers)],
            _final_norm(settings),
            settings.p_dropout,
        ),
    )


def _encoder_layer(settings: ModelSettings) -> EncoderLayer:
    return EncoderLayer(
        _attention(settings), _feed_forward(settings), settings.d_model, settings.p_dropout, settings.norm
    )


def _decoder_layer(settings: ModelSettings) -> DecoderLayer:
    return DecoderLayer(
        _attention(settings),
        _attention(settings),
        _feed_forward(settings),
        settings.d_model,
        settings.p_dropout,
        settings.norm,
    )


def _attention(settings: ModelSettings) -> MultiHeadAttention:
    return MultiHeadAttention(
        settings.d_model, settings.n_heads, settings.key_width, settings.value_width, settings.p_attention_dropout
    )


def _feed_forward(settings: ModelSettings) -> FeedForward:
    return FeedForward(settings.d_model, settings.d_ff, settings.p_ff_dropout)


def _positions(settings: ModelSettings) -> Positions:
    match settings.positions:
        case "sinusoidal":
            return SinusoidalPositions(settings.d_model)
        case "learned":
            return LearnedPositions(settings.n_positions, settings.d_model)


def _final_norm(settings: ModelSettings) -> nn.LayerNorm | nn.Identity:
    match settings.norm:
        case "post":
            return nn.Identity()  # the last sublayer has just been normalized
        case "pre":
            return nn.LayerNorm(settings.d_model)
