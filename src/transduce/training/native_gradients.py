"""Gradients on a CPU, by hand: packed rows, C++ kernels, and one thread of work for each core.

Each *lane* is a thread with every other pair of a microbatch (with two lanes), its own gradients and its own buffers, and
torch's matrix products on one core. Two products at once on one core each are faster here than one product on two, and
everything between the products runs on all cores too. The lanes share the weights; their gradients are added in a fixed
order at the end of the step.

What this computes is held against :mod:`transduce.training.torch_gradients`, dropout included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from transduce.base.cores import count_cores
from transduce.data.batch import Batch
from transduce.model.blocks import DecoderLayer, EncoderLayer
from transduce.model.noise import Dropout, NoiseKey
from transduce.model.norm import NormOrder
from transduce.model.transformer import Decoder, Encoder, Transformer
from transduce.native.training import TrainingKernels
from transduce.training.flat import FlatLayout
from transduce.training.loss import LossSum
from transduce.training.packed import PackedBatch, pack, pack_twice
from transduce.training.rdrop import loss_of_logits
from transduce.training.stacks import Embedding, Norm, Stack
from transduce.training.sublayers import (
    Buffers,
    CrossAttention,
    FeedForward,
    Lane,
    Matrix,
    Place,
    SelfAttention,
    Sublayer,
)

__all__ = ["NativeGradients"]

_MAX_LOGITS = 1 << 23
"""Logits that a lane holds at once: 32 MB. Fewer read a large vocabulary too often (half as fast at 37,000 ids with half of
them); more only cost memory."""


class _Nats(NamedTuple):
    """What a lane sums up."""

    nats: float
    nll_nats: float


@final
class NativeGradients:
    """The gradients of the whole model by C++ kernels and torch's matrix products.

    Args:
        model: The model, on the CPU. Its parameters move into one block of memory.
        label_smoothing: The share of probability spread evenly over the vocabulary.
        rdrop_alpha: Above 0: every pair goes through the model twice, and this is the weight of their divergence.
        n_lanes: Threads of work; None: one for each core that torch may use.

    Raises:
        NativeUnavailableError: There is no native library.
    """

    name = "native"

    def __init__(
        self, model: Transformer, *, label_smoothing: float, rdrop_alpha: float = 0.0, n_lanes: int | None = None
    ) -> None:
        kernels = TrainingKernels()
        n_lanes = n_lanes or max(1, min(count_cores(), torch.get_num_threads()))
        self._layout = FlatLayout(model)
        self._models = [_LaneModel(model, self._layout, kernels, label_smoothing, rdrop_alpha) for _ in range(n_lanes)]
        self._threads = ThreadPoolExecutor(n_lanes, thread_name_prefix="lane", initializer=_begin_lane)

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Do what :class:`~transduce.training.gradients.GradientEngine` says."""
        n_lanes = len(self._models)

        def run_lane(number: int) -> _Nats:
            packed = (pack(batch, number, n_lanes) for batch in microbatches)
            try:
                return self._models[number].run((batch for batch in packed if len(batch.labels)), n_tgt_tokens, key)
            except MemoryError as error:  # of numpy or C++: said as torch says it, so that one handler knows all
                raise RuntimeError(f"cannot allocate memory: {error}") from None

        running = [self._threads.submit(run_lane, number) for number in range(n_lanes)]
        wait(running)  # all of them, also when one fails: a lane's memory must not be used by two calls
        sums = [lane.result() for lane in running]
        first, *others = (one.gradients for one in self._models)
        for other in others:
            first.add_(other)
        self._layout.set_gradients(first)
        return LossSum(
            torch.tensor(sum(one.nats for one in sums), dtype=torch.float32),
            torch.tensor(sum(one.nll_nats for one in sums), dtype=torch.float32),
            sum(batch.n_tgt_tokens for batch in microbatches),
        )


def _begin_lane() -> None:
    torch.set_num_threads(1)  # of this thread only: the others keep theirs
    torch.set_flush_denormal(True)


@final
class _LaneModel:
    """Forward and backward of the whole model in one lane."""

    def __init__(
        self,
        model: Transformer,
        layout: FlatLayout,
        kernels: TrainingKernels,
        label_smoothing: float,
        rdrop_alpha: float,
    ) -> None:
        self.gradients = layout.new_block()
        self._lane = lane = Lane(kernels, Buffers(), layout, self.gradients)
        self._label_smoothing, self._rdrop_alpha = label_smoothing, rdrop_alpha
        src_vectors = lane.matrix("src_embedding.weight")
        tgt_vectors = src_vectors if model.tgt_embedding is None else lane.matrix("tgt_embedding.weight")
        self._output = tgt_vectors if model.output is None else lane.matrix("output.weight")
        scale = model.src_embedding.scale
        self._src = _embedding(lane, "encoder", model.encoder, src_vectors, scale)
        self._tgt = _embedding(lane, "decoder", model.decoder, tgt_vectors, scale)
        self._encoder, _ = _stack(lane, "encoder", model.encoder)
        self._decoder, self._readers = _stack(lane, "decoder", model.decoder)

    @torch.no_grad()
    def run(self, batches: Iterable[PackedBatch], n_tgt_tokens: int, key: NoiseKey) -> _Nats:
        """Compute the gradients of some microbatches, and return the sums of their losses."""
        self._lane.key = key
        self._lane.begin()
        losses = [self._run_batch(batch, n_tgt_tokens) for batch in batches]
        self._lane.end()
        return _Nats(sum(one.nats for one in losses), sum(one.nll_nats for one in losses))

    def _run_batch(self, batch: PackedBatch, n_tgt_tokens: int) -> _Nats:
        if self._rdrop_alpha:
            batch = pack_twice(batch)
        memory = self._encoder.forward(self._src.forward(batch.src), batch.src)
        d_memory = self._lane.buffers.take("d_memory", *memory.shape).zero_()
        for reader in self._readers:
            reader.read(memory, d_memory, batch.src)
        hidden = self._decoder.forward(self._tgt.forward(batch.tgt), batch.tgt)
        d_hidden = self._lane.buffers.take("d_hidden", *hidden.shape)
        make_loss = self._rdrop_loss if self._rdrop_alpha else self._loss
        loss = make_loss(hidden, d_hidden, batch, 1 / n_tgt_tokens)
        self._tgt.backward(self._decoder.backward(d_hidden))
        self._src.backward(self._encoder.backward(d_memory))
        return loss

    def _loss(self, hidden: Tensor, d_hidden: Tensor, batch: PackedBatch, grad_scale: float) -> _Nats:
        """Sum the losses, and write the gradient of the hidden states. Never more than some logits are held."""
        n, vocab = len(hidden), len(self._output.weight)
        chunk = max(1, _MAX_LOGITS // vocab)
        nats = nll_nats = 0.0
        for start in range(0, n, chunk):
            rows = slice(start, min(n, start + chunk))
            logits = self._output.multiply(
                hidden[rows], self._lane.buffers.take("logits", rows.stop - rows.start, vocab)
            )
            loss = self._lane.kernels.loss(
                logits=logits.data_ptr(),
                labels=batch.labels[rows],
                n=len(logits),
                vocab=vocab,
                stride=vocab,
                label_smoothing=self._label_smoothing,
                grad_scale=grad_scale,
            )
            self._output.multiply_back(logits, d_hidden[rows], add=False)
            self._output.learn(logits, hidden[rows])
            nats, nll_nats = nats + loss.nats, nll_nats + loss.nll_nats
        return _Nats(nats, nll_nats)

    def _rdrop_loss(self, hidden: Tensor, d_hidden: Tensor, batch: PackedBatch, grad_scale: float) -> _Nats:
        """Do what :meth:`_loss` does for two copies of each row."""
        n, (vocab, d_model) = len(batch.labels), self._output.weight.shape
        hidden, d_hidden = hidden.view(2, n, d_model), d_hidden.view(2, n, d_model)
        chunk = max(1, _MAX_LOGITS // (2 * vocab))
        labels = torch.from_numpy(batch.labels)
        nats = nll_nats = 0.0
        for start in range(0, n, chunk):
            rows = slice(start, min(n, start + chunk))
            logits = self._lane.buffers.take("logits", 2 * (rows.stop - start), vocab).view(2, -1, vocab)
            for copy in range(2):
                self._output.multiply(hidden[copy, rows], logits[copy])
            log_p = torch.log_softmax(logits, dim=2)
            chunk_nats, chunk_nll, d_logits = loss_of_logits(
                log_p, labels[rows], self._label_smoothing, self._rdrop_alpha
            )
            d_logits *= grad_scale
            for copy in range(2):
                self._output.multiply_back(d_logits[copy], d_hidden[copy, rows], add=False)
                self._output.learn(d_logits[copy], hidden[copy, rows])
            nats, nll_nats = nats + float(chunk_nats), nll_nats + float(chunk_nll)
        return _Nats(nats, nll_nats)


def _place(dropout: Dropout) -> Place:
    return Place.of(dropout.site, dropout.p)


def _embedding(lane: Lane, name: str, stack: Encoder | Decoder, vectors: Matrix, scale: float) -> Embedding:
    return Embedding(lane, name, vectors, scale, stack.positions, _place(stack.dropout))


def _stack(lane: Lane, name: str, module: Encoder | Decoder) -> tuple[Stack, list[CrossAttention]]:
    """Return the sublayers of a stack, and those of them that read the source."""
    sublayers: list[Sublayer] = []
    norms: list[Norm] = []
    places: list[Place] = []
    readers: list[CrossAttention] = []

    def add(sublayer: Sublayer, norm_name: str, norm: nn.LayerNorm, dropout: Dropout) -> None:
        sublayers.append(sublayer)
        norms.append(Norm.of(lane, norm_name, norm))
        places.append(_place(dropout))

    order: NormOrder = "post"
    for i, layer in enumerate(module.layers):
        assert isinstance(layer, EncoderLayer | DecoderLayer)  # a ModuleList has forgotten what it holds
        at, order = f"{name}.layers.{i}", layer.order
        is_decoder = isinstance(layer, DecoderLayer)
        own = SelfAttention(lane, f"{at}.self_attention", layer.self_attention, causal=is_decoder)
        add(own, f"{at}.self_attention_norm", layer.self_attention_norm, layer.self_attention_dropout)
        if isinstance(layer, DecoderLayer):
            reader = CrossAttention(lane, f"{at}.cross_attention", layer.cross_attention)
            readers.append(reader)
            add(reader, f"{at}.cross_attention_norm", layer.cross_attention_norm, layer.cross_attention_dropout)
        network = FeedForward(lane, f"{at}.feed_forward", _place(layer.feed_forward.dropout))
        add(network, f"{at}.feed_forward_norm", layer.feed_forward_norm, layer.feed_forward_dropout)
    if isinstance(module.norm, nn.LayerNorm):
        norms.append(Norm.of(lane, f"{name}.norm", module.norm))
    return Stack(lane, name, order, sublayers, norms, places), readers
