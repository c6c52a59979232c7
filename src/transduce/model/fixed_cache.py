"""A decoder step whose tensors keep their sizes and their places in memory, so that a GPU can record it once and replay it.

What ``cache.py`` does with tensors that grow, shrink and are copied into another order, this does with tensors that stay:

- A sentence has a *slot*, and its rows are the ``width`` places of that slot. What stands in places and slots that nobody
  uses is computed with the others, and nobody looks at it.
- The rows of a slot are the positions of one query: they read the keys and values of the source once for all of them.
- Keys and values are written once and never move. ``ancestors`` says where the tokens of each row lie: when the beam
  reorders, that table of numbers is reordered and nothing else.
- How far each sentence has come is a tensor too, so sentences that entered at different times go in one step.

The numbers are those of :meth:`~transduce.model.transformer.Transformer.decode_step`, up to the rounding of sums that are
made in another order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transduce.model.attention import MultiHeadAttention
from transduce.model.blocks import DecoderLayer
from transduce.model.norm import residual
from transduce.model.transformer import Transformer

__all__ = ["FixedCache", "FixedLayerCache", "StepShape", "fixed_step"]

_SHARED_WIDTH = 16
"""Up to so many rows, a sentence's rows are compared with the keys of all its rows, and those of others are forbidden: more
products, but keys and values are read where they lie, once for all rows. Above, each row collects its own first."""


class StepShape(NamedTuple):
    """The sizes of a step."""

    n_sentences: int
    """Slots."""
    width: int
    """Rows that a slot has places for."""
    src_tokens: int
    """Source tokens that a slot has places for, EOS included."""
    tgt_tokens: int
    """Target tokens that a row has places for, BOS included."""


@dataclass(frozen=True)
class FixedLayerCache:
    """The memory of one decoder layer, zero where nothing has been written: a weight of 0 times NaN would be NaN."""

    keys: Float[Tensor, "n t w h d_k"]
    """Keys of the tokens that each place has written."""
    values: Float[Tensor, "n t w h d_v"]
    """Values, likewise."""
    memory_keys: Float[Tensor, "n h s d_k"]
    """Keys of the source."""
    memory_values: Float[Tensor, "n h s d_v"]
    """Values of the source."""

    @classmethod
    def blank(cls, layer: DecoderLayer, shape: StepShape, like: Tensor) -> FixedLayerCache:
        """Make the memory of a layer, with the type and on the device of another tensor."""
        n, width, s, t = shape
        own, cross = layer.self_attention, layer.cross_attention
        return cls(
            keys=like.new_zeros(n, t, width, own.n_heads, own.k_proj.out_features // own.n_heads),
            values=like.new_zeros(n, t, width, own.n_heads, own.v_proj.out_features // own.n_heads),
            memory_keys=like.new_zeros(n, cross.n_heads, s, cross.k_proj.out_features // cross.n_heads),
            memory_values=like.new_zeros(n, cross.n_heads, s, cross.v_proj.out_features // cross.n_heads),
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All four."""
        return self.keys, self.values, self.memory_keys, self.memory_values


class FixedCache:
    """The state of a search, in tensors that are made once.

    Args:
        model: Its decoder steps; it must not be moved or cast while the cache lives.
        shape: The sizes.

    Raises:
        SettingsError: The model has learned positions, and not so many.
    """

    def __init__(self, model: Transformer, shape: StepShape) -> None:
        like = model.output_weight.detach()
        n, width, s, t = shape
        self.shape = shape
        self.layers = [FixedLayerCache.blank(layer, shape, like) for layer in _decoder_layers(model)]
        self.src_valid = torch.zeros(n, s, dtype=torch.bool, device=like.device)
        """``[n, s]``: True = real source token. A slot never used has one, of zeros: nothing is NaN there either."""
        self.ancestors = torch.zeros(n, width, t, dtype=torch.int64, device=like.device)
        """``[n, width, t]``: the place, of the same slot, that wrote the token of each row at each position."""
        self.positions = model.decoder.positions(like.new_zeros(1, t, model.d_model), 0)[0].clone()
        """``[t, d_model]``: what is added to the embeddings; a copy, since the table of the model is replaced when it grows."""
        self.slots = torch.arange(n, device=like.device)
        self.places = torch.arange(width, device=like.device)
        self.times = torch.arange(t, device=like.device)
        self.clear()

    @property
    def n_bytes(self) -> int:
        """Memory of the keys and values, which is nearly all."""
        return sum(tensor.nbytes for layer in self.layers for tensor in layer.tensors)

    def clear(self) -> None:
        """Forget everything."""
        for tensor in (self.ancestors, self.src_valid, *(t for layer in self.layers for t in layer.tensors)):
            tensor.zero_()
        self.src_valid[:, 0] = True

    def take(self, older: FixedCache, slots: Int[Tensor, " kept"]) -> None:
        """Copy sentences of another cache into the first slots of this one, which is clear.

        Args:
            older: Its rows are not wider than this one's; its sentences may be longer where nothing real stands.
            slots: Of the sentences in the other cache, in the order that they get here.
        """
        n, (_, width, s, t) = len(slots), map(min, self.shape, older.shape)
        self.ancestors[:n, :width, :t] = older.ancestors[slots, :width, :t]
        self.src_valid[:n, :s] = older.src_valid[slots, :s]
        for mine, other in zip(self.layers, older.layers, strict=True):
            mine.keys[:n, :t, :width] = other.keys[slots, :t]
            mine.values[:n, :t, :width] = other.values[slots, :t]
            mine.memory_keys[:n, :, :s] = other.memory_keys[slots, :, :s]
            mine.memory_values[:n, :, :s] = other.memory_values[slots, :, :s]

    def enter(
        self,
        model: Transformer,
        slots: Int[Tensor, " new"],
        memory: Float[Tensor, "new s d_model"],
        src_valid: Bool[Tensor, "new s"],
    ) -> None:
        """Put sentences into slots; whatever stood there is forgotten.

        Args:
            model: Projects the memory.
            slots: One for each sentence.
            memory: What the encoder wrote; it may have more padding than there is room for.
            src_valid: True = real source token.
        """
        s = min(memory.shape[1], self.shape.src_tokens)
        self.src_valid[slots] = False
        self.src_valid[slots, :s] = src_valid[:, :s]
        for layer, cache in zip(_decoder_layers(model), self.layers, strict=True):
            for tensor in cache.tensors:
                tensor.index_fill_(0, slots, 0)
            keys, values = layer.cross_attention.project_memory(memory[:, :s])
            cache.memory_keys[slots, :, :s] = keys
            cache.memory_values[slots, :, :s] = values

    def descend(self, parents: Int[Tensor, "n w"], lengths: Int[Tensor, " n"]) -> None:
        """Let each row follow its parent: it has the parent's tokens, and will write the next one at its own place."""
        n, width, t = self.ancestors.shape
        inherited = self.ancestors.gather(1, parents[:, :, None].expand(n, width, t))
        newest = lengths[:, None, None].expand(n, width, 1)
        self.ancestors.copy_(inherited.scatter_(2, newest, self.places[None, :, None].expand(n, width, 1)))

    def allowed(self, lengths: Int[Tensor, " n"]) -> Bool[Tensor, "b 1 tq tk"]:
        """Return which keys of :meth:`read` each row may attend to, once for all layers. True = may."""
        n, width, t = self.ancestors.shape
        written = self.times <= lengths[:, None]  # [n, t], with the token of this step
        if width > _SHARED_WIDTH:
            return written[:, None].expand(n, width, t).reshape(n * width, 1, 1, t)
        own = self.ancestors[..., None] == self.places  # [n, w, t, w]
        return (own & written[:, None, :, None]).view(n, 1, width, t * width)

    def read(
        self,
        attention: MultiHeadAttention,
        layer: FixedLayerCache,
        x: Float[Tensor, "n w d_model"],
        lengths: Int[Tensor, " n"],
        allowed: Bool[Tensor, "b 1 tq tk"],
    ) -> Float[Tensor, "n w d_model"]:
        """Write the key and value of the newest token of each row, and let the rows read all of their own tokens.

        Args:
            attention: The self-attention of a layer.
            layer: Its memory.
            x: The newest tokens.
            lengths: The position of each sentence's newest token.
            allowed: From :meth:`allowed`.
        """
        keys, values = attention.project_memory(x)  # [n, h, w, d]
        layer.keys[self.slots, lengths] = keys.transpose(1, 2)
        layer.values[self.slots, lengths] = values.transpose(1, 2)
        if self.shape.width <= _SHARED_WIDTH:
            return attention.attend(x, _heads_first(layer.keys), _heads_first(layer.values), allowed)
        own = self.slots[:, None, None], self.times, self.ancestors  # [n, w, t] of [n, t, w]
        own_keys, own_values = layer.keys[own].flatten(0, 1), layer.values[own].flatten(0, 1)  # [n * w, t, h, d]
        answer = attention.attend(
            x.flatten(0, 1).unsqueeze(1), own_keys.transpose(1, 2), own_values.transpose(1, 2), allowed
        )
        return answer.view(x.shape)


def fixed_step(
    model: Transformer,
    cache: FixedCache,
    parents: Int[Tensor, "n w"],
    ids: Int[Tensor, "n w"],
    lengths: Int[Tensor, " n"],
) -> Float[Tensor, "n w d_model"]:
    """Extend each row by one token, and return the hidden state from which the next one is predicted.

    It reads and writes tensors of fixed sizes, asks the host nothing, and may be done twice with the same arguments as
    long as each row is its own parent: so a rehearsal leaves no trace that the real step does not cover.

    Args:
        model: In eval mode.
        cache: It is advanced in place.
        parents: For each row the place in its slot of the row that it extends.
        ids: The newest token of each row.
        lengths: Tokens of each sentence's rows before this step; less than the cache has places for.
    """
    cache.descend(parents, lengths)
    allowed, memory_allowed = cache.allowed(lengths), cache.src_valid[:, None, None, :]
    embedding = model.src_embedding if model.tgt_embedding is None else model.tgt_embedding
    x = embedding(ids) + cache.positions[lengths][:, None, :]
    for layer, own in zip(_decoder_layers(model), cache.layers, strict=True):
        x = _layer_step(layer, cache, own, x, lengths, allowed, memory_allowed)
    hidden: Tensor = model.decoder.norm(x)
    return hidden


def _layer_step(
    layer: DecoderLayer,
    cache: FixedCache,
    own: FixedLayerCache,
    x: Tensor,
    lengths: Tensor,
    allowed: Tensor,
    memory_allowed: Tensor,
) -> Tensor:
    """Do what :meth:`DecoderLayer.step` does, with all rows of a sentence as the positions of one query."""

    def read_itself(y: Tensor) -> Tensor:
        return cache.read(layer.self_attention, own, y, lengths, allowed)

    def read_source(y: Tensor) -> Tensor:
        return layer.cross_attention.attend(y, own.memory_keys, own.memory_values, memory_allowed)

    x = residual(x, read_itself, layer.self_attention_norm, layer.self_attention_dropout, layer.order)
    x = residual(x, read_source, layer.cross_attention_norm, layer.cross_attention_dropout, layer.order)
    return residual(x, layer.feed_forward, layer.feed_forward_norm, layer.feed_forward_dropout, layer.order)


def _heads_first(x: Float[Tensor, "n t w h d"]) -> Float[Tensor, "n h t_w d"]:
    """Put the tokens of all rows of a sentence side by side, without copying them."""
    return x.flatten(1, 2).transpose(1, 2)


def _decoder_layers(model: Transformer) -> Iterable[DecoderLayer]:
    return cast("Iterable[DecoderLayer]", model.decoder.layers)  # a ModuleList has forgotten what it holds
