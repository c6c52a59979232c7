"""Microbatches without padding: the real tokens of all sentences, end to end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.data.batch import Batch
from transduce.training.rdrop import SECOND_COPY

__all__ = ["PackedBatch", "Rows", "pack", "pack_twice"]


class Rows(NamedTuple):
    """One side of a packed microbatch."""

    ids: npt.NDArray[np.int64]
    """``[n]``: what is embedded: source ids with EOS, or target ids after BOS."""
    positions: npt.NDArray[np.int32]
    """``[n]``: the place of each in its sentence, from 0."""
    numbers: npt.NDArray[np.int32]
    """``[n]``: the number of its pair in the global batch."""
    offsets: npt.NDArray[np.int32]
    """``[b + 1]``: where each sentence begins, and where the last one ends."""


class PackedBatch(NamedTuple):
    """Some sentence pairs without padding."""

    src: Rows
    tgt: Rows
    labels: npt.NDArray[np.int64]
    """``[n]``: the correct token after each row of ``tgt``."""


def pack_twice(batch: PackedBatch) -> PackedBatch:
    """Return a batch with every pair in it twice, first all first copies: what R-Drop trains on. The labels stand once.

    Args:
        batch: From :func:`pack`.
    """
    return PackedBatch(_rows_twice(batch.src), _rows_twice(batch.tgt), batch.labels)


def pack(batch: Batch, share: int = 0, n_shares: int = 1) -> PackedBatch:
    """Take the padding out of every ``n_shares``-th pair of a microbatch, from the pair ``share`` on.

    Args:
        batch: The microbatch, on the CPU.
        share: Which share, from 0.
        n_shares: How many shares there are.
    """
    pairs = slice(share, None, n_shares)
    numbers = batch.numbers.numpy()[pairs].astype(np.int32)
    src_valid, tgt_valid = batch.src_valid.numpy()[pairs], batch.tgt_valid.numpy()[pairs]
    return PackedBatch(
        src=_rows(batch.src.numpy()[pairs], src_valid, numbers),
        tgt=_rows(batch.tgt_in.numpy()[pairs], tgt_valid, numbers),
        labels=batch.tgt_out.numpy()[pairs][tgt_valid],
    )


def _rows_twice(rows: Rows) -> Rows:
    return Rows(
        np.tile(rows.ids, 2),
        np.tile(rows.positions, 2),
        np.concatenate([rows.numbers, rows.numbers + np.int32(SECOND_COPY)]),
        np.concatenate([rows.offsets, rows.offsets[1:] + rows.offsets[-1]]),
    )


def _rows(ids: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_], numbers: npt.NDArray[np.int32]) -> Rows:
    lengths = valid.sum(axis=1, dtype=np.int32)
    _, positions = valid.nonzero()  # padding follows the real tokens: a token's column is its position
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return Rows(ids[valid], positions.astype(np.int32), np.repeat(numbers, lengths), offsets)
