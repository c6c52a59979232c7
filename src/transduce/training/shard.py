"""Models that do not fit one device: each rank keeps a part of every weight, its gradient and its moments (torch's FSDP2).

Before a layer computes, its weights are gathered from all ranks, and afterwards let go. What a run writes is whole: a
checkpoint does not know on how many ranks it was made.

torch's part takes seconds to import: that is left to runs that use it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from transduce.base.errors import BundleError
from transduce.data.batch import Batch, batch_from_ids
from transduce.model.transformer import Transformer
from transduce.training.world import World

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

__all__ = ["empty_batch", "export_whole", "is_sharded", "let_go", "load_whole", "shard_model", "spread_like", "whole"]


def shard_model(model: Transformer, world: World) -> None:
    """Spread the weights of a model over the ranks, in place: each layer by itself, so that one is whole at a time.

    Gradients come out summed over the ranks, not averaged: each rank's loss is divided by the count of the whole step. The
    optimizer is built afterwards, from the same ``model.parameters()``.

    Args:
        model: The model, on this rank's device, with the same weights on all ranks.
        world: The ranks.

    Paper: section 3.1.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FSDPModule, fully_shard

    mesh = init_device_mesh(world.device.type, (world.size,))
    for layer in (*model.encoder.layers, *model.decoder.layers):
        fully_shard(layer, mesh=mesh)
    # The embeddings stay whole from the start of a step to its end: the loss reads them beside the model's own forward.
    fully_shard(model, mesh=mesh, reshard_after_forward=False)
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_gradient_divide_factor(1.0)
            if world.device.type == "cpu":
                module.set_force_sum_reduction_for_comms(True)  # gloo has no other


def is_sharded(model: nn.Module) -> bool:
    """Say whether a model is spread over ranks."""
    fsdp = sys.modules.get("torch.distributed.fsdp")  # not imported: nothing is
    return fsdp is not None and isinstance(model, fsdp.FSDPModule)


def let_go(model: nn.Module) -> None:
    """Let go of weights that were gathered for a forward pass which no backward pass has followed; a whole model has none."""
    fsdp = sys.modules.get("torch.distributed.fsdp")
    if fsdp is not None and isinstance(model, fsdp.FSDPModule):
        model.reshard()


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor that is spread over ranks as a whole, and any other as it is. All ranks must call it together."""
    if not _is_spread(tensor):
        return tensor.detach()
    full: Tensor = cast("DTensor", tensor.detach()).full_tensor()
    return full


def spread_like(tensor: Tensor, value: Tensor) -> Tensor:
    """Return a value, which each rank has as a whole, spread over the ranks as another tensor is. Nothing is sent.

    Args:
        tensor: A parameter.
        value: Of its whole shape, or a number that all ranks keep.
    """
    if not _is_spread(tensor) or value.shape != tensor.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    place = cast("DTensor", tensor)
    value = value.to(tensor.device, tensor.dtype)
    spread: Tensor = distribute_tensor(value, place.device_mesh, place.placements, src_data_rank=None)
    return spread


@torch.no_grad()
def load_whole(model: nn.Module, weights: Mapping[str, npt.NDArray[np.generic]]) -> None:
    """Copy weights, which each rank has as a whole, into a model that is spread over the ranks.

    Raises:
        BundleError: They are not those of such a model.
    """
    own = dict(model.named_parameters())
    if {name: tuple(p.shape) for name, p in own.items()} != {name: tuple(w.shape) for name, w in weights.items()}:
        raise BundleError(
            "the weights do not fit the model of these settings; use the settings.toml that lies beside them"
        )
    for name, parameter in own.items():
        parameter.copy_(spread_like(parameter, torch.from_numpy(np.array(weights[name]))))


def export_whole(model: nn.Module) -> dict[str, npt.NDArray[np.float32]]:
    """Return a copy of every parameter by its name, whole, in float32 on the CPU. All ranks must call it together."""
    return {
        name: np.array(whole(parameter).to(device="cpu", dtype=torch.float32).numpy(), order="C")
        for name, parameter in model.named_parameters()
    }


def empty_batch() -> Batch:
    """Return a batch of one pair none of whose tokens counts: the least that a model can compute.

    >>> int(empty_batch().tgt_valid.sum()), empty_batch().n_tgt_tokens
    (0, 0)
    """
    batch = batch_from_ids([[]], [[]])
    return replace(batch, tgt_valid=torch.zeros_like(batch.tgt_valid), n_tgt_tokens=0)


def _is_spread(tensor: Tensor) -> bool:
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)
