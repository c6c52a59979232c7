"""Steps whose update was refused: found, and their batches saved, so that someone can look at what was in them.

::

    RUN/bad-batches/step-00001234/
        step.json      what was wrong, with the loss, the gradient and the learning rate
        pairs.jsonl    one pair a line: its number in the store, the ids that the step was made with, and its text

Nothing in it can run code, and nothing of it is ever read back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

import numpy as np
import torch

from transduce.base.errors import TrainingError
from transduce.base.files import atomic_directory
from transduce.base.log import logger
from transduce.data.batching import StepPlan
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.store import TokenStore
from transduce.training.records import BadStepRecord, Listener
from transduce.training.settings import TrainSettings
from transduce.training.step import StepSums

__all__ = [
    "BAD_BATCHES",
    "MAX_SAVED",
    "BadStep",
    "Inspector",
    "MadeStep",
    "PairText",
    "find_bad_steps",
    "save_bad_batch",
]

BAD_BATCHES = "bad-batches"
"""The directory of a run that they are saved in."""
MAX_SAVED = 20
"""So many batches are saved in a run directory; those of later bad steps are only counted."""

PairText = Callable[[Sequence[int], Sequence[int]], tuple[str, str]]
"""Turns the ids of a pair, without BOS and EOS, into its two texts."""


@dataclass(frozen=True)
class MadeStep:
    """A step that was made, as long as nobody has looked at how it went."""

    step: int
    epoch: int
    learning_rate: float
    plan: StepPlan
    n_tgt_tokens: int
    """Real target tokens that it was made with: with BPE-dropout, other than planned."""
    sums: StepSums


@dataclass(frozen=True)
class BadStep:
    """A step whose update was refused."""

    step: int
    epoch: int
    learning_rate: float
    plan: StepPlan
    n_tgt_tokens: int
    """Real target tokens that it was made with."""
    why: Literal["not finite", "exploding"]
    """``exploding``: loss and gradient are numbers, but the gradient is far larger than those before."""
    loss: float
    """Smoothed loss, in nats per token."""
    grad_norm: float


@final
class Inspector:
    """Looks at how steps went, saves the batches of bad ones, and does what ``train.on_bad_step`` says.

    On a CPU, and where a bad step is not to be passed over, every step is looked at once it is made. A GPU is not waited for
    so often: it has refused the update already, and the batches of the steps since the last look are known.

    Args:
        run_dir: Where batches are saved; None: another rank saves them.
        train: The store that they are from.
        settings: What to do with bad steps.
        device: Where steps are made.
        pair_text: Makes texts of ids; None: the ids alone are saved.
        bpe_dropout: What cut the pairs into pieces anew; None: they are as in the store.
        emit: Is given a record of each bad step.
    """

    def __init__(
        self,
        run_dir: Path | None,
        train: TokenStore,
        *,
        settings: TrainSettings,
        device: torch.device,
        pair_text: PairText | None,
        bpe_dropout: BpeDropout | None,
        emit: Listener,
    ) -> None:
        self._run_dir, self._train, self._pair_text, self._emit = run_dir, train, pair_text, emit
        self._bpe_dropout = bpe_dropout
        self._on_bad_step = settings.on_bad_step
        self._looks_at_each = device.type == "cpu" or settings.on_bad_step != "skip"
        self._unseen: list[MadeStep] = []

    def add(self, step: MadeStep) -> None:
        """Take note of a step, without waiting for it."""
        self._unseen.append(step)

    def look(self, *, is_due: bool) -> BadStep | None:
        """Look at the steps since the last look.

        Args:
            is_due: True: someone waits for the device now anyhow.

        Returns:
            The first bad step, where the run is to go back because of it.

        Raises:
            TrainingError: There was a bad step, and the run is to stop.
        """
        if not (self._looks_at_each or is_due):
            return None
        found, self._unseen = find_bad_steps(self._unseen), []
        for bad in found:
            self._report(bad)
        if not found or self._on_bad_step == "skip":
            return None
        if self._on_bad_step == "rollback":
            return found[0]
        raise TrainingError(
            f"the update of step {found[0].step} was refused ({found[0].why}), and train.on_bad_step is 'stop'; its batch is in "
            f"{BAD_BATCHES}/ of the run; set on_bad_step to 'skip' or 'rollback' and resume"
        )

    def _report(self, bad: BadStep) -> None:
        path = None
        if self._run_dir is not None:
            path = save_bad_batch(self._run_dir, bad, self._train, self._pair_text, self._bpe_dropout)
        if path is not None:
            logger.warning(
                "step %d: the update was refused (%s: loss %.4g, norm of the gradient %.4g); its batch is in %s",
                *(bad.step, bad.why, bad.loss, bad.grad_norm, path),
            )
        self._emit(BadStepRecord(bad.step, bad.why, bad.loss, bad.grad_norm, path))


def find_bad_steps(made: Sequence[MadeStep]) -> list[BadStep]:
    """Return the steps that were refused. Waits for the device to have made them all."""
    if not made:
        return []
    sums = [torch.stack([step.sums.refused, step.sums.nats, step.sums.grad_norm]) for step in made]
    found = []
    for step, (refused, nats, grad_norm) in zip(made, torch.stack(sums).tolist(), strict=True):  # sync: see the loop
        if refused:
            is_finite = math.isfinite(nats) and math.isfinite(grad_norm)
            found.append(
                BadStep(
                    step=step.step,
                    epoch=step.epoch,
                    learning_rate=step.learning_rate,
                    plan=step.plan,
                    n_tgt_tokens=step.n_tgt_tokens,
                    why="exploding" if is_finite else "not finite",
                    loss=nats / step.n_tgt_tokens,
                    grad_norm=grad_norm,
                )
            )
    return found


def save_bad_batch(
    run_dir: Path, bad: BadStep, train: TokenStore, text: PairText | None, bpe_dropout: BpeDropout | None = None
) -> Path | None:
    """Save the batch of a bad step for inspection.

    Args:
        run_dir: The run directory.
        bad: The step.
        train: The store that its pairs are in.
        text: Makes texts of ids; None: the ids alone are saved.
        bpe_dropout: What cut the pairs into pieces anew; None: they are as in the store.

    Returns:
        Where it is. None: there are enough already, or the disk is full, which must not be what ends a run.
    """
    directory = run_dir / BAD_BATCHES
    path = directory / f"step-{bad.step:08d}"
    if not path.exists() and len(list(directory.glob("step-*"))) >= MAX_SAVED:
        return None
    try:
        with atomic_directory(path) as temporary:
            (temporary / "step.json").write_text(_about(bad), encoding="utf-8")
            lines = [_pair_line(index, src, tgt, text) for index, src, tgt in _pairs_of(bad, train, bpe_dropout)]
            (temporary / "pairs.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
    except OSError as error:
        logger.warning("%s: the batch of a bad step cannot be saved (%s)", path, error.strerror)
        return None
    return path


def _about(bad: BadStep) -> str:
    values = {
        "step": bad.step,
        "epoch": bad.epoch,
        "step_in_epoch": bad.plan.place.step,
        "why": bad.why,
        "loss": bad.loss if math.isfinite(bad.loss) else str(bad.loss),  # JSON has no other word for them
        "grad_norm": bad.grad_norm if math.isfinite(bad.grad_norm) else str(bad.grad_norm),
        "learning_rate": bad.learning_rate,
        "n_pairs": len(bad.plan.pairs),
        "n_tgt_tokens": bad.n_tgt_tokens,
    }
    return json.dumps(values, indent=2) + "\n"


def _pairs_of(
    bad: BadStep, train: TokenStore, bpe_dropout: BpeDropout | None
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield the pairs of a step, by number, with the ids that it was made with: pieces are drawn again as they were then."""
    if bpe_dropout is None:
        for index in bad.plan.pairs.tolist():
            yield index, train.src(index).tolist(), train.tgt(index).tolist()
        return
    drawn = bpe_dropout.resegment(bad.plan.pairs, epoch=bad.epoch)
    sides = (
        np.split(ids, offsets[1:-1])
        for ids, offsets in ((drawn.src_ids, drawn.src_offsets), (drawn.tgt_ids, drawn.tgt_offsets))
    )
    for index, src_ids, tgt_ids in zip(bad.plan.pairs.tolist(), *sides, strict=True):
        yield index, src_ids.tolist(), tgt_ids.tolist()


def _pair_line(index: int, src_ids: list[int], tgt_ids: list[int], text: PairText | None) -> str:
    line: dict[str, object] = {"pair": index, "src_ids": src_ids, "tgt_ids": tgt_ids}
    if text is not None:
        line |= dict(zip(("src", "tgt"), text(src_ids, tgt_ids), strict=True))
    return json.dumps(line, ensure_ascii=False) + "\n"
