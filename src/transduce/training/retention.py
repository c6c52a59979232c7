"""When checkpoints are written, and which of them are kept."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from transduce.bundle.run import list_checkpoints, step_of
from transduce.training.settings import TrainSettings

__all__ = ["is_regular", "prune_checkpoints"]


def is_regular(step: int, settings: TrainSettings, timed: Collection[int]) -> bool:
    """Tell whether a checkpoint was due at its step, and not written because the run was stopped there.

    Args:
        step: Its step.
        settings: The steps between checkpoints.
        timed: The steps of the checkpoints that the clock asked for.
    """
    return step in timed or (settings.checkpoint_every is not None and step % settings.checkpoint_every == 0)


def prune_checkpoints(run_dir: Path, settings: TrainSettings, written: Path, timed: Collection[int] = ()) -> None:
    """Remove checkpoints that are older than the one that was just written.

    The newest ``keep_checkpoints`` stay, and one every ``keep_every`` steps stays for good. A checkpoint that was written
    because the run was stopped there goes as soon as a newer one stands, so that an interrupted run ends with the same
    checkpoints as any other.

    Args:
        run_dir: The run directory.
        settings: What to keep.
        written: The checkpoint that was just written. It stays, and so does whatever stands above it.
        timed: The steps of the checkpoints that the clock asked for.
    """
    older = [path for path in list_checkpoints(run_dir) if step_of(path) < step_of(written)]
    regular = [path for path in older if is_regular(step_of(path), settings, timed)]
    kept = regular[max(0, len(regular) - settings.keep_checkpoints + 1) :]
    for path in older:
        if path not in kept and not _stays_for_good(step_of(path), settings):
            # Out of sight first: a kill in the middle of the removal must not leave half a checkpoint under its name.
            shutil.rmtree(path.rename(path.with_name(f".{path.name}-removed.old")))


def _stays_for_good(step: int, settings: TrainSettings) -> bool:
    return settings.keep_every is not None and step % settings.keep_every == 0
