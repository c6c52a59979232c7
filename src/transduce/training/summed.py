"""Gradient engines of many ranks: each computes its share, and all end up with the gradient of the whole step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import nn

from transduce.base.errors import TrainingError
from transduce.data.batch import Batch
from transduce.model.noise import NoiseKey
from transduce.training.device import is_out_of_memory
from transduce.training.gradients import GradientEngine
from transduce.training.loss import LossSum
from transduce.training.shard import empty_batch, is_sharded
from transduce.training.world import World

__all__ = ["ShardedGradients", "SummedGradients", "sum_over_ranks"]


def sum_over_ranks(engine: GradientEngine, model: nn.Module, world: World) -> GradientEngine:
    """Return an engine for the whole step, made from one for the share of this rank.

    Args:
        engine: Computes the gradients of this rank's share.
        model: Its model, as a whole or spread over the ranks.
        world: The ranks.
    """
    if world.size == 1:
        return engine
    return (
        ShardedGradients(engine, world)
        if is_sharded(model)
        else SummedGradients(engine, list(model.parameters()), world)
    )


@final
class SummedGradients:
    """Every rank has the whole model: gradients are computed apart and summed.

    Args:
        engine: Computes the gradients of this rank's share.
        parameters: Those of the model.
        world: The ranks.
    """

    def __init__(self, engine: GradientEngine, parameters: Sequence[nn.Parameter], world: World) -> None:
        self.name = engine.name
        self._engine, self._parameters, self._world = engine, parameters, world

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Do what :class:`~transduce.training.gradients.GradientEngine` says, for the microbatches of all ranks together."""
        with self._world.summing(self._parameters):
            loss = self._engine.gradients(microbatches, n_tgt_tokens=n_tgt_tokens, key=key)
        return _sum_loss(loss, n_tgt_tokens, self._world)


@final
class ShardedGradients:
    """Every rank has a part of each weight, and gathers the rest layer by layer, forwards and backwards.

    So all ranks must compute the same number of microbatches: where one has fewer, it adds empty ones. torch sums the
    gradients itself.

    Args:
        engine: Computes the gradients of this rank's share.
        world: The ranks.
    """

    def __init__(self, engine: GradientEngine, world: World) -> None:
        self.name = engine.name
        self._engine, self._world = engine, world

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Do what :class:`~transduce.training.gradients.GradientEngine` says, for the microbatches of all ranks together.

        Raises:
            TrainingError: The memory of this rank's device is full; the others wait for it in the middle of a layer.
        """
        n_missing = round(self._world.max(float(len(microbatches)))) - len(microbatches)
        padded = [*microbatches, *(empty_batch() for _ in range(n_missing))]
        try:
            loss = self._engine.gradients(padded, n_tgt_tokens=n_tgt_tokens, key=key)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise TrainingError(
                f"the memory of {self._world.device} is full, and with train.parallel = 'shard' a step cannot be repeated in "
                "smaller parts; lower train.device_tokens and resume: the updates stay the same"
            ) from None
        return _sum_loss(loss, n_tgt_tokens, self._world)


def _sum_loss(loss: LossSum, n_tgt_tokens: int, world: World) -> LossSum:
    nats, nll_nats = world.sum_tensor(torch.stack([loss.nats, loss.nll_nats])).unbind()
    return LossSum(nats, nll_nats, n_tgt_tokens)
