"""Starting a run, or going on with one, and what may change in between."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from transduce.base.errors import TrainingError
from transduce.base.log import logger, plural
from transduce.bundle.run import list_checkpoints
from transduce.data.store import TokenStore
from transduce.model.transformer import Transformer
from transduce.training.best import BestBy
from transduce.training.checkpoint import Progress, clear_leftovers, restore_newest
from transduce.training.ema import WeightAverage
from transduce.training.schedule import decays_to_the_end, learning_rate
from transduce.training.settings import TrainSettings

__all__ = ["adopt_best_by", "adopt_n_steps", "plan_identity", "resume_run", "start_run"]


def start_run(run_dir: Path) -> Progress:
    """Return where a new run stands.

    Raises:
        TrainingError: There is a run in the directory already: it is never overwritten.
    """
    _refuse_a_run(run_dir)
    clear_leftovers(run_dir)
    _refuse_a_run(run_dir)  # a checkpoint that was just being replaced has been brought back
    return Progress()


def resume_run(
    run_dir: Path,
    *,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    plan: Mapping[str, int | str],
    average: WeightAverage | None = None,
) -> tuple[Path | None, Progress]:
    """Put the newest good checkpoint into a model and its optimizer.

    Settings may have changed. Learning rates, intervals, ``device_tokens`` and the device change nothing but what they
    say. When the batches of the epoch have become others (``batch_tokens``, the seed, the data), the place in the epoch
    means nothing: the epoch starts again from its first sentence, and a warning says so.

    Args:
        run_dir: The run directory.
        model: The model, on its device.
        optimizer: Its optimizer.
        average: The moving average of its weights, if one is kept.
        plan: What decides the batches now, from :func:`plan_identity`.

    Returns:
        The checkpoint that the run goes on from (None: there is none yet, and it starts), and where it stands.

    Raises:
        TrainingError: The checkpoints are of another model, or there are some and none can be read.
    """
    clear_leftovers(run_dir)
    found = restore_newest(run_dir, model=model, optimizer=optimizer, average=average)
    if found is None and list_checkpoints(run_dir):
        raise TrainingError(f"{run_dir}: none of its checkpoints can be read; choose another --out and start anew")
    if found is None:
        return None, Progress()
    path, progress = found
    changed = [
        f"{name} was {progress.plan.get(name)} and is {value}"
        for name, value in plan.items()
        if progress.plan.get(name) != value
    ]
    if changed and progress.step_in_epoch:
        logger.warning(
            "%s: epoch %d starts again from its first sentence, after %s of it; steps are counted on",
            "; ".join(changed),
            progress.epoch,
            plural(progress.pairs_in_epoch, "pair"),
        )
        progress.start_epoch()
    return path, progress


def _refuse_a_run(run_dir: Path) -> None:
    existing = list_checkpoints(run_dir)
    if existing:
        raise TrainingError(
            f"{run_dir}: holds a run already (up to {existing[-1].name}); add --resume to go on with it, "
            "or choose another --out"
        )


def adopt_best_by(progress: Progress, best_by: BestBy) -> None:
    """Forget the best score so far where models are compared by another one from now on; a warning says so."""
    if progress.best_by != best_by and progress.best_score is not None:
        logger.warning(
            "train.best_by was '%s' and is '%s': the next evaluation is the first to compare with",
            progress.best_by,
            best_by,
        )
        progress.best_score = progress.best_step = None
        progress.n_bad_validations = 0
    progress.best_by = best_by


def adopt_n_steps(progress: Progress, settings: TrainSettings, d_model: int) -> None:
    """Warn where the learning rate jumps, since the end that it falls to has been moved."""
    before = progress.n_steps
    if before is not None and before != settings.n_steps and progress.step and decays_to_the_end(settings):
        step = progress.step + 1
        was, now = (
            learning_rate(step, settings.replace(n_steps=n_steps), d_model) for n_steps in (before, settings.n_steps)
        )
        if abs(now - was) > 0.01 * max(now, was):
            logger.warning(
                "train.n_steps was %d and is %d, and schedule '%s' falls to its end: the learning rate of step %d is %.3g in "
                "place of %.3g",
                *(before, settings.n_steps, settings.schedule, step, now, was),
            )
    progress.n_steps = settings.n_steps


def plan_identity(train: TokenStore, settings: TrainSettings) -> dict[str, int | str]:
    """Return what decides which pairs make up each step: settings by name, and a hash of all lengths and vocabularies."""
    digest = hashlib.sha256(f"{train.info.src_fingerprint} {train.info.tgt_fingerprint}".encode())
    for lengths in (train.src_lengths, train.tgt_lengths):
        digest.update(np.ascontiguousarray(lengths).tobytes())
    return {
        "batch_tokens": settings.batch_tokens,
        "pool_pairs": settings.pool_pairs,
        "max_pair_tokens": settings.max_pair_tokens,
        "seed": settings.seed,
        "training data": digest.hexdigest()[:16],
    }
