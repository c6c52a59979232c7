"""The only step from ids to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transduce.data.batching import IntArray
from transduce.data.store import PairIds
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, PAD_ID

__all__ = ["Batch", "batch_from_ids", "make_batch"]


@dataclass(frozen=True)
class Batch:
    """Some sentence pairs as padded tensors: one microbatch."""

    src: Int[Tensor, "b s"]
    """Source ids; every sentence ends with EOS, then PAD."""
    src_valid: Bool[Tensor, "b s"]
    """True = real source token (EOS is real)."""
    tgt_in: Int[Tensor, "b t"]
    """Decoder input: BOS and the target ids, then PAD."""
    tgt_out: Int[Tensor, "b t"]
    """Labels: the target ids and EOS, then PAD."""
    tgt_valid: Bool[Tensor, "b t"]
    """True = real target token (EOS is real): what the loss sums over."""
    numbers: Int[Tensor, " b"]
    """The place of each pair in the global batch of its step: what its dropout is drawn by."""
    n_src_tokens: int
    """Real source tokens, EOS included."""
    n_tgt_tokens: int
    """Real target tokens, EOS included."""

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device, copied only where it is elsewhere."""
        return Batch(
            src=self.src.to(device, non_blocking=True),
            src_valid=self.src_valid.to(device, non_blocking=True),
            tgt_in=self.tgt_in.to(device, non_blocking=True),
            tgt_out=self.tgt_out.to(device, non_blocking=True),
            tgt_valid=self.tgt_valid.to(device, non_blocking=True),
            numbers=self.numbers.to(device, non_blocking=True),
            n_src_tokens=self.n_src_tokens,
            n_tgt_tokens=self.n_tgt_tokens,
        )


def make_batch(store: PairIds, indexes: IntArray, numbers: IntArray | None = None) -> Batch:
    """Make the padded tensors of some pairs of a store, in the order of ``indexes``.

    Args:
        store: Where the pairs are.
        indexes: ``[b]``: which pairs; at least one.
        numbers: ``[b]``: their places in the global batch. None: these pairs are all of it.
    """
    return _pad_pairs(
        _gather(store.src_ids, store.src_offsets, indexes),
        store.src_lengths[indexes],
        _gather(store.tgt_ids, store.tgt_offsets, indexes),
        store.tgt_lengths[indexes],
        numbers,
    )


def batch_from_ids(srcs: Sequence[Sequence[int]], tgts: Sequence[Sequence[int]]) -> Batch:
    """Make the padded tensors of pairs given as ids, without BOS and EOS.

    >>> batch = batch_from_ids([[7], [7, 8]], [[9], []])
    >>> batch.src.tolist(), batch.tgt_in.tolist(), batch.tgt_out.tolist()
    ([[7, 2, 0], [7, 8, 2]], [[1, 9], [1, 0]], [[9, 2], [2, 0]])
    """
    return _pad_pairs(*_flatten(srcs), *_flatten(tgts))


def _pad_pairs(
    src_ids: npt.NDArray[Any],
    src_lengths: npt.NDArray[Any],
    tgt_ids: npt.NDArray[Any],
    tgt_lengths: npt.NDArray[Any],
    numbers: IntArray | None = None,
) -> Batch:
    """Make a batch of flat ids and lengths. A width is the longest sentence and one more for EOS (or BOS)."""
    src, src_valid = _pad_labels(src_ids, src_lengths)
    tgt_out, tgt_valid = _pad_labels(tgt_ids, tgt_lengths)
    tgt_in = np.full(tgt_out.shape, PAD_ID, dtype=np.int64)
    tgt_in[:, 0] = BOS_ID
    tgt_in[:, 1:][_before(tgt_lengths, int(tgt_lengths.max()))] = tgt_ids
    return Batch(
        src=torch.from_numpy(src),
        src_valid=torch.from_numpy(src_valid),
        tgt_in=torch.from_numpy(tgt_in),
        tgt_out=torch.from_numpy(tgt_out),
        tgt_valid=torch.from_numpy(tgt_valid),
        numbers=torch.from_numpy(np.arange(len(src_lengths)) if numbers is None else np.ascontiguousarray(numbers)),
        n_src_tokens=len(src_ids) + len(src_lengths),
        n_tgt_tokens=len(tgt_ids) + len(tgt_lengths),
    )


def _pad_labels(
    ids: npt.NDArray[Any], lengths: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return each sentence with EOS and padding after it, and where it is real."""
    width = int(lengths.max()) + 1
    rows = np.full((len(lengths), width), PAD_ID, dtype=np.int64)
    # A boolean index fills row by row, from left to right: the order in which the flat ids stand.
    rows[_before(lengths, width)] = ids
    rows[np.arange(len(lengths)), lengths] = EOS_ID
    return rows, _before(lengths + 1, width)


def _before(lengths: npt.NDArray[Any], width: int) -> npt.NDArray[np.bool_]:
    """Return ``[b, width]``: True in the first ``lengths[i]`` places of row ``i``."""
    return np.arange(width) < lengths[:, None]


def _gather(ids: npt.NDArray[Any], offsets: npt.NDArray[np.int64], indexes: IntArray) -> npt.NDArray[Any]:
    """Return the ids of some sentences, end to end."""
    starts = offsets[indexes]
    lengths = offsets[indexes + 1] - starts
    ends = lengths.cumsum()
    # Place k of the result lies in sentence i, k - (ends - lengths)[i] tokens after its start.
    flat: npt.NDArray[Any] = ids[np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)]
    return flat


def _flatten(sentences: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    flat = [token for sentence in sentences for token in sentence]
    return np.array(flat, dtype=np.int64), np.array([len(sentence) for sentence in sentences], dtype=np.int64)
