"""All parameters of a model in one block of memory.

So the projections of queries, keys and values are one matrix without being copied, and the gradients of a whole model are
one vector, which is added, cleared and sent to other devices at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

from transduce.model.transformer import Transformer

__all__ = ["FlatLayout"]

_ALIGNMENT = 16  # floats: what follows begins at a line of the cache


@final
class FlatLayout:
    """Where each parameter stands in the block. Making it moves the parameters of the model there; they stay what they are.

    Args:
        model: The model, on the CPU.
    """

    def __init__(self, model: Transformer) -> None:
        self._parameters = dict(model.named_parameters())
        self._offsets: dict[str, int] = {}
        self.size = 0
        for group in _groups(list(self._parameters)):
            for name in group:
                self._offsets[name] = self.size
                self.size += self._parameters[name].numel()
            self.size += -self.size % _ALIGNMENT
        self.weights = self.new_block()
        for name, parameter in self._parameters.items():
            place = self.view(self.weights, name)
            place.copy_(parameter.detach())
            parameter.data = place

    def new_block(self) -> Tensor:
        """Return a block of zeros."""
        return torch.zeros(self.size)

    def view(self, block: Tensor, *names: str) -> Tensor:
        """Return what stands in a block for a parameter, or for several of one group, as the rows of one matrix.

        Args:
            block: From :meth:`new_block`, or ``weights``.
            names: Parameters that stand behind one another.
        """
        start, shapes = self._offsets[names[0]], [self._parameters[name].shape for name in names]
        n_rows = sum(shape[0] for shape in shapes)
        size = sum(shape.numel() for shape in shapes)
        return block[start : start + size].view(n_rows, *shapes[0][1:])

    def set_gradients(self, block: Tensor) -> None:
        """Let every parameter's gradient be what stands for it in a block."""
        for name, parameter in self._parameters.items():
            parameter.grad = self.view(block, name)


def _groups(names: Sequence[str]) -> list[list[str]]:
    """Return the names in the order of the block; what may be read as one matrix is one group.

    The weights of an attention's queries, keys and values follow one another, and so do their biases.
    """
    groups: list[list[str]] = []
    for name in names:
        stem, _, kind = name.rpartition(".")
        if stem.endswith((".k_proj", ".v_proj")):
            continue  # with the queries
        if stem.endswith(".q_proj"):
            attention = stem.removesuffix("q_proj")
            groups.append([f"{attention}{which}_proj.{kind}" for which in "qkv"])
        else:
            groups.append([name])
    return groups
