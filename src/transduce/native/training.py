"""The door to the kernels of training in C++: everything of a training step but the matrix products.

Rows are packed: the real tokens of all sentences of a microbatch, end to end and without padding, row-major float32. What a
function is given is memory of the caller, as a numpy array or as an address (``tensor.data_ptr()``), which the caller keeps
alive and of the size that is written here; nothing can check that. A row is as wide as it is said to be, so no width has to be
a multiple of anything. Functions compute in the thread that calls them, without the GIL; threads may call at once.

"+=" stands where something is added to what is there, ``None`` where an argument may be left out. A sum over rows is taken in
the order of the rows, so that the same call gives the same bits. A NaN stays one: it comes out in what it touches.

Dropout: bit by bit the masks of Philox4x32-7 with the step's key; see :class:`Noise`.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_double
from typing import NamedTuple

from transduce.native.model import InstructionSet, instruction_sets
from transduce.native.training_abi import (
    Address,
    AttentionArguments,
    EmbeddingArguments,
    LossArguments,
    Noise,
    NormArguments,
    ReluArguments,
    attention_weights_size,
    training_library,
)
from transduce.native.training_abi import address_of as _at

__all__ = ["Address", "LossNats", "Noise", "TrainingKernels", "attention_weights_size"]


class LossNats(NamedTuple):
    """Sums over the rows of :meth:`TrainingKernels.loss`, in nats."""

    nats: float
    """The smoothed loss."""
    nll_nats: float
    """Minus the log-probabilities of the labels."""


class TrainingKernels:
    """The functions, for one instruction set.

    Args:
        isa: One of :func:`~transduce.native.model.instruction_sets`; None: the fastest of this machine.

    Every method raises MemoryError where its scratch memory does not fit.

    Raises:
        NativeUnavailableError: The library is missing, or belongs to another version.
    """

    def __init__(self, isa: InstructionSet | None = None) -> None:
        self._library = training_library()
        self.isa = isa or instruction_sets()[0]

    def _call(self, name: str, arguments: ctypes.Structure, noise: Noise | None) -> None:
        self._check(getattr(self._library, f"transduce_training_{name}")(self.isa.number, arguments, noise))

    def _check(self, code: int) -> None:
        if code < 0:
            said = self._library.transduce_training_error().decode()
            raise MemoryError(said) if said == "std::bad_alloc" else ValueError(said)

    def embed(
        self,
        *,
        weight: Address,
        table: Address,
        ids: Address,
        positions: Address,
        out: Address,
        n: int,
        d: int,
        vocab: int,
        n_positions: int,
        scale: float,
        noise: Noise | None = None,
    ) -> None:
        """Compute out[r] = drop(weight[ids[r]] * scale + table[positions[r]]).

        Args:
            weight: ``[vocab, d]``.
            table: ``[n_positions, d]``: sinusoidal, or learned.
            ids: int64 ``[n]``.
            positions: int32 ``[n]``.
            out: ``[n, d]``, written.
            n: Rows.
            d: Width.
            vocab: Rows of ``weight``.
            n_positions: Rows of ``table``.
            scale: sqrt(d_model). Paper: section 3.4.
            noise: Dropout on the sum.

        Raises:
            ValueError: An id or a position is out of range.
        """
        self._call(
            "embed",
            EmbeddingArguments(
                *(_at(weight), _at(table), _at(ids), _at(positions), _at(out), None, None, None),
                *(n, d, vocab, n_positions, scale),
            ),
            noise,
        )

    def embed_backward(
        self,
        *,
        d_out: Address,
        ids: Address,
        positions: Address,
        d_weight: Address,
        d_table: Address | None,
        n: int,
        d: int,
        vocab: int,
        n_positions: int,
        scale: float,
        noise: Noise | None = None,
    ) -> None:
        """Compute d_weight[ids[r]] += drop(d_out[r]) * scale, and d_table[positions[r]] += drop(d_out[r]).

        What is not named here is as in :meth:`embed`, and so are the errors. ``d_out`` ``[n, d]`` is the gradient of ``out``
        and not changed. ``d_weight`` is ``[vocab, d]``, +=. ``d_table`` is ``[n_positions, d]``, +=; None: it is not learned.
        """
        self._call(
            "embed_backward",
            EmbeddingArguments(
                *(None, None, _at(ids), _at(positions), None, _at(d_out), _at(d_weight), _at(d_table)),
                *(n, d, vocab, n_positions, scale),
            ),
            noise,
        )

    def residual_norm(
        self,
        *,
        x: Address | None,
        y: Address,
        y_bias: Address | None,
        gain: Address | None,
        bias: Address | None,
        out: Address | None,
        mean: Address | None,
        inverse: Address | None,
        n: int,
        d: int,
        eps: float,
        noise: Noise | None = None,
    ) -> None:
        """Compute y = s = x + drop(y + y_bias), in place, and out = LayerNorm(s). Paper: sections 3.1 and 5.4.

        Args:
            x: ``[n, d]``, the stream; None: s = drop(y + y_bias). With neither ``x``, ``y_bias`` nor ``noise``: s = y, only read.
            y: ``[n, d]``, the sublayer's output; becomes s, which the backward needs.
            y_bias: ``[d]``; None: zeros.
            gain: ``[d]``.
            bias: ``[d]``.
            out: ``[n, d]``, written (it may be ``x``, not ``y``); None: only the sum is wanted.
            mean: ``[n]``, written.
            inverse: ``[n]``, written: 1 / sqrt(variance + eps), where the variance is the mean of the squares (biased).
            n: Rows.
            d: Width.
            eps: As of ``torch.nn.LayerNorm``.
            noise: Dropout on the sublayer's output.
        """
        self._call(
            "residual_norm",
            NormArguments(
                *(_at(x), _at(y), _at(y_bias), _at(gain), _at(bias), _at(out), _at(mean), _at(inverse)),
                *(None, None, None, None, None, None, None, n, d, eps),
            ),
            noise,
        )

    def residual_norm_backward(
        self,
        *,
        d_out: Address | None,
        d_stream: Address | None,
        s: Address | None,
        mean: Address | None,
        inverse: Address | None,
        gain: Address | None,
        d_x: Address | None,
        d_y: Address | None,
        d_gain: Address | None,
        d_bias: Address | None,
        d_y_bias: Address | None,
        n: int,
        d: int,
        noise: Noise | None = None,
    ) -> None:
        """Compute d_x = gradient of s = that through the norm + d_stream, and d_y = drop(d_x).

        Args:
            d_out: ``[n, d]``, gradient of ``out``; None: there was no norm, and ``s``, ``mean``, ``inverse``, ``gain``,
                ``d_gain`` and ``d_bias`` are not used.
            d_stream: ``[n, d]``, gradient that reaches s past the norm (pre-norm); None: zeros.
            s: ``[n, d]``, what the forward made of ``y``.
            mean: ``[n]`` of the forward.
            inverse: ``[n]`` of the forward.
            gain: ``[d]``.
            d_x: ``[n, d]``, written; it may be ``d_out`` or ``d_stream``. None: not wanted.
            d_y: ``[n, d]``, written; None: not wanted (without dropout it equals ``d_x``). It may be ``d_out`` or ``d_stream``
                too, but it may be ``d_x`` only without dropout.
            d_gain: ``[d]``, +=; None: not wanted.
            d_bias: ``[d]``, +=; None: not wanted.
            d_y_bias: ``[d]``, += the column sums of ``d_y``, which need not be wanted itself; None: not wanted.
            n: Rows.
            d: Width.
            noise: That of the forward.
        """
        self._call(
            "residual_norm_backward",
            NormArguments(
                *(None, _at(s), None, _at(gain), None, None, _at(mean), _at(inverse), _at(d_out), _at(d_stream)),
                *(_at(d_x), _at(d_y), _at(d_gain), _at(d_bias), _at(d_y_bias), n, d, 0.0),
            ),
            noise,
        )

    def relu(self, *, h: Address, bias: Address | None, n: int, d: int, noise: Noise | None = None) -> None:
        """Compute h = drop(max(0, h + bias)), in place. Paper: section 3.3, equation 2.

        Args:
            h: ``[n, d]``.
            bias: ``[d]``; None: zeros.
            n: Rows.
            d: Width (d_ff).
            noise: Dropout on the result.
        """
        self._call("relu", ReluArguments(_at(h), _at(bias), None, None, n, d), noise)

    def relu_backward(
        self, *, h: Address, d_h: Address, d_bias: Address | None, n: int, d: int, noise: Noise | None = None
    ) -> None:
        """Compute d_h = gradient of h + bias, from that of the h that the forward made, in place.

        ``d_bias`` ``[d]`` += the column sums of the new ``d_h`` ``[n, d]``; None: not wanted. Of the ``noise`` of the forward only
        the threshold is read, since what was dropped is 0 in ``h``.
        """
        self._call("relu_backward", ReluArguments(_at(h), None, _at(d_h), _at(d_bias), n, d), noise)

    def attention(
        self,
        *,
        q: Address,
        k: Address,
        v: Address,
        q_stride: int,
        k_stride: int,
        v_stride: int,
        q_bias: Address | None,
        k_bias: Address | None,
        v_bias: Address | None,
        query_offsets: Address,
        key_offsets: Address,
        n_sentences: int,
        n_heads: int,
        d_k: int,
        d_v: int,
        causal: int,
        out: Address,
        out_stride: int,
        weights: Address | None,
        noise: Noise | None = None,
    ) -> None:
        """Compute out = drop(softmax(q k^T / sqrt(d_k))) v, for each sentence and head. Paper: section 3.2, equation 1.

        Args:
            q: ``[queries, n_heads * d_k]``, head after head in a row; ``q_bias`` is added in place.
            k: ``[keys, n_heads * d_k]``; ``k_bias`` is added in place.
            v: ``[keys, n_heads * d_v]``; ``v_bias`` is added in place. q, k and v may be columns of one matrix.
            q_stride: Floats from one row of ``q`` to the next, here and below.
            k_stride: Of ``k``.
            v_stride: Of ``v``.
            q_bias: ``[n_heads * d_k]``; None: zeros.
            k_bias: ``[n_heads * d_k]``; None: zeros.
            v_bias: ``[n_heads * d_v]``; None: zeros.
            query_offsets: int32 ``[n_sentences + 1]``: the queries of sentence i are the rows from offsets[i] to offsets[i + 1].
            key_offsets: int32 ``[n_sentences + 1]``, of the rows of ``k`` and ``v``. Every sentence has at least one key.
            n_sentences: Sentences.
            n_heads: Heads.
            d_k: Width of the queries and keys of a head.
            d_v: Width of the values of a head.
            causal: 1: a query sees the keys up to its own position (as many keys as queries); 0: it sees all.
            out: ``[queries, n_heads * d_v]``, written.
            out_stride: Of ``out``.
            weights: ``[attention_weights_size]``, written: sentence after sentence ``[n_heads, tq, tk]``, before dropout, which
                the backward needs; None: not wanted.
            noise: Dropout on the weights: a row is a query, its elements are the sentence's keys. The positions and numbers
                are those of the queries; the head goes into the site word.

        Raises:
            ValueError: Offsets go down, a sentence has no key, or ``causal`` has other keys than queries.
        """
        self._call(
            "attention",
            AttentionArguments(
                *(_at(q), _at(k), _at(v), _at(q_bias), _at(k_bias), _at(v_bias)),
                *(
                    _at(query_offsets),
                    _at(key_offsets),
                    _at(weights),
                    _at(out),
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                ),
                *(q_stride, k_stride, v_stride, out_stride, n_sentences, n_heads, d_k, d_v, causal, d_k**-0.5),
            ),
            noise,
        )

    def attention_backward(
        self,
        *,
        q: Address,
        k: Address,
        v: Address,
        q_stride: int,
        k_stride: int,
        v_stride: int,
        query_offsets: Address,
        key_offsets: Address,
        n_sentences: int,
        n_heads: int,
        d_k: int,
        d_v: int,
        causal: int,
        weights: Address,
        d_out: Address,
        out_stride: int,
        d_q: Address,
        d_k_rows: Address,
        d_v_rows: Address,
        d_q_bias: Address | None,
        d_k_bias: Address | None,
        d_v_bias: Address | None,
        noise: Noise | None = None,
    ) -> None:
        """Compute the gradients of q, k and v, and add their column sums to those of the biases.

        What is not named here is as in :meth:`attention`, and so are the errors; q, k and v are as the forward left them, with
        their biases, and ``weights`` and ``noise`` its own. ``d_out`` has the shape and stride of ``out``.

        ``d_q``, ``d_k_rows`` and ``d_v_rows`` are written, each with the shape and stride of what it is the gradient of, and
        must not overlap what is read. ``d_k`` and ``d_v`` are widths here too. ``d_q_bias``, ``d_k_bias`` ``[n_heads * d_k]``
        and ``d_v_bias`` ``[n_heads * d_v]`` are added to; None: not wanted.
        """
        self._call(
            "attention_backward",
            AttentionArguments(
                *(_at(q), _at(k), _at(v), None, None, None, _at(query_offsets), _at(key_offsets), _at(weights), None),
                *(_at(d_out), _at(d_q), _at(d_k_rows), _at(d_v_rows), _at(d_q_bias), _at(d_k_bias), _at(d_v_bias)),
                *(q_stride, k_stride, v_stride, out_stride, n_sentences, n_heads, d_k, d_v, causal, d_k**-0.5),
            ),
            noise,
        )

    def loss(
        self,
        *,
        logits: Address,
        labels: Address,
        n: int,
        vocab: int,
        stride: int,
        label_smoothing: float,
        grad_scale: float | None,
        nll: Address | None = None,
    ) -> LossNats:
        """Sum the label-smoothed cross entropy over rows. Paper: section 5.4.

        Args:
            logits: ``[n, vocab]``; with a ``grad_scale`` they become the gradient of the smoothed loss, times it.
            labels: int64 ``[n]``.
            n: Rows.
            vocab: Width.
            stride: Floats from one row of ``logits`` to the next.
            label_smoothing: The share of probability spread evenly over the vocabulary (eps).
            grad_scale: Such as 1 / n_tgt_tokens; None: no gradient is wanted, and the logits stay.
            nll: ``[n]``, written: minus the log-probability of each label; None: not wanted.

        Raises:
            ValueError: A label is out of range.
        """
        nats, nll_nats = c_double(), c_double()
        wanted, factor = (0, 0.0) if grad_scale is None else (1, grad_scale)
        arguments = LossArguments(_at(logits), _at(labels), _at(nll), n, vocab, stride, wanted, label_smoothing, factor)
        self._check(self._library.transduce_training_loss(self.isa.number, arguments, byref(nats), byref(nll_nats)))
        return LossNats(nats.value, nll_nats.value)
