"""Starting, and going back, on all ranks alike: rank 0 chooses the checkpoint, and the others read the same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from transduce.base.plain import as_plain, from_plain
from transduce.model.transformer import Transformer
from transduce.training.checkpoint import Progress, read_checkpoint
from transduce.training.ema import WeightAverage
from transduce.training.settings import TrainSettings
from transduce.training.shard import whole
from transduce.training.world import World, fingerprint

__all__ = ["check_same_run", "check_same_weights", "restore_together"]

_MAY_DIFFER = {"device"}
"""Settings that a rank may have for itself."""


def check_same_run(world: World, settings: TrainSettings, plan: Mapping[str, int | str], model: Transformer) -> None:
    """Make sure that all ranks have been told to do the same, and have the same data and the same model.

    Raises:
        TrainingError: One has not: names it, and both values.
    """
    told = {f"train.{name}": value for name, value in settings.as_dict().items() if name not in _MAY_DIFFER}
    versions = {"version of torch": torch.__version__.partition("+")[0]}
    shapes = {"model": sorted((name, tuple(parameter.shape)) for name, parameter in model.named_parameters())}
    world.agree({**told, **plan, **versions, **shapes})


def check_same_weights(world: World, model: Transformer, step: int) -> None:
    """Make sure that all ranks stand at the same step with the same weights, to the last bit.

    Where they do not, a device computes wrongly, or a rank has read another file.

    Raises:
        TrainingError: One does not: names it.
    """
    if world.size > 1:
        world.agree({"step": step, "state of the weights": fingerprint(whole(p) for p in model.parameters())})


def restore_together(
    world: World,
    restore: Callable[[], tuple[Path | None, Progress]],
    *,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
) -> tuple[Path | None, Progress]:
    """Let rank 0 put a checkpoint into its model, and the other ranks the same one into theirs.

    The run directory must be on a file system that all machines see.

    Args:
        world: The ranks.
        restore: What rank 0 does: returns the checkpoint that it has read, if any, and where the run stands.
        model: The model of this rank.
        optimizer: Its optimizer.
        average: The moving average of its weights, if there is one.

    Returns:
        The checkpoint, and where the run stands: the same on all ranks.

    Raises:
        TrainingError: A rank cannot read the checkpoint, or reads another one.
    """
    if world.size == 1:
        return restore()

    def on_the_first() -> tuple[str | None, dict[str, object]]:
        path, progress = restore()
        return str(path) if path is not None else None, as_plain(progress)

    name, values = world.first(on_the_first)
    path = Path(name) if name is not None else None
    if path is not None and not world.is_first:
        read_checkpoint(path, model=model, optimizer=optimizer, average=average)
    progress = from_plain(Progress, values)
    check_same_weights(world, model, progress.step)
    return path, progress
