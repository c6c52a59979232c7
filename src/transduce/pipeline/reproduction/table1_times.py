"""How long a layer takes at many lengths, and what the times say: how they grow, and where one layer overtakes another."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import nn

from transduce.base.memory import free_memory_bytes
from transduce.model.baselines.build import LAYER_KINDS, LayerKind, LayerSizes, build_layer

__all__ = ["WORKS", "TimePlan", "Timing", "Work", "find_crossover", "fit_exponent", "time_layers"]

Work = Literal["forward", "forward-backward"]
"""``forward``: without gradients. ``forward-backward``: with those of the input and of all weights."""

WORKS: tuple[Work, ...] = ("forward", "forward-backward")

_MIN_REPEATS, _MAX_REPEATS = 3, 101
_WORKING_COPIES = 32
"""So many times its input a layer holds at most, forward and backward. No layer here holds all pairs of positions."""


@dataclass(frozen=True)
class TimePlan:
    """What is timed, and how much time that may take."""

    lengths: tuple[int, ...]
    """Numbers of positions, ascending."""
    cell_s: float
    """A layer of a length is repeated for so many seconds, at least 3 times and at most 101 times."""
    longest_s: float
    """A length at which one repeat would take longer is left out."""


@dataclass(frozen=True)
class Timing:
    """One layer at one length."""

    kind: LayerKind
    work: Work
    n: int
    """Number of positions."""
    seconds: tuple[float, ...] = ()
    """Wall time of each repeat, ascending; none where the length was left out."""
    processor_s: float = 0.0
    """Processor time of all repeats together: less than their wall time where other work had the processor."""
    left_out: str = ""
    """Why there are no repeats."""

    @property
    def median_s(self) -> float | None:
        """The median of the repeats; None: it was left out."""
        return float(statistics.median(self.seconds)) if self.seconds else None


def time_layers(sizes: LayerSizes, plan: TimePlan, tell: Callable[[str], None]) -> list[Timing]:
    """Time every type of layer at every length, on one sentence in float32, on the CPU.

    Lengths go round the layers, shortest first: what else the machine does at some time hits all types alike.

    Args:
        sizes: The sizes of the layers.
        plan: Lengths and limits.
        tell: Called with a line on how it goes before each length.
    """
    layers = {kind: build_layer(kind, sizes) for kind in LAYER_KINDS}
    timings: list[Timing] = []
    for n in plan.lengths:
        tell(f"timing {len(layers)} layers at n = {n:,}")
        for kind, layer in layers.items():
            for work in WORKS:
                earlier = [timing for timing in timings if (timing.kind, timing.work) == (kind, work)]
                if reason := _why_not(n, sizes.d_model, earlier, plan.longest_s):
                    timings.append(Timing(kind, work, n, left_out=reason))
                    continue
                seconds, processor_s = _time(_prepare(layer, n, sizes.d_model, work), plan.cell_s)
                timings.append(Timing(kind, work, n, seconds, processor_s))
    return timings


def fit_exponent(lengths: Sequence[int], values: Sequence[float]) -> float:
    """Fit value = c * n ** e by least squares over the logarithms, and return e.

    Args:
        lengths: At least two different n.
        values: A positive value for each.

    >>> round(fit_exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(lengths), np.log(values), 1)[0])


def find_crossover(lengths: Sequence[int], ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Find from which length on ours is larger than theirs, on straight lines between the points of a log-log picture.

    Args:
        lengths: Numbers of positions, ascending, perhaps none.
        ours: A positive value for each.
        theirs: Likewise.

    Returns:
        The length; the first one: ours is larger at all of them. None: ours is not larger at the last one.

    >>> find_crossover([1, 4, 16], [1.0, 4.0, 16.0], [8.0, 8.0, 8.0])
    8.0
    """
    if not lengths or ours[-1] <= theirs[-1]:
        return None
    gaps = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    last = max((place for place, gap in enumerate(gaps) if gap <= 0), default=None)
    if last is None:
        return float(lengths[0])
    share = -gaps[last] / (gaps[last + 1] - gaps[last])
    low, high = lengths[last], lengths[last + 1]
    return float(round(low * (high / low) ** share, 6))


def _prepare(layer: nn.Module, n: int, d_model: int, work: Work) -> Callable[[], None]:
    """Return a call that does the work once."""
    x = torch.randn(1, n, d_model, generator=torch.Generator().manual_seed(n))
    if work == "forward":

        def forward() -> None:
            with torch.no_grad():
                layer(x)

        return forward
    x.requires_grad_()
    inputs = [x, *layer.parameters()]
    from_above = torch.ones_like(x)

    def forward_backward() -> None:
        torch.autograd.grad(layer(x), inputs, from_above)

    return forward_backward


def _time(call: Callable[[], None], budget_s: float) -> tuple[tuple[float, ...], float]:
    """Return the wall time of each repeat, ascending, and the processor time of all."""
    call()  # the first call fetches memory and chooses kernels
    seconds: list[float] = []
    processor = time.process_time()
    while len(seconds) < _MIN_REPEATS or (sum(seconds) < budget_s and len(seconds) < _MAX_REPEATS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return tuple(sorted(seconds)), time.process_time() - processor


def _why_not(n: int, d_model: int, earlier: Sequence[Timing], longest_s: float) -> str:
    """Return why a length is left out; nothing: it is not."""
    needed, free = 4 * n * d_model * _WORKING_COPIES, free_memory_bytes()
    if free is not None and needed > free:
        return f"needs up to {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
    if not earlier:
        return ""
    last = earlier[-1]
    if last.median_s is None:
        return last.left_out
    expected = last.median_s * (n / last.n) ** 2  # no layer here grows faster
    if expected > longest_s:
        return f"one repeat would take up to {expected:,.0f} s, and the limit is {longest_s:,.0f} s"
    return ""
