"""What gradients say about a layer: which positions it connects, over how many steps, and what must wait for what.

Everything here is measured on random weights in float64. A position that an output does not depend on has a gradient of
exactly 0 then; one that it depends on, however far away, has another, since numbers down to 1e-308 are told from 0.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool
from torch import Tensor, nn
from torch.autograd.graph import Node

from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Recurrent

__all__ = ["connected_positions", "layers_to_connect", "products_in_a_row", "transitions_between"]

_PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Convolution", "ScaledDotProduct")
"""How autograd names the matrix products; the fused kernel of attention holds two, and counts as one step."""


def connected_positions(layer: nn.Module, n: int, d_model: int) -> Bool[Tensor, "n n"]:
    """Find which outputs depend on which inputs, from the gradients of every output.

    Args:
        layer: A layer or a stack, ``[b, n, d_model] -> [b, n, d_model]``, in float64.
        n: Number of positions.
        d_model: Width.

    Returns:
        True in row j, column i = the output at j depends on the input at i.

    >>> _ = torch.manual_seed(1)
    >>> connected_positions(Recurrent(4).double(), 3, 4).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    generator = torch.Generator().manual_seed(1)
    sentence = torch.randn(n, d_model, dtype=torch.float64, generator=generator)
    # One copy of the sentence for each output, and of copy j only output j: one backward pass gives the whole matrix.
    copies = sentence.expand(n, -1, -1).clone().requires_grad_()
    outputs = layer(copies).diagonal(dim1=0, dim2=1)  # [d_model, n]
    weights = torch.randn(outputs.shape, dtype=torch.float64, generator=generator)
    (gradient,) = torch.autograd.grad((outputs * weights).sum(), copies)
    return (gradient != 0).any(-1)


def layers_to_connect(build: Callable[[int], nn.Module], n: int, d_model: int, direction: Direction) -> int | None:
    """Find the smallest number of layers after which every output depends on every input that it may depend on.

    Args:
        build: Makes a stack of so many layers, in float64, in which each position reads itself too.
        n: Number of positions.
        d_model: Width.
        direction: ``causal``: inputs up to the output's own position are wanted. ``both``: all inputs.

    Returns:
        The number of layers. None: no number is enough, since twice as many layers connect nothing new.
    """
    wanted = torch.ones(n, n, dtype=torch.bool)
    if direction == "causal":
        wanted = wanted.tril()
    too_few, enough, before = 0, 1, torch.eye(n, dtype=torch.bool)
    while not (connected := connected_positions(build(enough), n, d_model))[wanted].all():
        if torch.equal(connected, before):
            return None
        too_few, enough, before = enough, 2 * enough, connected
    while enough - too_few > 1:  # more layers never connect less, since each position reads itself
        middle = (enough + too_few) // 2
        if connected_positions(build(middle), n, d_model)[wanted].all():
            enough = middle
        else:
            too_few = middle
    return enough


def transitions_between(layer: Recurrent, n: int, d_model: int) -> int:
    """Count the transitions of state that the last output needs to know of the first input: its path through time.

    Each transition from one position to the next is cut in turn (no gradient passes it). Those after whose cut the last output
    does not depend on the first input any more lie on every path between them.

    Args:
        layer: A recurrent layer, in float64.
        n: Number of positions.
        d_model: Its width.
    """
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(1, n, d_model, dtype=torch.float64, generator=generator)
    return sum(not _reaches(layer, x, cut=cut) for cut in range(1, n))


def products_in_a_row(output: Tensor) -> int:
    """Count the matrix products of the longest chain in which each needs the result of the one before.

    It is read from the graph that autograd keeps: the number of sequential operations that no parallel machine can avoid,
    as far as matrix products go.

    Args:
        output: What was computed, from an input or weights that require gradients.

    >>> a = torch.ones(2, 2, requires_grad=True)
    >>> products_in_a_row(a @ a), products_in_a_row(a @ a + a @ (a @ a))
    (1, 2)
    """
    lengths: dict[Node, int] = {}
    waiting = [output.grad_fn]
    while waiting:  # no recursion: the chain of a recurrent layer is as long as its sentence
        node = waiting[-1]
        if node is None or node in lengths:
            waiting.pop()
            continue
        inputs = [below for below, _ in node.next_functions if below is not None]
        missing = [below for below in inputs if below not in lengths]
        if missing:
            waiting += missing
            continue
        is_product = node.name().startswith(_PRODUCTS)
        lengths[node] = is_product + max((lengths[below] for below in inputs), default=0)
        waiting.pop()
    return lengths[output.grad_fn] if output.grad_fn is not None else 0


def _reaches(layer: Recurrent, x: Tensor, *, cut: int) -> bool:
    """Say whether the last output depends on the first input when no gradient passes from position cut - 1 to cut."""
    first = x[:, 0].clone().requires_grad_()
    state = layer.step(first, layer.first(1))
    for position in range(1, x.shape[1]):
        state = layer.step(x[:, position], state.detach() if position == cut else state)
    (gradient,) = torch.autograd.grad(state.sum(), first, allow_unused=True)
    return gradient is not None and bool((gradient != 0).any())
