"""One layer of the encoder and one of the decoder: the two boxes of figure 1 that are stacked N times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transduce.model.attention import MultiHeadAttention
from transduce.model.cache import LayerCache, RowGroups
from transduce.model.feedforward import FeedForward
from transduce.model.noise import Dropout
from transduce.model.norm import NormOrder, residual

__all__ = ["DecoderLayer", "EncoderLayer"]


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network. Paper: section 3.1.

    Args:
        self_attention: The sentence reads itself.
        feed_forward: The network applied at each position.
        d_model: Width of the stream.
        p_dropout: Dropout on the output of each sublayer.
        order: Where layer normalization stands.
    """

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        d_model: int,
        p_dropout: float,
        order: NormOrder,
    ) -> None:
        super().__init__()
        self.order = order
        self.self_attention = self_attention
        self.self_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(d_model)
        # One for each place: what is dropped depends on where.
        self.self_attention_dropout = Dropout(p_dropout)
        self.feed_forward_dropout = Dropout(p_dropout)

    def forward(
        self, x: Float[Tensor, "b s d_model"], allowed: Bool[Tensor, "#b 1 #s s"] | None
    ) -> Float[Tensor, "b s d_model"]:
        """Transform a batch of source sentences.

        Args:
            x: The stream.
            allowed: True = may attend. None: all may.
        """
        x = residual(
            x,
            lambda y: self.self_attention(y, y, allowed),
            self.self_attention_norm,
            self.self_attention_dropout,
            self.order,
        )
        return residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.order)

    if TYPE_CHECKING:
        __call__ = forward


class DecoderLayer(nn.Module):
    """Self-attention over what is written so far, attention over the source, then the feed-forward network.

    Args:
        self_attention: The translation reads itself.
        cross_attention: The translation reads the source.
        feed_forward: The network applied at each position.
        d_model: Width of the stream.
        p_dropout: Dropout on the output of each sublayer.
        order: Where layer normalization stands.

    Paper: section 3.1.
    """

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        d_model: int,
        p_dropout: float,
        order: NormOrder,
    ) -> None:
        super().__init__()
        self.order = order
        self.self_attention = self_attention
        self.self_attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = cross_attention
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = feed_forward
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.self_attention_dropout = Dropout(p_dropout)
        self.cross_attention_dropout = Dropout(p_dropout)
        self.feed_forward_dropout = Dropout(p_dropout)

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        memory: Float[Tensor, "b s d_model"],
        allowed: Bool[Tensor, "#b 1 t t"],
        memory_allowed: Bool[Tensor, "#b 1 1 s"],
    ) -> Float[Tensor, "b t d_model"]:
        """Transform a batch of whole target sentences.

        Args:
            x: The stream.
            memory: What the encoder wrote.
            allowed: True = the target position may attend to the other target position.
            memory_allowed: True = real source token.
        """
        x = residual(
            x,
            lambda y: self.self_attention(y, y, allowed),
            self.self_attention_norm,
            self.self_attention_dropout,
            self.order,
        )
        x = residual(
            x,
            lambda y: self.cross_attention(y, memory, memory_allowed),
            self.cross_attention_norm,
            self.cross_attention_dropout,
            self.order,
        )
        return residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.order)

    if TYPE_CHECKING:
        __call__ = forward

    def start_cache(self, memory: Float[Tensor, "n s d_model"]) -> LayerCache:
        """Project the source sentences once, for all the steps to come."""
        return LayerCache.start(*self.cross_attention.project_memory(memory))

    def step(
        self,
        x: Float[Tensor, "rows 1 d_model"],
        cache: LayerCache,
        length: int,
        groups: RowGroups,
        memory_allowed: Bool[Tensor, "n 1 1 s"],
    ) -> Float[Tensor, "rows 1 d_model"]:
        """Transform the newest token of each row, and remember its key and value: :meth:`forward`, one position at a time.

        Args:
            x: The stream at the newest position.
            cache: Of this layer; the new key and value are written into it.
            length: Tokens of each row that the cache holds before this step.
            groups: Which rows belong to which sentence.
            memory_allowed: True = real source token.
        """

        def read_itself(y: Tensor) -> Tensor:
            keys, values = cache.append(*self.self_attention.project_memory(y), length)
            return self.self_attention.attend(y, keys, values, None)  # the cache holds no later position to forbid

        def read_source(y: Tensor) -> Tensor:
            # All rows of a sentence ask together, so that its keys and values are stored and read once.
            asked = groups.gather(y)  # [n, width, d_model]
            return groups.scatter(
                self.cross_attention.attend(asked, cache.memory_keys, cache.memory_values, memory_allowed)
            )

        x = residual(x, read_itself, self.self_attention_norm, self.self_attention_dropout, self.order)
        x = residual(x, read_source, self.cross_attention_norm, self.cross_attention_dropout, self.order)
        return residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.order)
