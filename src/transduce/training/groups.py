"""How a rank reaches the others, and how it waits for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import torch
import torch.distributed as dist

from transduce.training.failures import Failures

__all__ = ["Groups"]

_BUSY_S = 10.0
"""How often a rank that does something alone says that it is still at work."""


@final
class Groups:
    """How a rank reaches the others.

    Args:
        device: For tensors on the ranks' devices.
        host: For what hosts say to each other: apart, so that its order never mixes with that of the gradients.
        failures: Who is to blame when there is no answer.
        timeout_s: How long an answer may take.
    """

    def __init__(
        self, device: dist.ProcessGroup, host: dist.ProcessGroup, failures: Failures, timeout_s: float
    ) -> None:
        self.device, self.host, self.failures, self.timeout_s = device, host, failures, timeout_s

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Raise what a person can read when a rank does not answer within the block."""
        try:
            yield
        except RuntimeError as error:  # gloo has no class of its own for it
            raise self.failures.lost(error) from None

    @contextmanager
    def saying_busy(self) -> Iterator[None]:
        """Answer the other ranks, which ask :meth:`World.any` whether this one is busy, from a thread while the block lasts."""
        is_done = threading.Event()

        def answer() -> None:
            try:
                while not is_done.wait(min(_BUSY_S, self.timeout_s / 4)):
                    dist.all_reduce(torch.ones(1, dtype=torch.float64), op=dist.ReduceOp.MAX, group=self.host)
            except RuntimeError:  # a rank has gone; what this one says to it next will fail too
                self.failures.note_alive()

        thread = threading.Thread(target=answer, name="transduce-busy", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()
