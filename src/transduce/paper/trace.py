"""A sentence on its way through the model: what goes in and out of every block, recorded from outside by hooks.

The model knows nothing of this. Paper: Figure 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from transduce.model.attention import MultiHeadAttention
from transduce.model.blocks import DecoderLayer, EncoderLayer
from transduce.model.feedforward import FeedForward
from transduce.model.norm import NormOrder
from transduce.model.transformer import Decoder, Encoder, Transformer
from transduce.tokenizer.protocol import BOS_ID, EOS_ID

__all__ = ["Block", "BlockKind", "Prediction", "Trace", "trace_sentence"]

BlockKind = Literal["embedding", "positions", "self-attention", "cross-attention", "feed-forward", "norm"]
Side = Literal["encoder", "decoder"]


@dataclass(frozen=True)
class Block:
    """One box of Figure 1 while one sentence goes through it. Norms are lengths of vectors, one for each position."""

    side: Side
    layer: int
    """From 1; 0 is before the layers, and one more than there are is behind them."""
    kind: BlockKind
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    """What flows inside, in order: a name and a shape, the batch of one left out."""
    stream_norms: tuple[float, ...]
    """Of the stream behind the block."""
    said_norms: tuple[float, ...] = ()
    """Of what a sublayer says, or of what positions add."""
    sum_norms: tuple[float, ...] = ()
    """Of x + Sublayer(x): the residual sum, before the LayerNorm of a post-norm model."""
    cosines: tuple[float, ...] = ()
    """Between the stream before the block and behind it: 1 where it keeps its direction."""
    active_share: float | None = None
    """Of a feed-forward network, the share of inner values that ReLU lets through."""


class Prediction(NamedTuple):
    """What the model expects at one position of the target."""

    best: tuple[tuple[int, float], ...]
    """The most probable ids with their probabilities, best first."""
    given: int
    """The id that comes there in the target that was read."""
    p_given: float
    """Its probability."""
    rank: int
    """1: it is the most probable one."""


@dataclass(frozen=True)
class Trace:
    """A sentence pair on its way through a model."""

    src: tuple[int, ...]
    """What the encoder read: source ids and EOS."""
    tgt_in: tuple[int, ...]
    """What the decoder read: BOS and target ids."""
    order: NormOrder
    """Where layer normalization stands."""
    blocks: tuple[Block, ...]
    """In the order in which they are computed."""
    predictions: tuple[Prediction, ...]
    """One for each position of ``tgt_in``."""
    logits_shape: tuple[int, ...]
    """Positions and vocabulary."""


@torch.inference_mode()
def trace_sentence(model: Transformer, source: Sequence[int], target: Sequence[int], *, n_best: int = 5) -> Trace:
    """Let a model read a sentence pair, and record what every block does.

    Args:
        model: In eval mode.
        source: Source ids, without EOS.
        target: Target ids, without BOS and EOS.
        n_best: Predictions that are kept for each position.
    """
    device = model.output_weight.device
    src, tgt_in = [*source, EOS_ID], [BOS_ID, *target]
    src_row, tgt_row = (torch.tensor([ids], device=device) for ids in (src, tgt_in))
    with _listen(_watched(model)) as calls:
        hidden = model(src_row, torch.ones_like(src_row, dtype=torch.bool), tgt_row)
    logits = model.logits(hidden)[0].float()  # [t, vocab]
    blocks = [*_side_blocks(model.encoder, "encoder", calls), *_side_blocks(model.decoder, "decoder", calls)]
    order = cast("EncoderLayer", model.encoder.layers[0]).order
    predictions = _predict(logits, [*target, EOS_ID], n_best)
    return Trace(tuple(src), tuple(tgt_in), order, tuple(blocks), predictions, tuple(logits.shape))


class _Call(NamedTuple):
    told: tuple[Tensor, ...]
    said: Tensor


_Calls = Mapping[nn.Module, list[_Call]]


@contextmanager
def _listen(modules: Sequence[nn.Module]) -> Iterator[_Calls]:
    """Record inputs and output of every call of some modules while the context is open."""
    calls: dict[nn.Module, list[_Call]] = defaultdict(list)

    def record(module: nn.Module, told: tuple[Tensor, ...], said: Tensor) -> None:
        calls[module].append(_Call(tuple(one for one in told if isinstance(one, Tensor)), said))

    handles = [module.register_forward_hook(record) for module in modules]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _watched(model: Transformer) -> list[nn.Module]:
    """Return the modules that are boxes of Figure 1, and the projections inside of them."""
    modules: list[nn.Module] = []
    for stack in (model.encoder, model.decoder):
        modules += [stack.positions, stack.norm]
        for layer in cast("Sequence[EncoderLayer | DecoderLayer]", stack.layers):
            for _, sublayer, norm in _sublayers(layer):
                modules += [sublayer, norm, *sublayer.children()]
    return modules


def _sublayers(
    layer: EncoderLayer | DecoderLayer,
) -> list[tuple[BlockKind, MultiHeadAttention | FeedForward, nn.LayerNorm]]:
    """Return the sublayers of a layer in order, each with its normalization."""
    found: list[tuple[BlockKind, MultiHeadAttention | FeedForward, nn.LayerNorm]] = [
        ("self-attention", layer.self_attention, layer.self_attention_norm)
    ]
    if isinstance(layer, DecoderLayer):
        found.append(("cross-attention", layer.cross_attention, layer.cross_attention_norm))
    return [*found, ("feed-forward", layer.feed_forward, layer.feed_forward_norm)]


def _side_blocks(stack: Encoder | Decoder, side: Side, calls: _Calls) -> Iterator[Block]:
    [placed] = calls[stack.positions]
    embedded, stream = placed.told[0], placed.said
    yield Block(side, 0, "embedding", (("embedding", _shape(embedded)),), _norms(embedded))
    yield Block(
        side, 0, "positions", (("embedding + position", _shape(stream)),), _norms(stream),
        said_norms=_norms(stream - embedded), cosines=_cosines(embedded, stream),
    )  # fmt: skip
    layers = cast("Sequence[EncoderLayer | DecoderLayer]", stack.layers)
    for number, layer in enumerate(layers, start=1):
        for kind, sublayer, norm in _sublayers(layer):
            [called], [normed] = calls[sublayer], calls[norm]
            total = stream + called.said
            after = normed.said if layer.order == "post" else total
            yield Block(
                side, number, kind, _inner_shapes(sublayer, calls), _norms(after), said_norms=_norms(called.said),
                sum_norms=_norms(total), cosines=_cosines(stream, after), active_share=_active_share(sublayer, calls),
            )  # fmt: skip
            stream = after
    if isinstance(stack.norm, nn.LayerNorm):
        [last] = calls[stack.norm]
        yield Block(
            side, len(layers) + 1, "norm", (("normalized", _shape(last.said)),), _norms(last.said),
            cosines=_cosines(stream, last.said),
        )  # fmt: skip


def _inner_shapes(sublayer: MultiHeadAttention | FeedForward, calls: _Calls) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return what flows inside of a sublayer, heads apart."""

    def seen(module: nn.Module) -> tuple[int, ...]:
        return _shape(calls[module][0].said)

    told = ("told", _shape(calls[sublayer][0].told[0]))
    said = ("says", _shape(calls[sublayer][0].said))
    if isinstance(sublayer, FeedForward):
        return (told, ("inner", seen(sublayer.in_proj)), said)
    h = sublayer.n_heads
    queries, keys, values = (seen(part) for part in (sublayer.q_proj, sublayer.k_proj, sublayer.v_proj))
    merged = _shape(calls[sublayer.out_proj][0].told[0])
    projected = [(name, (h, n, width // h)) for name, (n, width) in (("Q", queries), ("K", keys), ("V", values))]
    return (told, *projected, ("weights", (h, queries[0], keys[0])), ("heads side by side", merged), said)


def _active_share(sublayer: MultiHeadAttention | FeedForward, calls: _Calls) -> float | None:
    if not isinstance(sublayer, FeedForward):
        return None
    return float((calls[sublayer.in_proj][0].said > 0).float().mean())


def _predict(logits: Tensor, given: Sequence[int], n_best: int) -> tuple[Prediction, ...]:
    probabilities = logits.softmax(-1)
    top = probabilities.topk(min(n_best, probabilities.shape[1]))
    found = []
    for row, ids, values, right in zip(probabilities, top.indices.tolist(), top.values.tolist(), given, strict=True):
        rank = 1 + int((row > row[right]).sum())
        found.append(Prediction(tuple(zip(ids, values, strict=True)), right, float(row[right]), rank))
    return tuple(found)


def _shape(x: Tensor) -> tuple[int, ...]:
    return tuple(x.shape[1:])  # the batch of one left out


def _norms(x: Tensor) -> tuple[float, ...]:
    return tuple(x[0].float().norm(dim=-1).tolist())


def _cosines(before: Tensor, after: Tensor) -> tuple[float, ...]:
    return tuple(torch.cosine_similarity(before[0].float(), after[0].float(), dim=-1).tolist())
