"""The sublayers of the model forward and backward by hand: torch multiplies the matrices, C++ does everything else.

Every class here computes what the module of the same name in ``model/`` does, on packed rows, and the gradients of its
parameters. What a backward needs stays in named buffers that are used again and again; so nothing is allocated in a step,
and the memory of a step is that of the largest one so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, final, runtime_checkable

import torch
from torch import Tensor

from transduce.model.attention import MultiHeadAttention
from transduce.model.noise import NoiseKey, drop_threshold
from transduce.native.training import Noise, TrainingKernels, attention_weights_size
from transduce.training.flat import FlatLayout
from transduce.training.packed import Rows

__all__ = ["Buffers", "CrossAttention", "FeedForward", "Lane", "Matrix", "Place", "SelfAttention", "Sublayer"]


@final
class Buffers:
    """Memory by name. It grows to the largest that was asked for, and is not cleared."""

    def __init__(self) -> None:
        self._by_name: dict[str, Tensor] = {}

    def take(self, name: str, n: int, width: int = 1) -> Tensor:
        """Return ``[n, width]`` floats with arbitrary contents, in the memory of that name.

        Args:
            name: What was returned for it before is overwritten.
            n: Rows.
            width: Floats in a row.
        """
        size = n * width
        block = self._by_name.get(name)
        if block is None or block.numel() < size:
            block = self._by_name[name] = torch.empty(size + size // 8)
        return block[:size].view(n, width)


@dataclass
class Lane:
    """What the sublayers of one thread share."""

    kernels: TrainingKernels
    buffers: Buffers
    layout: FlatLayout
    gradients: Tensor
    """The lane's own block of gradients, which are added to."""
    key: NoiseKey = (0, 0)
    """Of the step's dropout."""
    parameters: list[Matrix] = field(default_factory=list)
    """All that :meth:`matrix` and :meth:`factor` have returned."""

    def matrix(self, *names: str) -> Matrix:
        """Return one parameter, or several that stand behind one another, with its gradient, which is added to."""
        self.parameters.append(Matrix(*self._views(*names), is_factor=False))
        return self.parameters[-1]

    def factor(self, *names: str) -> Matrix:
        """Return the same for what only :meth:`Matrix.learn` ever adds to."""
        self.parameters.append(Matrix(*self._views(*names), is_factor=True))
        return self.parameters[-1]

    def begin(self) -> None:
        """Let all gradients count as zero."""
        for parameter in self.parameters:
            if not parameter.is_factor:
                parameter.gradient.zero_()
            parameter.is_learned = False

    def end(self) -> None:
        """Clear what nothing was added to."""
        for parameter in self.parameters:
            if parameter.is_factor and not parameter.is_learned:
                parameter.gradient.zero_()

    def _views(self, *names: str) -> tuple[Tensor, Tensor]:
        return self.layout.view(self.layout.weights, *names), self.layout.view(self.gradients, *names)


@dataclass
class Matrix:
    """A parameter and its gradient."""

    weight: Tensor
    gradient: Tensor
    is_factor: bool
    """True: the first product of a step is written over the gradient, which saves clearing and reading it."""
    is_learned: bool = False
    """True: this step has added to the gradient already."""

    def multiply(self, x: Tensor, out: Tensor) -> Tensor:
        """Out = x weight^T, and return it."""
        return torch.mm(x, self.weight.t(), out=out)

    def multiply_back(self, d_y: Tensor, d_x: Tensor, *, add: bool) -> None:
        """d_x = d_y weight, or += with ``add``: from the gradient of the product to that of its input."""
        if add:
            d_x.addmm_(d_y, self.weight)
        else:
            torch.mm(d_y, self.weight, out=d_x)

    def learn(self, d_y: Tensor, x: Tensor) -> None:
        """Gradient += d_y^T x."""
        if self.is_factor and not self.is_learned:
            torch.mm(d_y.t(), x, out=self.gradient)
        else:
            self.gradient.addmm_(d_y.t(), x)
        self.is_learned = True


@dataclass(frozen=True)
class Place:
    """A dropout of the model."""

    site: int
    threshold: int

    @classmethod
    def of(cls, site: int, p_dropout: float) -> Place:
        """Return the place for a dropout module."""
        return cls(site, drop_threshold(p_dropout))

    def noise(self, lane: Lane, rows: Rows) -> Noise | None:
        """Return what is dropped from some rows; None: nothing."""
        if self.threshold == 0:
            return None
        return Noise(lane.key, self.site, self.threshold, rows.positions, rows.numbers)


@runtime_checkable  # for the type checks that tests make at run time
class Sublayer(Protocol):
    """What stands inside a residual connection."""

    bias: Matrix
    """Added to the output by whoever adds the output to the stream."""

    def forward(self, a: Tensor, rows: Rows) -> Tensor:
        """Return the output ``[n, d_model]`` without its bias, in a buffer that the caller may change.

        Args:
            a: ``[n, d_model]``: what the sublayer is told; kept until the backward.
            rows: Which tokens the rows are.
        """
        ...

    def backward(self, d_y: Tensor, d_a: Tensor, *, add: bool) -> None:
        """Add to the gradients of the parameters, and write that of the input.

        Args:
            d_y: ``[n, d_model]``: gradient of the output; read before ``d_a`` is written, so both may be one.
            d_a: ``[n, d_model]``: gradient of the input.
            add: True: it is added to what is there.
        """
        ...


@final
class FeedForward:
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2. Paper: section 3.3, equation 2.

    Args:
        lane: Its thread.
        name: Of the module.
        dropout: On the inner activations.
    """

    def __init__(self, lane: Lane, name: str, dropout: Place) -> None:
        self._lane, self._name, self._dropout = lane, name, dropout
        self._inner, self._inner_bias = lane.factor(f"{name}.in_proj.weight"), lane.matrix(f"{name}.in_proj.bias")
        self._outer, self.bias = lane.factor(f"{name}.out_proj.weight"), lane.matrix(f"{name}.out_proj.bias")

    def forward(self, a: Tensor, rows: Rows) -> Tensor:
        """Do what :class:`Sublayer` says."""
        lane, (d_ff, d_model) = self._lane, self._inner.weight.shape
        self._a, self._noise = a, self._dropout.noise(lane, rows)
        self._h = self._inner.multiply(a, lane.buffers.take(f"{self._name}.h", len(a), d_ff))
        lane.kernels.relu(
            h=self._h.data_ptr(), bias=self._inner_bias.weight.data_ptr(), n=len(a), d=d_ff, noise=self._noise
        )
        return self._outer.multiply(self._h, lane.buffers.take(f"{self._name}.y", len(a), d_model))

    def backward(self, d_y: Tensor, d_a: Tensor, *, add: bool) -> None:
        """Do what :class:`Sublayer` says."""
        lane, (n, d_ff) = self._lane, self._h.shape
        d_h = lane.buffers.take("d_h", n, d_ff)
        self._outer.multiply_back(d_y, d_h, add=False)
        self._outer.learn(d_y, self._h)
        lane.kernels.relu_backward(
            h=self._h.data_ptr(),
            d_h=d_h.data_ptr(),
            d_bias=self._inner_bias.gradient.data_ptr(),
            n=n,
            d=d_ff,
            noise=self._noise,
        )
        self._inner.learn(d_h, self._a)
        self._inner.multiply_back(d_h, d_a, add=add)


@dataclass(frozen=True)
class _Columns:
    """Some columns of a matrix that holds the projections of several things side by side."""

    matrix: Tensor
    start: int

    @property
    def address(self) -> int:
        return self.matrix.data_ptr() + self.start * self.matrix.element_size()

    @property
    def stride(self) -> int:
        return self.matrix.shape[-1]


@final
class _Heads:
    """The part of attention behind the projections: which weight each key gets, the mean of the values, the output's product."""

    def __init__(self, lane: Lane, name: str, module: MultiHeadAttention, *, causal: bool) -> None:
        self._lane, self._name, self._causal = lane, name, int(causal)
        self._n_heads = module.n_heads
        self._d_k = module.k_proj.out_features // module.n_heads
        self._d_v = module.v_proj.out_features // module.n_heads
        self._dropout = Place.of(module.dropout.site, module.dropout.p)
        biases = [f"{name}.{which}_proj.bias" for which in "qkv"]
        self._biases = [lane.matrix(bias) for bias in biases]
        self._outer, self.bias = lane.factor(f"{name}.out_proj.weight"), lane.matrix(f"{name}.out_proj.bias")

    def forward(self, q: _Columns, k: _Columns, v: _Columns, queries: Rows, keys: Rows) -> Tensor:
        """Return the output ``[n, d_model]`` without its bias. The biases of q, k and v are added to them in place."""
        lane, n = self._lane, len(queries.ids)
        self._projections = q, k, v
        self._rows = queries, keys
        self._noise = self._dropout.noise(lane, queries)
        size = attention_weights_size(queries.offsets, keys.offsets, self._n_heads)
        self._weights = lane.buffers.take(f"{self._name}.weights", size)
        out = self._out = lane.buffers.take(f"{self._name}.heads", n, self._n_heads * self._d_v)
        q_bias, k_bias, v_bias = (bias.weight.data_ptr() for bias in self._biases)
        lane.kernels.attention(
            q=q.address,
            k=k.address,
            v=v.address,
            q_stride=q.stride,
            k_stride=k.stride,
            v_stride=v.stride,
            q_bias=q_bias,
            k_bias=k_bias,
            v_bias=v_bias,
            query_offsets=queries.offsets,
            key_offsets=keys.offsets,
            n_sentences=len(queries.offsets) - 1,
            n_heads=self._n_heads,
            d_k=self._d_k,
            d_v=self._d_v,
            causal=self._causal,
            out=out.data_ptr(),
            out_stride=out.shape[1],
            weights=self._weights.data_ptr(),
            noise=self._noise,
        )
        return self._outer.multiply(out, lane.buffers.take(f"{self._name}.y", n, len(self._outer.weight)))

    def backward(self, d_y: Tensor, d_q: _Columns, d_k: _Columns, d_v: _Columns) -> None:
        """Write the gradients of the three projections, and add to those of their biases."""
        d_out = self._lane.buffers.take("d_heads", *self._out.shape)
        self._outer.multiply_back(d_y, d_out, add=False)
        self._outer.learn(d_y, self._out)
        q, k, v = self._projections
        queries, keys = self._rows
        d_q_bias, d_k_bias, d_v_bias = (bias.gradient.data_ptr() for bias in self._biases)
        self._lane.kernels.attention_backward(
            q=q.address,
            k=k.address,
            v=v.address,
            q_stride=q.stride,
            k_stride=k.stride,
            v_stride=v.stride,
            query_offsets=queries.offsets,
            key_offsets=keys.offsets,
            n_sentences=len(queries.offsets) - 1,
            n_heads=self._n_heads,
            d_k=self._d_k,
            d_v=self._d_v,
            causal=self._causal,
            weights=self._weights.data_ptr(),
            d_out=d_out.data_ptr(),
            out_stride=d_out.shape[1],
            d_q=d_q.address,
            d_k_rows=d_k.address,
            d_v_rows=d_v.address,
            d_q_bias=d_q_bias,
            d_k_bias=d_k_bias,
            d_v_bias=d_v_bias,
            noise=self._noise,
        )


@final
class SelfAttention:
    """A sentence reads itself. Paper: section 3.2.2.

    Args:
        lane: Its thread.
        name: Of the module.
        module: For its sizes.
        causal: True: no position sees a later one.
    """

    def __init__(self, lane: Lane, name: str, module: MultiHeadAttention, *, causal: bool) -> None:
        self._lane, self._name = lane, name
        self._heads = _Heads(lane, name, module, causal=causal)
        self._projection = lane.factor(*(f"{name}.{which}_proj.weight" for which in "qkv"))
        keys_at = module.q_proj.out_features
        self._starts = (0, keys_at, keys_at + module.k_proj.out_features)
        self.bias = self._heads.bias

    def forward(self, a: Tensor, rows: Rows) -> Tensor:
        """Do what :class:`Sublayer` says."""
        self._a = a
        width = len(self._projection.weight)
        qkv = self._projection.multiply(a, self._lane.buffers.take(f"{self._name}.qkv", len(a), width))
        q, k, v = (_Columns(qkv, start) for start in self._starts)
        return self._heads.forward(q, k, v, rows, rows)

    def backward(self, d_y: Tensor, d_a: Tensor, *, add: bool) -> None:
        """Do what :class:`Sublayer` says."""
        buffers, n = self._lane.buffers, len(d_y)
        d_qkv = buffers.take("d_qkv", n, self._projection.weight.shape[0])
        d_q, d_k, d_v = (_Columns(d_qkv, start) for start in self._starts)
        self._heads.backward(d_y, d_q, d_k, d_v)
        self._projection.learn(d_qkv, self._a)
        self._projection.multiply_back(d_qkv, d_a, add=add)


@final
class CrossAttention:
    """The translation reads the source. ``read`` says what, before each forward. Paper: section 3.2.3.

    Args:
        lane: Its thread.
        name: Of the module.
        module: For its sizes.
    """

    def __init__(self, lane: Lane, name: str, module: MultiHeadAttention) -> None:
        self._lane, self._name = lane, name
        self._heads = _Heads(lane, name, module, causal=False)
        self._query = lane.factor(f"{name}.q_proj.weight")
        self._memory_projection = lane.factor(*(f"{name}.{which}_proj.weight" for which in "kv"))
        self._starts = (0, module.k_proj.out_features)
        self.bias = self._heads.bias

    def read(self, memory: Tensor, d_memory: Tensor, rows: Rows) -> None:
        """Say what is read next.

        Args:
            memory: ``[n, d_model]``: what the encoder wrote.
            d_memory: ``[n, d_model]``: where its gradient is added.
            rows: Which tokens its rows are.
        """
        self._memory, self._d_memory, self._memory_rows = memory, d_memory, rows

    def forward(self, a: Tensor, rows: Rows) -> Tensor:
        """Do what :class:`Sublayer` says."""
        buffers = self._lane.buffers
        self._a = a
        q = self._query.multiply(a, buffers.take(f"{self._name}.q", len(a), len(self._query.weight)))
        kv = self._memory_projection.multiply(
            self._memory, buffers.take(f"{self._name}.kv", len(self._memory), len(self._memory_projection.weight))
        )
        k, v = (_Columns(kv, start) for start in self._starts)
        return self._heads.forward(_Columns(q, 0), k, v, rows, self._memory_rows)

    def backward(self, d_y: Tensor, d_a: Tensor, *, add: bool) -> None:
        """Do what :class:`Sublayer` says, and add to the gradient of the memory."""
        buffers, n, n_memory = self._lane.buffers, len(d_y), len(self._memory)
        d_q = buffers.take("d_q", n, len(self._query.weight))
        d_kv = buffers.take("d_kv", n_memory, len(self._memory_projection.weight))
        d_k, d_v = (_Columns(d_kv, start) for start in self._starts)
        self._heads.backward(d_y, _Columns(d_q, 0), d_k, d_v)
        self._query.learn(d_q, self._a)
        self._query.multiply_back(d_q, d_a, add=add)
        self._memory_projection.learn(d_kv, self._memory)
        self._memory_projection.multiply_back(d_kv, self._d_memory, add=True)
