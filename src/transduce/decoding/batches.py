"""Which sentences are computed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["cut_batches"]


def cut_batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Group sentences of similar length, the longest first, so that little is padding and memory peaks at the start.

    Args:
        lengths: Tokens of each sentence, all that are computed counted (so EOS too).
        batch_tokens: Most tokens of a batch, padding included. A longer sentence is a batch of its own.

    Yields:
        Indexes into ``lengths``; every sentence is in exactly one batch.

    >>> list(cut_batches([2, 9, 3, 3], batch_tokens=6))
    [[1], [2, 3], [0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
