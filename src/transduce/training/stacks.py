"""Encoder and decoder forward and backward by hand: the embedding, and sublayers with their residual connections and norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from torch import Tensor, nn

from transduce.model.norm import NormOrder
from transduce.model.positions import Positions, SinusoidalPositions
from transduce.training.packed import Rows
from transduce.training.sublayers import Lane, Matrix, Place, Sublayer

__all__ = ["Embedding", "Norm", "Residual", "Stack"]


@final
class Embedding:
    """Vectors of tokens, with their positions. Paper: sections 3.4, 3.5 and 5.4.

    Args:
        lane: Its thread.
        name: Of the stack.
        vectors: The parameter that holds the vectors.
        scale: What they are multiplied by.
        positions: Of the stack.
        dropout: On the sum.
    """

    def __init__(
        self, lane: Lane, name: str, vectors: Matrix, scale: float, positions: Positions, dropout: Place
    ) -> None:
        self._lane, self._name, self._vectors, self._scale = lane, name, vectors, scale
        self._positions, self._dropout = positions, dropout
        self._d_table = (
            None if isinstance(positions, SinusoidalPositions) else lane.matrix(f"{name}.positions.weight").gradient
        )

    def forward(self, rows: Rows) -> Tensor:
        """Return ``[n, d_model]``."""
        lane, n, (vocab, d) = self._lane, len(rows.ids), self._vectors.weight.shape
        self._table = self._positions.table(int(rows.positions.max(initial=-1)) + 1)
        self._rows, self._noise = rows, self._dropout.noise(lane, rows)
        out = lane.buffers.take(f"{self._name}.embedded", n, d)
        lane.kernels.embed(
            weight=self._vectors.weight.data_ptr(),
            table=self._table.data_ptr(),
            ids=rows.ids,
            positions=rows.positions,
            out=out.data_ptr(),
            n=n,
            d=d,
            vocab=vocab,
            n_positions=len(self._table),
            scale=self._scale,
            noise=self._noise,
        )
        return out

    def backward(self, d_out: Tensor) -> None:
        """Add to the gradients of the vectors, and of the positions where they are learned."""
        n, d = d_out.shape
        self._lane.kernels.embed_backward(
            d_out=d_out.data_ptr(),
            ids=self._rows.ids,
            positions=self._rows.positions,
            d_weight=self._vectors.gradient.data_ptr(),
            d_table=None if self._d_table is None else self._d_table.data_ptr(),
            n=n,
            d=d,
            vocab=len(self._vectors.weight),
            n_positions=len(self._table),
            scale=self._scale,
            noise=self._noise,
        )


@dataclass(frozen=True)
class Norm:
    """The parameters of a layer normalization."""

    gain: Matrix
    bias: Matrix
    eps: float

    @classmethod
    def of(cls, lane: Lane, name: str, module: nn.LayerNorm) -> Norm:
        """Return those of a module."""
        return cls(lane.matrix(f"{name}.weight"), lane.matrix(f"{name}.bias"), module.eps)


@final
class Residual:
    """s = x + dropout(y + y's bias), and the normalization of the sum that follows. Paper: sections 3.1 and 5.4.

    Args:
        lane: Its thread.
        name: Of its buffers.
        bias: Of the sublayer whose output is y. None: the stack begins here, and there is nothing but y.
        norm: What follows; in a pre-norm stack the norm of the next sublayer.
        dropout: On y.
    """

    def __init__(self, lane: Lane, name: str, bias: Matrix | None, norm: Norm, dropout: Place) -> None:
        self._lane, self._name, self._bias, self._norm, self._dropout = lane, name, bias, norm, dropout

    def forward(self, x: Tensor | None, y: Tensor, rows: Rows) -> Tensor:
        """Return the normalized sum ``[n, d_model]``. The sum itself takes the place of ``y``."""
        buffers, (n, d) = self._lane.buffers, y.shape
        self._noise = self._dropout.noise(self._lane, rows)
        self._sum = y
        self._mean, self._inverse = (buffers.take(f"{self._name}.{which}", n) for which in ("mean", "inverse"))
        out = buffers.take(f"{self._name}.out", n, d)
        self._lane.kernels.residual_norm(
            x=None if x is None else x.data_ptr(),
            y=y.data_ptr(),
            y_bias=None if self._bias is None else self._bias.weight.data_ptr(),
            gain=self._norm.gain.weight.data_ptr(),
            bias=self._norm.bias.weight.data_ptr(),
            out=out.data_ptr(),
            mean=self._mean.data_ptr(),
            inverse=self._inverse.data_ptr(),
            n=n,
            d=d,
            eps=self._norm.eps,
            noise=self._noise,
        )
        return out

    def backward(self, d_out: Tensor, d_stream: Tensor | None, d_x: Tensor) -> Tensor:
        """Write the gradient of x and return that of y, which is the same memory where nothing is dropped.

        Args:
            d_out: Gradient of the normalized sum.
            d_stream: Gradient of the sum itself, where it goes on past the norm; None: it does not.
            d_x: Where to write; it may be one of the two.
        """
        n, d = d_out.shape
        d_y = d_x if self._noise is None else self._lane.buffers.take("d_y", n, d)
        self._lane.kernels.residual_norm_backward(
            d_out=d_out.data_ptr(),
            d_stream=None if d_stream is None else d_stream.data_ptr(),
            s=self._sum.data_ptr(),
            mean=self._mean.data_ptr(),
            inverse=self._inverse.data_ptr(),
            gain=self._norm.gain.weight.data_ptr(),
            d_x=d_x.data_ptr(),
            d_y=None if d_y is d_x else d_y.data_ptr(),
            d_gain=self._norm.gain.gradient.data_ptr(),
            d_bias=self._norm.bias.gradient.data_ptr(),
            d_y_bias=None if self._bias is None else self._bias.gradient.data_ptr(),
            n=n,
            d=d,
            noise=self._noise,
        )
        return d_y


@final
class Stack:
    """Sublayers one after another, in either order of norms.

    Args:
        lane: Its thread.
        name: Of the stack: its buffers, and where its final norm stands.
        order: ``post``: each sum is normalized, and goes on so. ``pre``: the sum goes on, normalized for the next sublayer.
        sublayers: First to last.
        norms: One for each sublayer, in their order; with ``pre`` the final one behind them.
        dropouts: One for each sublayer.
    """

    def __init__(
        self,
        lane: Lane,
        name: str,
        order: NormOrder,
        sublayers: Sequence[Sublayer],
        norms: Sequence[Norm],
        dropouts: Sequence[Place],
    ) -> None:
        self._lane, self._name, self._order, self._sublayers = lane, name, order, sublayers
        self._first: Residual | None = None
        if order == "pre":
            self._first = Residual(lane, f"{name}.first", None, norms[0], Place(0, 0))
            norms = norms[1:]
        self._residuals = [
            Residual(lane, f"{name}.{i}", sublayer.bias, norm, dropout)
            for i, (sublayer, norm, dropout) in enumerate(zip(sublayers, norms, dropouts, strict=True))
        ]

    def forward(self, x: Tensor, rows: Rows) -> Tensor:
        """Return what the last norm makes, ``[n, d_model]``.

        Args:
            x: The embedded tokens.
            rows: Which they are.
        """
        stream = told = x
        if self._first is not None:
            told = self._first.forward(None, x, rows)
        for sublayer, residual in zip(self._sublayers, self._residuals, strict=True):
            y = sublayer.forward(told, rows)
            told = residual.forward(stream, y, rows)
            stream = y if self._order == "pre" else told
        return told

    def backward(self, d_out: Tensor) -> Tensor:
        """Return the gradient of the embedded tokens, in the memory of ``d_out`` or in its own."""
        d_stream: Tensor | None = None
        if self._order == "pre":
            d_stream = self._lane.buffers.take(f"{self._name}.d_stream", *d_out.shape)
        is_last = True
        for sublayer, residual in zip(reversed(self._sublayers), reversed(self._residuals), strict=True):
            if d_stream is None:
                d_y = residual.backward(d_out, None, d_out)
                sublayer.backward(d_y, d_out, add=True)
            else:
                d_y = residual.backward(d_out, None if is_last else d_stream, d_stream)
                sublayer.backward(d_y, d_out, add=False)
            is_last = False
        if self._first is not None and d_stream is not None:
            self._first.backward(d_out, d_stream, d_stream)
            return d_stream
        return d_out
