"""A search over steps of fixed shapes: where its sentences lie in them, and when they move to another shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transduce.decoding.engine import FloatArray, IntArray, Proposals
from transduce.decoding.torch_steps import FixedStep, StepPool, fit_k, fit_shape
from transduce.model.fixed_cache import StepShape
from transduce.tokenizer.protocol import BOS_ID, N_CONTROL

__all__ = ["Encode", "FixedSession", "best_first"]

Encode = Callable[[Sequence[Sequence[int]]], tuple[Tensor, Tensor]]
"""Source sentences without EOS -> memory ``[n, s, d_model]`` and src_valid ``[n, s]``."""

_TOO_LARGE = 4
"""A shape with so many times as many slots or places as are needed is left for a smaller one. Not at 2, since a GPU hardly
minds, and each shape has to be recorded."""
_NOWHERE = -1


class _Entering(NamedTuple):
    """Sentences that have been encoded and have no slot yet, since it is not known with how many rows they go on."""

    numbers: IntArray
    memory: Float[Tensor, "n s d_model"]
    src_valid: Bool[Tensor, "n s"]


class FixedSession:
    """The state of one search, as :class:`~transduce.decoding.engine.Session` says: all its sentences go in one step.

    Sentences are numbered in the order in which they enter.

    Args:
        pool: Where the steps come from.
        encode: Reads source sentences.
    """

    def __init__(self, pool: StepPool, encode: Encode) -> None:
        self._pool = pool
        self._encode = encode
        self._step: FixedStep | None = None
        self._entering: list[_Entering] = []
        empty = np.zeros(0, dtype=np.int64)
        self._row_sentence = empty  # [rows of the latest step and those added since]
        self._row_place = empty  # likewise: the place of the row in the slot of its sentence
        self._slot = empty  # [sentences]
        self._length = empty  # [sentences]: tokens of each row so far, BOS included
        self._src_tokens = empty  # [sentences]: EOS included

    @torch.inference_mode()
    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, numbered after the rows of the latest step, in order."""
        if not sources:
            return
        numbers = np.arange(len(self._slot), len(self._slot) + len(sources))
        self._entering.append(_Entering(numbers, *self._encode(sources)))
        zeros = np.zeros_like(numbers)
        self._row_sentence = np.concatenate([self._row_sentence, numbers])
        self._row_place = np.concatenate([self._row_place, zeros])
        self._slot = np.concatenate([self._slot, zeros + _NOWHERE])
        self._length = np.concatenate([self._length, zeros])
        self._src_tokens = np.concatenate([self._src_tokens, [len(source) + 1 for source in sources]])

    @torch.inference_mode()
    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose what may follow."""
        packed = cast("npt.NDArray[np.int32]", self._advance(parents, ids, k))
        n_given = packed.shape[1] // 2  # at least k
        log_probs = packed.view(np.float32)  # of the same bits
        return best_first(packed[:, n_given:-1], log_probs[:, :n_given], log_probs[:, -1], k)

    @torch.inference_mode()
    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the probability of everything that may follow."""
        return cast("FloatArray", self._advance(parents, ids, None))

    def _advance(self, parents: IntArray, ids: IntArray, k: int | None) -> npt.NDArray[np.generic]:
        """Extend rows by one token each, and return what :meth:`FixedStep.run` says of each."""
        sentence = self._row_sentence[parents]
        first = np.flatnonzero(np.diff(sentence, prepend=_NOWHERE))  # rows of one sentence stand together
        n_rows = np.diff(first, append=len(sentence))
        live, place = sentence[first], np.arange(len(sentence)) - np.repeat(first, n_rows)
        with self._pool.lock:
            step = self._fit(live, int(n_rows.max()), k)
            n, width = step.shape.n_sentences, step.shape.width
            own_parents, own_ids, lengths = (
                np.zeros((n, width), np.int64),
                np.full((n, width), BOS_ID),
                np.zeros(n, np.int64),
            )
            # Places without a row do what the first row of the sentence does, which is sure to be harmless.
            own_parents[self._slot[live]] = self._row_place[parents[first], None]
            own_ids[self._slot[live]] = ids[first, None]
            own_parents[self._slot[sentence], place] = self._row_place[parents]
            own_ids[self._slot[sentence], place] = ids
            lengths[self._slot[live]] = self._length[live]
            outputs = step.run(own_parents, own_ids, lengths)
        self._row_sentence, self._row_place = sentence, place
        self._length[live] += 1
        return outputs[self._slot[sentence], place]

    def _fit(self, live: IntArray, width: int, k: int | None) -> FixedStep:
        """Return a step that has room for the sentences, and holds them."""
        model, step = self._pool.model, self._step
        longest_src, longest_tgt = int(self._src_tokens[live].max()), int(self._length[live].max()) + 1
        # The table of ancestors names places up to the largest width that there was.
        widest = width if step is None else max(width, step.shape.width)
        shape = fit_shape(len(live), widest, longest_src, longest_tgt, model.max_tokens)
        fitted_k = None if k is None else fit_k(k, len(model.output_weight))
        if step is None or not _fits(step, shape, fitted_k):
            step = self._move(step, live, shape, fitted_k)
        self._enter(step, live)
        return step

    def _move(self, old: FixedStep | None, live: IntArray, shape: StepShape, k: int | None) -> FixedStep:
        """Take a step of another shape, and bring the sentences that go on."""
        step = self._pool.borrow(shape, k, self)
        if old is not None:
            kept = live[self._slot[live] != _NOWHERE]
            step.cache.take(old.cache, torch.from_numpy(self._slot[kept]).to(step.cache.slots.device))
            self._slot[kept] = np.arange(len(kept))
            self._pool.give_back(old)
        self._step = step
        return step

    def _enter(self, step: FixedStep, live: IntArray) -> None:
        """Give slots to the sentences that have none."""
        for numbers, memory, src_valid in self._entering:
            wanted = np.isin(numbers, live)  # others have been forgotten before their first step
            if not wanted.any():
                continue
            new = numbers[wanted]
            self._slot[new] = np.setdiff1d(np.arange(step.shape.n_sentences), self._slot[live])[: len(new)]
            rows, slots = (torch.from_numpy(own).to(memory.device) for own in (np.flatnonzero(wanted), self._slot[new]))
            step.cache.enter(self._pool.model, slots, memory[rows], src_valid[rows])
        self._entering = []


def _fits(step: FixedStep, shape: StepShape, k: int | None) -> bool:
    """Tell whether a step has room for what needs a shape, and not far too much."""
    if (step.k is None) != (k is None) or (step.k is not None and k is not None and step.k < k):
        return False
    return all(needed <= size < needed * _TOO_LARGE for size, needed in zip(step.shape, shape, strict=True))


def best_first(ids: npt.NDArray[np.integer], log_probs: FloatArray, eos_log_probs: FloatArray, k: int) -> Proposals:
    """Put the best tokens of each row in order, since ``topk`` leaves equal ones in any.

    Args:
        ids: ``[rows, at least k]``: less the control ids.
        log_probs: ``[rows, at least k]``: of these.
        eos_log_probs: ``[rows]``: of EOS.
        k: How many to propose.
    """
    order = np.lexsort((ids, -log_probs), axis=-1)[:, :k]
    return Proposals(
        ids=np.take_along_axis(ids, order, axis=-1).astype(np.int64) + N_CONTROL,
        log_probs=np.take_along_axis(log_probs, order, axis=-1),
        eos_log_probs=eos_log_probs,
    )
