"""Decoder steps of a few fixed shapes, each recorded once as a CUDA graph and replayed from then on.

A step of a small model is some hundred operations of a few microseconds each. Launched one by one, the GPU waits for the
host between them; a graph is launched at once. It can only be replayed over the same tensors, so searches of all sizes are
fitted into a few shapes (:func:`fit_shape`), and each shape has tensors of its own (:class:`FixedStep`), which one session
at a time may use (:class:`StepPool`).

On a CPU the same steps run without being recorded; the tests do that.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Int
from torch import Tensor

from transduce.decoding.engine import IntArray
from transduce.model.fixed_cache import FixedCache, StepShape, fixed_step
from transduce.model.transformer import Transformer
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

__all__ = ["Capture", "FixedStep", "GraphCapture", "StepPool", "fit_k", "fit_shape"]

Capture = Callable[[Callable[[], None]], Callable[[], None]]
"""Takes a computation over fixed tensors, and gives what repeats it. It may run it some times, which must leave no trace."""

_RUNS_BEFORE_CAPTURE = 4
"""A shape is recorded at its fifth step. Recording costs about as much as the few steps that warm it up, so that a shape
that hardly comes up is not worth it."""
_WARM_UP_RUNS = 3
_MAX_STEPS = 32
"""Shapes kept; of more, those not used for longest are forgotten."""


def fit_shape(
    n_sentences: int, width: int, src_tokens: int, tgt_tokens: int, max_tokens: int | None = None
) -> StepShape:
    """Return the smallest of the few shapes that has room.

    Args:
        n_sentences: Sentences.
        width: Rows of the sentence that has most.
        src_tokens: The longest source, EOS included.
        tgt_tokens: The longest target, BOS and the next token included.
        max_tokens: Positions that the model has; None: any number.

    >>> fit_shape(3, 4, 9, 33)
    StepShape(n_sentences=4, width=4, src_tokens=16, tgt_tokens=64)
    >>> fit_shape(300, 5, 260, 40, max_tokens=50)
    StepShape(n_sentences=512, width=6, src_tokens=512, tgt_tokens=50)
    """
    capacity = _fit(tgt_tokens, 32, 512)
    if max_tokens is not None:
        capacity = max(min(capacity, max_tokens), tgt_tokens)  # too many tokens are refused by the positions
    return StepShape(_fit(n_sentences, 1, 256), _fit_width(width), _fit(src_tokens, 16, 256), capacity)


def fit_k(k: int, tgt_vocab_size: int) -> int:
    """Return how many tokens a step proposes where ``k`` are asked for: the next power of two, if there are so many.

    >>> fit_k(5, 32000), fit_k(5, N_CONTROL + 6)
    (8, 6)
    """
    return min(_fit(k, 1, k), tgt_vocab_size - N_CONTROL)


def _fit(size: int, smallest: int, largest: int) -> int:
    """Double the smallest size until it has room; above the largest go on in steps of that."""
    if size > largest:
        return -(-size // largest) * largest
    fitted = smallest
    while fitted < size:
        fitted *= 2
    return fitted


def _fit_width(width: int) -> int:
    """Return the next of 1, 2, 4, 6, 8, 12, 16, 24, ...: beams have sizes like 5 and 10, and powers of two waste half of them."""
    power = _fit(width, 1, width)
    return power * 3 // 4 if power >= 8 and width <= power * 3 // 4 else power


class FixedStep:
    """A step of one shape over tensors of its own.

    Args:
        model: In eval mode, on its device; it must not be moved or cast from now on.
        shape: The sizes.
        k: Tokens to propose for each row; None: the log-probabilities of all ids.
        capture: Records the step; None: it is computed anew each time.
    """

    def __init__(self, model: Transformer, shape: StepShape, k: int | None, capture: Capture | None) -> None:
        self.shape = shape
        self.k = k
        self.cache = FixedCache(model, shape)
        self._model = model
        self._capture = capture
        self._n_runs = 0
        self._recorded: Callable[[], None] | None = None
        n, width = shape.n_sentences, shape.width
        device = model.output_weight.device
        self._inputs = torch.zeros(n, 2 * width + 1, dtype=torch.int64, device=device)  # parents, ids, length
        if k is None:
            self._outputs = torch.empty(n, width, len(model.output_weight), dtype=torch.float32, device=device)
        else:
            self._outputs = torch.empty(n, width, 2 * k + 1, dtype=torch.int32, device=device)

    @property
    def n_bytes(self) -> int:
        """Memory of the tensors, nearly."""
        return self.cache.n_bytes + self._outputs.nbytes

    @property
    def is_recorded(self) -> bool:
        """True: the step is replayed."""
        return self._recorded is not None

    def run(self, parents: IntArray, ids: IntArray, lengths: IntArray) -> npt.NDArray[np.generic]:
        """Extend all rows by one token.

        Args:
            parents: ``[n, width]``: for each row the place in its slot of the row that it extends.
            ids: ``[n, width]``: the tokens.
            lengths: ``[n]``: tokens of each sentence's rows before this step.

        Returns:
            ``[n, width, vocab]`` float32 log-probabilities, or ``[n, width, 2 * k + 1]`` int32: the bits of the float32
            log-probabilities of the k best tokens, their ids less the control ids, and the bits of that of EOS. One tensor,
            since each that is brought to the host costs a wait. On a CPU it is the step's own: valid until the next run.
        """
        if self._recorded is None and self._capture is not None and self._n_runs >= _RUNS_BEFORE_CAPTURE:
            own = np.broadcast_to(np.arange(self.shape.width), ids.shape)
            self._put(own, np.full_like(ids, BOS_ID), lengths)  # whatever this writes, the real step writes over
            self._recorded = self._capture(self._compute)
        self._put(parents, ids, lengths)
        (self._recorded or self._compute)()
        self._n_runs += 1
        outputs: npt.NDArray[np.generic] = self._outputs.cpu().numpy()  # sync: the search goes on with it
        return outputs

    def _put(self, parents: IntArray, ids: IntArray, lengths: IntArray) -> None:
        packed = np.concatenate([parents, ids, lengths[:, None]], axis=1)
        self._inputs.copy_(torch.from_numpy(packed))

    def _compute(self) -> None:
        """Fill the outputs from the inputs, and advance the cache. All that is recorded."""
        width = self.shape.width
        parents, ids, lengths = self._inputs[:, :width], self._inputs[:, width:-1], self._inputs[:, -1]
        hidden = fixed_step(self._model, self.cache, parents, ids, lengths)
        log_probs = self._model.logits(hidden).float().log_softmax(-1).clamp(max=0)
        if self.k is None:
            self._outputs.copy_(log_probs)
            return
        best = log_probs[..., N_CONTROL:].topk(self.k)
        self._outputs[..., : self.k] = _bits(best.values)
        self._outputs[..., self.k : -1] = best.indices
        self._outputs[..., -1:] = _bits(log_probs[..., EOS_ID : EOS_ID + 1])


def _bits(x: Tensor) -> Int[Tensor, "*shape"]:
    """Return float32 numbers as the int32 numbers that have the same bits."""
    return x.contiguous().view(torch.int32)


class GraphCapture:
    """Records computations as CUDA graphs. They share memory for what lies between their inputs and outputs.

    That is safe, whatever their order, because they run one at a time, on one stream, and no tensor that they make lives
    longer than a run: all that counts is copied into tensors made before.
    """

    def __init__(self) -> None:
        self._memory = torch.cuda.graph_pool_handle()
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def __call__(self, compute: Callable[[], None]) -> Callable[[], None]:
        """Record a computation, after some runs on a stream of its own: libraries set themselves up in the first ones."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            for _ in range(_WARM_UP_RUNS):
                compute()
        torch.cuda.current_stream().wait_stream(self._stream)
        graph = torch.cuda.CUDAGraph()
        # thread_local: other threads may go on using the GPU meanwhile, for scores and alignments.
        with torch.cuda.graph(graph, pool=self._memory, stream=self._stream, capture_error_mode="thread_local"):
            compute()
        return graph.replay


class StepPool:
    """The steps of an engine. Sessions borrow them, and give them back or die.

    Args:
        model: As in :class:`FixedStep`.
        capture: As there.
        max_steps: Most steps that are kept.
        max_bytes: Most memory that they have together; None: any. What sessions are using is not counted out.
    """

    def __init__(
        self,
        model: Transformer,
        capture: Capture | None = None,
        max_steps: int = _MAX_STEPS,
        max_bytes: int | None = None,
    ) -> None:
        self.model = model
        self.lock = threading.RLock()
        """Held during a step, since recorded steps share memory: a GPU does one at a time anyway."""
        self._capture = capture
        self._max_steps = max_steps
        self._max_bytes = max_bytes
        self._steps: list[tuple[FixedStep, weakref.ref[object] | None]] = []  # with who has it; the latest lent last

    @property
    def steps(self) -> list[FixedStep]:
        """Those that are kept, the latest lent last."""
        return [step for step, _ in self._steps]

    def borrow(self, shape: StepShape, k: int | None, borrower: object) -> FixedStep:
        """Return a step of a shape that nobody else has, with a clear cache.

        Args:
            shape: The sizes.
            k: As in :class:`FixedStep`.
            borrower: Has it until it gives it back, or until nothing refers to the borrower any more.
        """
        step = next((own for own, by in self._steps if (own.shape, own.k) == (shape, k) and _is_free(by)), None)
        if step is None:
            step = FixedStep(self.model, shape, k, self._capture)
        else:
            step.cache.clear()
        self._steps = [(own, by) for own, by in self._steps if own is not step]
        self._steps.append((step, weakref.ref(borrower)))
        self._forget()
        return step

    def give_back(self, step: FixedStep) -> None:
        """Let others have a step."""
        self._steps = [(own, None if own is step else by) for own, by in self._steps]
        self._forget()

    def _forget(self) -> None:
        """Drop free steps, those not used for longest first, until the others are few and small enough."""
        for step, by in list(self._steps):
            fits = self._max_bytes is None or sum(own.n_bytes for own in self.steps) <= self._max_bytes
            if len(self._steps) <= self._max_steps and fits:
                return
            if _is_free(by):
                self._steps = [(own, who) for own, who in self._steps if own is not step]


def _is_free(borrower: weakref.ref[object] | None) -> bool:
    return borrower is None or borrower() is None
