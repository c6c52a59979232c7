"""What a microbatch is to be counted as: what it needs, and what is computed for it. The ledger adds these up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from transduce.data.batch import Batch
from transduce.model.stats import Work

__all__ = ["BatchWork", "Layout", "WorkListener", "batch_work"]

Layout = Literal["padded", "packed"]
"""How an engine computes a microbatch: as rectangles with padding, or as rows of real tokens only."""


@dataclass(frozen=True)
class BatchWork:
    """One microbatch."""

    n_pairs: int
    """Sentence pairs."""
    needed: Work
    """Without padding."""
    done: Work
    """As computed."""


WorkListener = Callable[[Sequence[BatchWork]], None]
"""Is told, after every step, of the microbatches that went through the model of this process: there may be none."""


def batch_work(batch: Batch, layout: Layout) -> BatchWork:
    """Count a microbatch, in some microseconds.

    Args:
        batch: The microbatch, on the CPU.
        layout: How its engine computes it.
    """
    src, tgt = batch.src_valid.sum(dim=1).numpy(), batch.tgt_valid.sum(dim=1).numpy()
    needed = Work.packed(src, tgt)
    return BatchWork(n_pairs=len(src), needed=needed, done=needed if layout == "packed" else Work.padded(src, tgt))
