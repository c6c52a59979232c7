"""Going back to the newest checkpoint after a bad step, and on behind the batches that led to it.

A run is a function of its settings and its data, so going back and over the same batches again would end at the same bad
step. What is put back is the model: weights, moments, the step and with it the learning rate. The place in the data stays
where it is, behind the bad batch, as in Chowdhery and others, "PaLM" (arXiv 2204.02311, section 5.1): it is the state of the
weights together with these batches that goes wrong, and seldom the batches alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from transduce.base.errors import TrainingError
from transduce.base.log import logger
from transduce.model.transformer import Transformer
from transduce.training.bad_steps import BAD_BATCHES
from transduce.training.checkpoint import Progress, restore_newest, rewrite_progress
from transduce.training.ema import WeightAverage

__all__ = ["MAX_ROLLBACKS", "roll_back"]

MAX_ROLLBACKS = 3
"""So many times a run goes back to one and the same checkpoint; then it is given up: the data is not what is wrong."""


def roll_back(
    run_dir: Path,
    progress: Progress,
    *,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
) -> tuple[Path | None, Progress]:
    """Put the newest good checkpoint into a model and its optimizer, and keep the place in the data.

    The checkpoint is told of it, so that a run which is stopped before its next checkpoint goes on the same way.

    Args:
        run_dir: The run directory.
        progress: Where the run stands: behind the bad batch.
        model: The model.
        optimizer: Its optimizer.
        average: The moving average of its weights, if there is one.

    Returns:
        The checkpoint, and where the run stands now. None: there is no checkpoint yet; a warning says so, and nothing changes.

    Raises:
        TrainingError: The run has gone back to this checkpoint too often.
    """
    found = restore_newest(run_dir, model=model, optimizer=optimizer, average=average)
    if found is None:
        logger.warning("there is no checkpoint yet to go back to: the run goes on with the next batch")
        return None, progress
    path, before = found
    if before.n_rollbacks >= MAX_ROLLBACKS:
        raise TrainingError(
            f"{MAX_ROLLBACKS} times after {path.name} an update had to be refused and the run went back to it; lower the "
            "learning rate (train.lr_factor or train.peak_lr) or set train.max_grad_norm, and resume; the batches are in "
            f"{run_dir / BAD_BATCHES}"
        )
    of_the_model = ("step", "tally", "watch", "validated_step", "scores")
    put_back = {name: getattr(before, name) for name in of_the_model}
    now = replace(progress, **put_back, n_rollbacks=before.n_rollbacks + 1)
    rewrite_progress(path, now)
    return path, now
