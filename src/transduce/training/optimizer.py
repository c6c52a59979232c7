"""The optimizer: Adam as the paper uses it, or Muon; learning rate and refusal of bad gradients are set for each update."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.training.muon import MuonAdam
from transduce.training.settings import TrainSettings

__all__ = ["build_optimizer", "state_names", "update"]


def build_optimizer(model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Return the optimizer of a model that is already on its device.

    Weight decay, where it is asked for, is decoupled and falls on matrices only: biases and the gains of layer
    normalization have nothing to gain from being small. Paper: section 5.3 (Adam).
    """
    match settings.optimizer:
        case "adam":
            return _adam(model, settings)
        case "muon":
            return MuonAdam(
                model,
                betas=(settings.adam_beta1, settings.adam_beta2),
                eps=settings.adam_eps,
                momentum=settings.muon_momentum,
                iterations=settings.muon_iterations,
                weight_decay=settings.weight_decay,
            )


def state_names(model: nn.Module, optimizer: torch.optim.Optimizer) -> set[str]:
    """Return the names under which a checkpoint holds an optimizer's state: ``exp_avg.src_embedding.weight`` and so on."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    found: set[str] = set()
    for group in optimizer.param_groups:
        keys = ("mean_gradient",) if group.get("method") == "muon" else ("step", "exp_avg", "exp_avg_sq")
        found.update(f"{key}.{names[parameter]}" for parameter in group["params"] for key in keys)
    return found


def _adam(model: nn.Module, settings: TrainSettings) -> torch.optim.AdamW:
    """AdamW without decay is Adam. The update is one fused kernel on CPU, CUDA and MPS alike."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=0.0,  # set before every update
        betas=(settings.adam_beta1, settings.adam_beta2),
        eps=settings.adam_eps,
        fused=True,
    )


def update(
    optimizer: torch.optim.Optimizer,
    *,
    lr: float,
    refuse: Float[Tensor, ""],
    max_grad_norm: float | None,
    grad_norm: Float[Tensor, ""],
) -> None:
    """Make one update from the gradients that are there, and set them to none.

    On the CPU and on CUDA nothing here waits for the device: whether the update is refused is decided there.

    Args:
        optimizer: What :func:`build_optimizer` returned.
        lr: Learning rate of this update.
        refuse: 1.0 where the update must not happen (weights and moments stay as they are), else 0.0.
        max_grad_norm: Scale the gradients down to this norm when theirs is larger. None: never.
        grad_norm: Norm of all gradients together.
    """
    for group in optimizer.param_groups:
        group["lr"] = lr
    if max_grad_norm is not None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        nn.utils.clip_grads_with_norm_(parameters, max_grad_norm, grad_norm)
    if refuse.device.type == "mps":
        if not bool(refuse):  # sync: the kernel for MPS does not look at found_inf
            optimizer.step()
    else:
        # The door that torch's GradScaler uses: the fused kernel skips the whole update where found_inf is 1; so does Muon.
        optimizer.found_inf = refuse  # type: ignore[attr-defined]
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
