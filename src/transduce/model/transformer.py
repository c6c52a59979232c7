"""The Transformer: figure 1 of the paper.

Read :class:`Transformer` first, then ``blocks.py`` and ``attention.py``. What is built with which sizes stands in
``build.py``. Everything is batch first; a mask says True for what is real or may be attended to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transduce.model.blocks import DecoderLayer, EncoderLayer
from transduce.model.cache import DecoderCache, LayerCache, RowGroups
from transduce.model.embedding import ScaledEmbedding
from transduce.model.noise import Dropout, number_dropouts
from transduce.model.positions import Positions

__all__ = ["Decoder", "Encoder", "Transformer"]


class Encoder(nn.Module):
    """A stack of encoder layers. Paper: section 3.1.

    Args:
        positions: Added to the embeddings.
        layers: The N layers, first to last.
        norm: After the last layer: a LayerNorm for pre-norm layers, nothing (Identity) for those of the paper.
        p_dropout: Dropout on the sum of embeddings and positions. Paper: section 5.4.
    """

    def __init__(
        self, positions: Positions, layers: Sequence[EncoderLayer], norm: nn.LayerNorm | nn.Identity, p_dropout: float
    ) -> None:
        super().__init__()
        self.positions = positions
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.dropout = Dropout(p_dropout)

    def forward(
        self, x: Float[Tensor, "b s d_model"], allowed: Bool[Tensor, "#b 1 #s s"]
    ) -> Float[Tensor, "b s d_model"]:
        """Turn embedded source tokens into what the decoder reads.

        Args:
            x: Embedded tokens, without positions.
            allowed: True = may attend.
        """
        x = self.dropout(self.positions(x, 0))
        for layer in self.layers:
            x = layer(x, allowed)
        memory: Tensor = self.norm(x)
        return memory

    if TYPE_CHECKING:
        __call__ = forward


class Decoder(nn.Module):
    """A stack of decoder layers. Paper: section 3.1.

    Args:
        positions: Added to the embeddings.
        layers: The N layers, first to last.
        norm: After the last layer: a LayerNorm for pre-norm layers, nothing (Identity) for those of the paper.
        p_dropout: Dropout on the sum of embeddings and positions. Paper: section 5.4.
    """

    def __init__(
        self, positions: Positions, layers: Sequence[DecoderLayer], norm: nn.LayerNorm | nn.Identity, p_dropout: float
    ) -> None:
        super().__init__()
        self.positions = positions
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.dropout = Dropout(p_dropout)

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        memory: Float[Tensor, "b s d_model"],
        memory_allowed: Bool[Tensor, "#b 1 1 s"],
    ) -> Float[Tensor, "b t d_model"]:
        """Turn embedded target tokens into what the next token is predicted from, for all positions at once.

        Args:
            x: Embedded tokens, without positions.
            memory: What the encoder wrote.
            memory_allowed: True = real source token.
        """
        t = x.shape[1]
        # No position sees a later one. Padding follows the real tokens, so this hides it from them too.
        allowed = torch.ones(1, 1, t, t, dtype=torch.bool, device=x.device).tril()
        x = self.dropout(self.positions(x, 0))
        for layer in self.layers:
            x = layer(x, memory, allowed, memory_allowed)
        hidden: Tensor = self.norm(x)
        return hidden

    if TYPE_CHECKING:
        __call__ = forward

    def start_cache(self, memory: Float[Tensor, "n s d_model"]) -> list[LayerCache]:
        """Project the source sentences once for each layer."""
        return [layer.start_cache(memory) for layer in self._layers()]

    def step(self, x: Float[Tensor, "rows 1 d_model"], cache: DecoderCache) -> Float[Tensor, "rows 1 d_model"]:
        """Do what :meth:`forward` does, for the newest position of each row only. The cache is advanced by one token."""
        memory_allowed = cache.src_valid[:, None, None, :]
        x = self.dropout(self.positions(x, cache.length))
        for layer, layer_cache in zip(self._layers(), cache.layers, strict=True):
            x = layer.step(x, layer_cache, cache.length, cache.groups, memory_allowed)
        cache.length += 1
        hidden: Tensor = self.norm(x)
        return hidden

    def _layers(self) -> Iterable[DecoderLayer]:
        return cast("Iterable[DecoderLayer]", self.layers)  # a ModuleList has forgotten what it holds


class Transformer(nn.Module):
    """The whole model, from ids of the source and of the target so far to scores of the next target token.

    Embeddings that are tied are held once, by the first of the three that shares them, and are once in the state dict:
    ``src_embedding.weight`` always, ``tgt_embedding.weight`` unless the two sides are tied, and ``output.weight`` when
    nothing is. So they cannot come apart when a model is saved, loaded, averaged or moved.

    Args:
        src_embedding: Vectors of the source vocabulary.
        encoder: The encoder stack.
        decoder: The decoder stack.
        tgt_embedding: Vectors of the target vocabulary. None: those of the source (one joint vocabulary).
        output: The linear map before the softmax, without bias. None: the vectors of the target.

    Paper: section 3.
    """

    def __init__(
        self,
        src_embedding: ScaledEmbedding,
        encoder: Encoder,
        decoder: Decoder,
        tgt_embedding: ScaledEmbedding | None = None,
        output: nn.Linear | None = None,
    ) -> None:
        super().__init__()
        self.src_embedding = src_embedding
        self.tgt_embedding = tgt_embedding
        self.encoder = encoder
        self.decoder = decoder
        self.output = output
        number_dropouts(self)

    @property
    def d_model(self) -> int:
        """Width of the stream."""
        return self.src_embedding.weight.shape[1]

    @property
    def max_tokens(self) -> int | None:
        """Longest sentence of either side, in tokens, EOS (or BOS) included; None: any length."""
        return self.encoder.positions.max_tokens

    @property
    def tgt_weight(self) -> Float[Tensor, "vocab d_model"]:
        """The vectors of the target vocabulary, which may be those of the source."""
        return (self.src_embedding if self.tgt_embedding is None else self.tgt_embedding).weight

    @property
    def output_weight(self) -> Float[Tensor, "vocab d_model"]:
        """The matrix before the softmax, which may be the vectors of the target. Paper: section 3.4."""
        return self.tgt_weight if self.output is None else self.output.weight

    def forward(
        self, src: Int[Tensor, "b s"], src_valid: Bool[Tensor, "b s"], tgt_in: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t d_model"]:
        """Read source sentences and the target tokens before each position: what training does.

        Args:
            src: Source ids; each sentence ends with EOS, then padding.
            src_valid: True = real source token.
            tgt_in: BOS and the target ids, then padding.

        Returns:
            The hidden state from which the token after each position of ``tgt_in`` is predicted, by :meth:`logits`.
        """
        return self.decode(tgt_in, self.encode(src, src_valid), src_valid)

    if TYPE_CHECKING:
        __call__ = forward

    def encode(self, src: Int[Tensor, "b s"], src_valid: Bool[Tensor, "b s"]) -> Float[Tensor, "b s d_model"]:
        """Turn source ids into the memory that the decoder reads.

        Args:
            src: Source ids; each sentence ends with EOS, then padding.
            src_valid: True = real source token.
        """
        return self.encoder(self.src_embedding(src), src_valid[:, None, None, :])

    def decode(
        self, tgt_in: Int[Tensor, "b t"], memory: Float[Tensor, "b s d_model"], src_valid: Bool[Tensor, "b s"]
    ) -> Float[Tensor, "b t d_model"]:
        """Compute the hidden states of whole target sentences. No position sees a later one.

        Args:
            tgt_in: BOS and the target ids, then padding.
            memory: From :meth:`encode`.
            src_valid: True = real source token.
        """
        return self.decoder(self._embed_tgt(tgt_in), memory, src_valid[:, None, None, :])

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Score every target token; softmax over the last dimension gives the probabilities. Paper: section 3.4."""
        return F.linear(hidden, self.output_weight)

    def start_cache(self, memory: Float[Tensor, "n s d_model"], src_valid: Bool[Tensor, "n s"]) -> DecoderCache:
        """Make the cache of a search: one row for each sentence, nothing written yet.

        Args:
            memory: From :meth:`encode`.
            src_valid: True = real source token.
        """
        n = len(memory)
        groups = RowGroups.of(torch.arange(n, device=memory.device), n)
        return DecoderCache(self.decoder.start_cache(memory), src_valid, groups)

    def decode_step(self, ids: Int[Tensor, " rows"], cache: DecoderCache) -> Float[Tensor, "rows d_model"]:
        """Extend each row by one token, and return the hidden state from which the next one is predicted.

        Equal to the last position of :meth:`decode` over all tokens of the row so far.

        Args:
            ids: The newest token of each row: BOS at first.
            cache: From :meth:`start_cache`; it is advanced in place.
        """
        return self.decoder.step(self._embed_tgt(ids[:, None]), cache).squeeze(1)

    def _embed_tgt(self, ids: Tensor) -> Tensor:
        return (self.src_embedding if self.tgt_embedding is None else self.tgt_embedding)(ids)
