"""A moving average of the weights: an average of the last steps that costs no checkpoints.

After each step, average = decay * average + (1 - decay) * weights. The first steps count more, so that the random initial
weights are soon forgotten: the decay of step n is at most (1 + n) / (10 + n). The paper averages checkpoints instead
(section 6.1); this is the same idea with more and nearer parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

__all__ = ["WeightAverage"]


@final
class WeightAverage:
    """The moving average of a model's weights, in float32, on the model's device.

    A step whose update was refused counts as one at which the weights did not move.

    Args:
        model: The model, on its device; the average begins as its weights.
        decay: What is left of the old average after a step, between 0 and 1.

    >>> layer = nn.Linear(1, 1, bias=False)
    >>> average = WeightAverage(layer, decay=0.5)
    >>> _ = nn.init.constant_(layer.weight, 4.0), average.load({"weight": np.zeros((1, 1), np.float32)})
    >>> average.add(step=100)
    >>> float(average.export()["weight"][0, 0])
    2.0
    """

    def __init__(self, model: nn.Module, *, decay: float) -> None:
        self._decay = decay
        self._weights = dict(model.named_parameters())
        self._average = {name: weight.detach().float().clone() for name, weight in self._weights.items()}

    @torch.no_grad()
    def add(self, step: int) -> None:
        """Take in the weights after a step, the first of which is 1."""
        share = 1.0 - min(self._decay, (1 + step) / (10 + step))
        weights = [weight.detach().float() for weight in self._weights.values()]
        torch._foreach_lerp_(list(self._average.values()), weights, share)

    @contextmanager
    def in_model(self) -> Iterator[None]:
        """Put the average into the model while the context is open; afterwards the weights are back, bit for bit."""
        kept = {name: weight.detach().clone() for name, weight in self._weights.items()}
        try:
            self._copy(self._average)
            yield
        finally:
            self._copy(kept)

    def export(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return a copy of the average by the names of the weights."""
        return {name: np.array(average.cpu().numpy(), order="C") for name, average in self._average.items()}

    def load(self, average: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Go on from an average that :meth:`export` returned."""
        for name, ours in self._average.items():
            ours.copy_(torch.from_numpy(np.array(average[name])))

    @torch.no_grad()
    def _copy(self, weights: Mapping[str, Tensor]) -> None:
        for name, weight in self._weights.items():
            weight.copy_(weights[name])
