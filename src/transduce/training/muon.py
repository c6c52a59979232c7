"""Muon for the matrices of the layers, Adam for everything else, as one optimizer.

Muon follows the momentum of the gradient of a matrix with all its singular values made about equal: no direction of the
matrix learns much faster than another. Keller Jordan and others, "Muon: an optimizer for hidden layers in neural
networks" (2024). An update is scaled to the size that Adam's usually has, so that one learning rate and one weight decay
serve both: Jingyuan Liu and others, "Muon is scalable for LLM training" (arXiv 2502.16982, section 2.2).

``torch.optim.Muon`` is the same method. It is not used because it multiplies in bfloat16 on every device, which has no
fast products on most CPUs, takes one matrix at a time, and cannot refuse an update without waiting for the device. A
test holds the two equal up to the rounding of bfloat16.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim.adamw import adamw

__all__ = ["MuonAdam", "orthogonalize"]

_QUINTIC = (3.4445, -4.7750, 2.0315)
"""Jordan's polynomial: one turn takes a singular value x to 3.4445 x - 4.775 x^3 + 2.0315 x^5."""
_SMALLEST_NORM = 1e-7
_ADAM_RMS = 0.2
"""About the root mean square of an entry of Adam's update, in units of the learning rate, as Liu and others measured."""


def orthogonalize(matrices: Float[Tensor, "n rows columns"], iterations: int) -> Float[Tensor, "n rows columns"]:
    """Return matrices with the same singular vectors and singular values of about 1, by the Newton-Schulz iteration.

    After 5 turns, every singular value that was above 0.002 of the Frobenius norm is between 0.68 and 1.21; after 3 turns
    this holds for those above 0.02. Smaller ones are lifted 3.4 times a turn. It comes no nearer to 1: the polynomial is
    made to lift small values fast.

    Args:
        matrices: Any matrices, none of them all zero but those that may stay zero.
        iterations: Turns: each costs three matrix products.
    """
    a, b, c = _QUINTIC
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices  # the products are between the shorter sides
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=_SMALLEST_NORM)
    for _ in range(iterations):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


@final
class MuonAdam(torch.optim.Optimizer):
    """Muon for the matrices of the layers; Adam for embeddings, the output, biases and normalization.

    Queries, keys and values of attention are matrices of their own. Learning rates are set from outside, in
    ``param_groups``.

    Args:
        model: Its parameters, on their device.
        betas: Adam's decay of the two moments.
        eps: Adam's epsilon.
        momentum: Muon's decay of the mean gradient.
        iterations: Newton-Schulz turns of one update.
        weight_decay: Decoupled, on matrices only, for both.
    """

    found_inf: Float[Tensor, ""] | None = None
    """1.0: the next update does not happen; decided on the device. The same door as that of torch's fused Adam."""

    def __init__(
        self,
        model: nn.Module,
        *,
        betas: tuple[float, float],
        eps: float,
        momentum: float,
        iterations: int,
        weight_decay: float,
    ) -> None:
        named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        muon = [p for name, p in named if is_layer_matrix(name, p)]
        rest = [p for name, p in named if not is_layer_matrix(name, p)]
        # "fused" makes torch's loader put the step count where the fused kernel wants it.
        adam = {"method": "adam", "betas": betas, "eps": eps, "fused": True}
        groups: list[dict[str, Any]] = [
            {"params": muon, "method": "muon", "momentum": momentum, "iterations": iterations},
            {"params": [p for p in rest if p.ndim >= 2], **adam},
            {"params": [p for p in rest if p.ndim < 2], **adam, "weight_decay": 0.0},
        ]
        super().__init__([group for group in groups if group["params"]], {"lr": 0.0, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Make one update from the gradients that are there, unless ``found_inf`` is 1.0. Nothing waits for the device.

        Args:
            closure: Not used; torch's interface has it.
        """
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if group["method"] == "adam":
                self._step_adam(group, parameters)
            else:
                for same_shape in _by_shape(parameters):
                    self._step_muon(group, same_shape)

    def _step_muon(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """Update some matrices of one shape, all in the same products."""
        refused = parameters[0].new_zeros(()) if self.found_inf is None else self.found_inf.to(parameters[0].dtype)
        kept = 1.0 - refused
        # A gradient that is refused may hold nan, which times 0 is still nan: it is put away, not multiplied away.
        gradients = [torch.where(refused.bool(), 0.0, p.grad) for p in parameters if p.grad is not None]
        means = []
        for parameter, gradient in zip(parameters, gradients, strict=True):
            state = self.state[parameter]
            if not state:
                state["mean_gradient"] = torch.zeros_like(parameter)
            means.append(state["mean_gradient"].lerp_(gradient, kept * (1 - group["momentum"])))
        # Nesterov: one more step in the direction of the newest gradient.
        ahead = torch.stack(gradients).lerp_(torch.stack(means), group["momentum"])
        dtype = torch.bfloat16 if ahead.is_cuda else ahead.dtype
        directions = orthogonalize(ahead.to(dtype), group["iterations"]).to(ahead.dtype)
        size = group["lr"] * _ADAM_RMS * max(directions.shape[1:]) ** 0.5
        decay = 1.0 - kept * (group["lr"] * group["weight_decay"])
        for parameter, direction in zip(parameters, directions, strict=True):
            parameter.mul_(decay).sub_(direction * (kept * size))

    def _step_adam(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        for parameter in parameters:
            state = self.state[parameter]
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        states = [self.state[parameter] for parameter in parameters]
        beta1, beta2 = group["betas"]
        adamw(
            parameters,
            [p.grad for p in parameters if p.grad is not None],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            found_inf=self.found_inf,
            amsgrad=False,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=False,
        )


def is_layer_matrix(name: str, parameter: Tensor) -> bool:
    """Return True for a matrix of a layer of the encoder or decoder: what Muon is for.

    >>> is_layer_matrix("encoder.layers.0.feed_forward.in_proj.weight", torch.zeros(2, 3))
    True
    >>> is_layer_matrix("src_embedding.weight", torch.zeros(2, 3))
    False
    """
    return parameter.ndim == 2 and name.startswith(("encoder.layers.", "decoder.layers."))


def _by_shape(parameters: Iterable[Tensor]) -> Iterable[list[Tensor]]:
    groups: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
    for parameter in parameters:
        groups[parameter.shape].append(parameter)
    return groups.values()
