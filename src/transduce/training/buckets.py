"""Gradients summed over ranks, in a few large pieces, while the backward pass still computes the rest.

A bucket is one flat tensor that holds the gradients of some parameters, and is summed as a whole: many small messages
would wait for each other. Buckets are filled from the last parameter to the first, which is about the order in which a
backward pass finishes them. Every rank sums the same buckets in the same order, whatever it has computed itself: a
parameter without a gradient counts as zero, and a rank without any pair takes part like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import final

import torch
import torch.distributed as dist
from torch import Tensor, nn

__all__ = ["BUCKET_BYTES", "GradientBuckets"]

BUCKET_BYTES = 25 * 2**20
"""Large enough that a message costs what its bytes cost, small enough that the first one leaves early (as in torch's DDP)."""


@final
class GradientBuckets:
    """The gradients of some parameters, in buckets.

    Args:
        parameters: Those of the model, in the same order on all ranks, of one device and one dtype.
        group: The ranks that sum.
        bucket_bytes: Size of a bucket; a larger parameter has a bucket of its own.
    """

    def __init__(
        self, parameters: Sequence[nn.Parameter], group: dist.ProcessGroup, *, bucket_bytes: int = BUCKET_BYTES
    ) -> None:
        self._group = group
        self._buckets = [_Bucket(members) for members in _cut(parameters, bucket_bytes)]
        self._works: list[dist.Work] = []
        self._watches = False
        for number, bucket in enumerate(self._buckets):
            for place, parameter in enumerate(bucket.parameters):
                parameter.register_post_accumulate_grad_hook(self._hook(number, place))  # type: ignore[no-untyped-call]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sum each bucket as soon as its last gradient is there. To be put around the last backward pass of a step.

        Without it, :meth:`finish` does it all, with the same result. Where the pass fails, it may be made again: what has
        been sent was complete, and is not sent twice.
        """
        for bucket in self._buckets[len(self._works) :]:
            bucket.start()
        self._watches = True
        try:
            yield
        finally:
            self._watches = False

    def finish(self) -> None:
        """Sum what is not summed yet. Then each parameter's gradient is the sum over all ranks, and equal on all of them.

        The gradients are views of the buckets: they hold until the next step.

        Raises:
            RuntimeError: A rank does not answer.
        """
        for bucket in self._buckets[len(self._works) :]:
            bucket.fill()
            self._send(bucket)
        for work in self._works:
            work.wait()  # on CUDA it is the stream that waits, not this process
        self._works = []
        for bucket in self._buckets:
            bucket.hand_out()

    def _hook(self, number: int, place: int) -> Callable[[Tensor], None]:
        def on_gradient(parameter: Tensor) -> None:
            if not self._watches or number < len(self._works):
                return
            self._buckets[number].take(place)
            while len(self._works) < len(self._buckets) and self._buckets[len(self._works)].is_full:
                self._send(self._buckets[len(self._works)])

        return on_gradient

    def _send(self, bucket: _Bucket) -> None:
        work = dist.all_reduce(bucket.flat, group=self._group, async_op=True)
        assert work is not None  # it is only where a rank is not of the group
        self._works.append(work)


@final
class _Bucket:
    """Some parameters, and room for their gradients."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self.parameters = parameters
        sizes = [parameter.numel() for parameter in parameters]
        self.flat = torch.zeros(sum(sizes), dtype=parameters[0].dtype, device=parameters[0].device)
        self._views = [
            view.view_as(parameter) for view, parameter in zip(torch.split(self.flat, sizes), parameters, strict=True)
        ]
        self._missing = set(range(len(parameters)))

    def start(self) -> None:
        """Begin a step: no gradient is complete."""
        self._missing = set(range(len(self.parameters)))

    @property
    def is_full(self) -> bool:
        """True: every gradient is in its place."""
        return not self._missing

    def take(self, place: int) -> None:
        """Copy a gradient that is complete to its place; none is zero."""
        gradient = self.parameters[place].grad
        if gradient is None:
            self._views[place].zero_()
        elif gradient is not self._views[place]:
            self._views[place].copy_(gradient)
        self._missing.discard(place)

    def fill(self) -> None:
        """Take all gradients, as they are now."""
        for place in range(len(self.parameters)):
            self.take(place)

    def hand_out(self) -> None:
        """Let the parameters' gradients be what is in the bucket."""
        for parameter, view in zip(self.parameters, self._views, strict=True):
            parameter.grad = view


def _cut(parameters: Sequence[nn.Parameter], bucket_bytes: int) -> list[list[nn.Parameter]]:
    """Cut the parameters, from the last to the first, into buckets of at most so many bytes."""
    buckets: list[list[nn.Parameter]] = []
    size = 0
    for parameter in reversed(parameters):
        n_bytes = parameter.numel() * parameter.element_size()
        if not buckets or size + n_bytes > bucket_bytes:
            buckets.append([])
            size = 0
        buckets[-1].append(parameter)
        size += n_bytes
    return buckets
