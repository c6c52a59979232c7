"""Attention: a weighted mean of values, with weights from how well each key answers a query.

Of one sentence and one head, ``q`` is Q of the paper (one row a position that asks), ``k`` is K and ``v`` is V (one row
a position that is read). Paper: section 3.2.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transduce.model.noise import Dropout

__all__ = ["MultiHeadAttention", "WeightsObserver", "attention", "attention_weights", "merge_heads", "split_heads"]

WeightsObserver = Callable[[Tensor], None]
"""Called with attention weights ``[b, h, tq, tk]``, before dropout."""


def attention_weights(
    q: Float[Tensor, "*batch tq d_k"],
    k: Float[Tensor, "*batch tk d_k"],
    allowed: Bool[Tensor, "*#batch #tq tk"] | None = None,
) -> Float[Tensor, "*batch tq tk"]:
    """Compute softmax(q k^T / sqrt(d_k)), the share of each key in the answer to each query.

    A key that is not allowed has weight 0 exactly, whatever it holds. A query that is allowed no key at all has weight 0
    everywhere, so that its answer is 0 and not NaN.

    Args:
        q: Queries.
        k: Keys.
        allowed: True = the query may attend to the key. None: every query to every key.

    Returns:
        Weights from 0 to 1; each row sums to 1.

    Paper: section 3.2.1, equation 1.

    >>> q, k = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> attention_weights(q, k)
    tensor([[0.1017, 0.8482, 0.0501]])
    """
    scores: Tensor = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    if allowed is None:
        return scores.softmax(-1)
    forbidden = ~allowed
    # The lowest number and not -inf: a row of -inf alone would be NaN, here and in the gradient. exp() makes it a 0.
    weights = scores.masked_fill(forbidden, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(forbidden, 0.0)  # changes only the rows in which nothing is allowed


def attention(
    q: Float[Tensor, "*batch tq d_k"],
    k: Float[Tensor, "*batch tk d_k"],
    v: Float[Tensor, "*batch tk d_v"],
    allowed: Bool[Tensor, "*#batch #tq tk"] | None = None,
    dropout: Dropout | None = None,
) -> Float[Tensor, "*batch tq d_v"]:
    """Compute scaled dot-product attention: softmax(q k^T / sqrt(d_k)) v.

    The fused kernel of torch: equal to ``attention_weights(q, k, allowed) @ v`` without ever holding the weights, and
    on a CPU 1.3 to 1.9 times as fast forward and backward from 16 to 128 tokens.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key.
        allowed: True = the query may attend to the key. None: every query to every key.
        dropout: Applied to the weights, which are held then, so that the step's own noise decides what is dropped.

    Paper: section 3.2.1, equation 1.
    """
    if dropout is not None and dropout.training and dropout.p:
        return dropout.weights(attention_weights(q, k, allowed)) @ v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)


def split_heads(x: Float[Tensor, "b t h_d"], n_heads: int) -> Float[Tensor, "b h t d"]:
    """Cut the last dimension into heads, and put the heads before the positions."""
    b, t, h_d = x.shape
    return x.view(b, t, n_heads, h_d // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "b h t d"]) -> Float[Tensor, "b t h_d"]:
    """Undo :func:`split_heads`: Concat(head_1, ..., head_h)."""
    return x.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each over its own projections of the input.

    The paper writes the projections as matrices alone. Here each has a bias, as in the authors' later toolkits and in
    ``torch.nn.Transformer``; the biases are 0.1 % of the parameters.

    Args:
        d_model: Width of inputs and outputs.
        n_heads: Number of heads, h in the paper.
        d_k: Width of the queries and keys of one head.
        d_v: Width of the values of one head.
        p_dropout: Dropout on the attention weights.

    Paper: section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, d_k: int, d_v: int, p_dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, n_heads * d_k)
        self.k_proj = nn.Linear(d_model, n_heads * d_k)
        self.v_proj = nn.Linear(d_model, n_heads * d_v)
        self.out_proj = nn.Linear(n_heads * d_v, d_model)
        self.dropout = Dropout(p_dropout)
        self._observers: list[tuple[int, WeightsObserver]] = []  # with the thread whose calls each is shown

    def forward(
        self,
        x: Float[Tensor, "b tq d_model"],
        memory: Float[Tensor, "b tk d_model"],
        allowed: Bool[Tensor, "#b 1 #tq tk"] | None,
    ) -> Float[Tensor, "b tq d_model"]:
        """Let each position of ``x`` read from ``memory``; in self-attention both are the same.

        Args:
            x: What asks.
            memory: What is read.
            allowed: True = the position of ``x`` may attend to the position of ``memory``. None: all may.
        """
        keys, values = self.project_memory(memory)
        return self.attend(x, keys, values, allowed)

    if TYPE_CHECKING:
        __call__ = forward

    def project_memory(
        self, memory: Float[Tensor, "b tk d_model"]
    ) -> tuple[Float[Tensor, "b h tk d_k"], Float[Tensor, "b h tk d_v"]]:
        """Return the keys and the values of what is read: all that attention needs to know of it."""
        return split_heads(self.k_proj(memory), self.n_heads), split_heads(self.v_proj(memory), self.n_heads)

    def attend(
        self,
        x: Float[Tensor, "b tq d_model"],
        keys: Float[Tensor, "b h tk d_k"],
        values: Float[Tensor, "b h tk d_v"],
        allowed: Bool[Tensor, "#b 1 #tq tk"] | None,
    ) -> Float[Tensor, "b tq d_model"]:
        """Let each position of ``x`` read from projected keys and values, which may come from a cache."""
        q = split_heads(self.q_proj(x), self.n_heads)  # [b, h, tq, d_k]
        for thread, observer in tuple(self._observers):  # a copy, since other threads may come and go meanwhile
            if thread == threading.get_ident():
                observer(attention_weights(q, keys, allowed))
        heads = attention(q, keys, values, allowed, self.dropout)
        merged: Tensor = self.out_proj(merge_heads(heads))
        return merged

    @contextmanager
    def observe(self, observer: WeightsObserver) -> Iterator[None]:
        """Show an observer the weights of this thread's calls while the context is open: how attention maps are recorded.

        The weights are computed beside the answer, which stays what it is. Without observers this costs nothing. What
        other threads compute with the same layer meanwhile is not shown, so that threads may share a model.

        >>> layer, maps, x = MultiHeadAttention(8, 2, 4, 4, 0.0), [], torch.zeros(1, 3, 8)
        >>> with layer.observe(maps.append):
        ...     _ = layer(x, x, None)
        >>> maps[0].shape
        torch.Size([1, 2, 3, 3])
        """
        mine = (threading.get_ident(), observer)
        self._observers.append(mine)
        try:
            yield
        finally:
            self._observers.remove(mine)
