"""The training loop: epochs, steps, evaluations, checkpoints, and when to stop.

What a run does is fixed by its settings, its data and the number of each step alone. So a run that was stopped or
killed and goes on from a checkpoint ends with the same weights, bit for bit, as one that was never stopped (on the same
machine with the same number of threads).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar, final

from transduce.base.errors import TrainingError
from transduce.base.files import check_writable_directory
from transduce.bundle.run import list_checkpoints
from transduce.data.batch import Batch
from transduce.data.batching import StepPlan, count_too_long, plan_epoch
from transduce.data.loader import StepBatches, load_batches
from transduce.data.store import TokenStore
from transduce.metrics.perplexity import perplexity
from transduce.model.device import choose_device
from transduce.model.transformer import Transformer
from transduce.training.checkpoint import (
    Progress,
    SaveBundle,
    export_finite_weights,
    prune_checkpoints,
    write_checkpoint,
)
from transduce.training.device import is_out_of_memory, seed_step, tiny_numbers_are_zero
from transduce.training.evaluate import dev_loss
from transduce.training.interrupt import Interrupt, TrainingInterrupted, deferred_interrupts
from transduce.training.meter import Meter
from transduce.training.optimizer import build_optimizer
from transduce.training.preflight import check_stores
from transduce.training.records import (
    CheckpointRecord,
    EpochRecord,
    Listener,
    Pulse,
    Record,
    StartRecord,
    StepRecord,
    StopReason,
    StopRecord,
    ValidationRecord,
)
from transduce.training.resume import plan_identity, resume_run, start_run
from transduce.training.schedule import learning_rate
from transduce.training.settings import TrainSettings
from transduce.training.step import Tally, train_step

__all__ = ["TrainResult", "Trainer", "Validator"]

Validator = Callable[[Transformer], Mapping[str, float]]
"""Scores a model, which is in evaluation mode and on its device: scores by name."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class TrainResult:
    """How a run ended."""

    step: int
    """Updates made in all."""
    reason: StopReason
    """Why it ended."""
    scores: Mapping[str, float]
    """Scores on the dev set at the end."""
    best_step: int | None
    """The step of the lowest perplexity, whose model is in ``best``. None: no perplexity was finite."""
    checkpoints: tuple[Path, ...]
    """The checkpoints that are kept, the oldest first."""
    seconds: float
    """Time trained, in seconds, that before a resume and all evaluations included."""


@final
class Trainer:
    """Trains a model on a store of pairs, and keeps everything in a run directory.

    The run directory gets ``checkpoints/`` and ``best/`` (the bundle of the lowest dev perplexity). Paper: section 5.

    Args:
        model: The model with its initial weights; it is trained in place and moved to the device.
        train: Pairs to learn from.
        dev: Pairs to evaluate on.
        settings: How to train.
        run_dir: Where everything goes.
        save_bundle: Writes a bundle; what training does not know about one (tokenizers, settings) is bound in it.
        validators: Score the model at each evaluation, beside the perplexity, which is always there.
        listeners: Are given every record of the run.
        pulse: Is told at every step that the run is alive.

    Raises:
        TrainingError: The device is not there, a set is empty, or a sentence is longer than the model's positions.
    """

    def __init__(
        self,
        *,
        model: Transformer,
        train: TokenStore,
        dev: TokenStore,
        settings: TrainSettings,
        run_dir: Path,
        save_bundle: SaveBundle,
        validators: Sequence[Validator] = (),
        listeners: Sequence[Listener] = (),
        pulse: Pulse | None = None,
    ) -> None:
        check_stores(model, train, dev, settings)
        self._device = choose_device(settings.device, setting="train.device")
        self._model = model.to(self._device)
        self._optimizer = build_optimizer(model, settings)
        self._train, self._dev, self._settings, self._run_dir = train, dev, settings, run_dir
        self._save_bundle, self._validators, self._listeners = save_bundle, validators, listeners
        self._pulse = pulse
        self._progress = Progress()

    def run(self, *, resume: bool) -> TrainResult:
        """Train until the settings say that it is enough.

        Args:
            resume: True: go on from the newest good checkpoint, or start when there is none. False: start, and refuse to
                where a run has been before.

        Raises:
            DataError: The run directory cannot be written.
            TrainingError: There is a run already, the checkpoint is of another model, or the numbers went bad for good.
            TrainingInterrupted: Ctrl-C or SIGTERM; everything is saved.
        """
        check_writable_directory(self._run_dir)
        resumed_from = self._open_run(resume)
        self._tally = Tally(self._device, self._progress.tally)
        self._meter = Meter(
            n_steps=self._settings.n_steps,
            max_minutes=self._settings.max_minutes,
            step=self._progress.step,
            seconds=self._progress.seconds,
        )
        self._emit(self._start_record(resumed_from))
        with tiny_numbers_are_zero(), deferred_interrupts() as interrupt:
            reason = self._train_until_done(interrupt)
        seconds = self._meter.seconds
        self._emit(StopRecord(self._progress.step, reason, seconds))
        kept = tuple(list_checkpoints(self._run_dir))
        if reason == "interrupted":
            raise TrainingInterrupted(
                f"stopped at step {self._progress.step}; everything is saved in {kept[-1]}; "
                "the same command with --resume goes on from there"
            )
        return TrainResult(self._progress.step, reason, self._progress.scores, self._progress.best_step, kept, seconds)

    def _open_run(self, resume: bool) -> Path | None:
        plan, path = plan_identity(self._train, self._settings), None
        if resume:
            self._progress, path = resume_run(self._run_dir, model=self._model, optimizer=self._optimizer, plan=plan)
        else:
            self._progress = start_run(self._run_dir)
        self._progress.plan = plan
        self._model.train()
        return path

    def _train_until_done(self, interrupt: Interrupt) -> StopReason:
        progress = self._progress
        if self._is_validation_due() and progress.validated_step < progress.step:
            self._validate()  # the run was stopped after this step and before its evaluation
        # A new run makes one step at least, so that there is always something to save.
        reason = self._reason_to_stop(interrupt) if progress.step else None
        while reason is None:
            plans = islice(self._plan_epoch(), progress.step_in_epoch, None)
            for step, is_last in _mark_last(load_batches(self._train, plans)):
                self._make_step(step)
                reason = self._after_step(interrupt, is_last)
                if reason is not None:
                    break
        return reason

    def _make_step(self, step: StepBatches) -> None:
        progress, settings = self._progress, self._settings
        progress.step += 1
        seed_step(settings.seed, progress.step)
        try:
            sums = train_step(
                self._model,
                self._optimizer,
                step.microbatches,
                n_tgt_tokens=step.n_tgt_tokens,
                lr=learning_rate(progress.step, settings, self._model.d_model),
                label_smoothing=settings.label_smoothing,
                max_grad_norm=settings.max_grad_norm,
                device=self._device,
            )
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise TrainingError(
                f"step {progress.step} does not fit the memory of {self._device} (train.device_tokens = "
                f"{settings.device_tokens}); lower train.device_tokens and resume: the updates stay the same"
            ) from None
        self._tally.add(sums, step.n_tgt_tokens)
        for batch in step.microbatches:
            self._count(batch)
        progress.step_in_epoch += 1
        progress.tgt_tokens += step.n_tgt_tokens
        self._beat("training")

    def _after_step(self, interrupt: Interrupt, is_epoch_end: bool) -> StopReason | None:
        """Do what is due after a step, and return why to stop, if so.

        The evaluation comes before the checkpoint, so that the checkpoint holds its scores and the count of bad ones.
        """
        if self._is_due(self._settings.log_every) or self._reason_to_stop(interrupt) in ("steps", "minutes"):
            self._report()
        if is_epoch_end:
            self._end_epoch()
        reason = self._reason_to_stop(interrupt)
        if reason != "interrupted" and (reason is not None or self._is_validation_due()):
            self._validate()
            reason = self._reason_to_stop(interrupt)
        if reason is not None or self._is_due(self._settings.checkpoint_every):
            self._checkpoint()
        return reason

    def _reason_to_stop(self, interrupt: Interrupt) -> StopReason | None:
        settings, progress = self._settings, self._progress
        if interrupt.requested:
            return "interrupted"
        if progress.step >= settings.n_steps:
            return "steps"
        if settings.patience is not None and progress.n_bad_validations >= settings.patience:
            return "patience"
        return "minutes" if self._meter.is_out_of_time else None

    def _plan_epoch(self) -> Iterator[StepPlan]:
        settings = self._settings
        return plan_epoch(
            self._train,
            batch_tokens=settings.batch_tokens,
            device_tokens=settings.device_tokens,
            pool_pairs=settings.pool_pairs,
            max_pair_tokens=settings.max_pair_tokens,
            seed=settings.seed,
            epoch=self._progress.epoch,
        )

    def _end_epoch(self) -> None:
        progress = self._progress
        n_left_out = count_too_long(self._train, self._settings.max_pair_tokens)
        self._emit(EpochRecord(progress.step, progress.epoch, progress.pairs_in_epoch, n_left_out))
        progress.epoch += 1
        progress.step_in_epoch = progress.pairs_in_epoch = 0

    def _report(self) -> None:
        progress, settings = self._progress, self._settings
        sums, speed = self._tally.read(), self._meter.read(progress.step)
        self._emit(
            StepRecord(
                step=progress.step,
                epoch=progress.epoch,
                learning_rate=learning_rate(progress.step, settings, self._model.d_model),
                loss=sums.loss,
                nll=sums.nll,
                grad_norm=sums.grad_norm,
                n_refused=sums.n_refused,
                tgt_tokens=progress.tgt_tokens,
                tgt_tokens_per_s=speed.tgt_tokens_per_s,
                padding=speed.padding,
                seconds=speed.seconds,
                eta_s=speed.eta_s,
            )
        )
        if self._is_due(settings.log_every):  # else it is the last line of a run that may go on later
            self._tally.new_window()
            self._meter.new_window()

    def _validate(self) -> None:
        progress, started = self._progress, time.monotonic()
        self._beat("evaluating")
        with self._meter.paused():
            self._model.eval()
            loss = dev_loss(self._model, self._dev, device_tokens=self._settings.device_tokens, device=self._device)
            scores = {"perplexity": perplexity(*loss)}
            for validator in self._validators:
                scores |= validator(self._model)
            self._model.train()
            progress.scores = {name: score for name, score in scores.items() if math.isfinite(score)}
            progress.validated_step = progress.step
            is_best = self._judge(scores["perplexity"])
        took_s = time.monotonic() - started
        self._emit(ValidationRecord(progress.step, scores, is_best, took_s))

    def _judge(self, dev_perplexity: float) -> bool:
        """Keep the model as ``best`` when it is; count the evaluation as a bad one when it is not."""
        progress = self._progress
        best = math.inf if progress.best_perplexity is None else progress.best_perplexity
        if not dev_perplexity < best:
            progress.n_bad_validations += 1
            return False
        weights = export_finite_weights(self._model, progress.step)
        self._save_bundle(self._run_dir / "best", weights=weights, step=progress.step, scores=progress.scores)
        progress.best_perplexity, progress.best_step, progress.n_bad_validations = dev_perplexity, progress.step, 0
        return True

    def _checkpoint(self) -> None:
        progress, settings, started = self._progress, self._settings, time.monotonic()
        self._beat("saving")
        with self._meter.paused():
            self._tally.read()  # gives up here, and not with a checkpoint, when updates are refused in a row
            progress.tally, progress.seconds = self._tally.state(), self._meter.seconds
            path = write_checkpoint(
                self._run_dir,
                model=self._model,
                optimizer=self._optimizer,
                progress=progress,
                save_bundle=self._save_bundle,
            )
            prune_checkpoints(self._run_dir, keep=settings.keep_checkpoints, every=settings.checkpoint_every)
        self._emit(CheckpointRecord(progress.step, path, time.monotonic() - started))

    def _is_due(self, every: int) -> bool:
        return self._progress.step % every == 0

    def _is_validation_due(self) -> bool:
        return self._is_due(self._settings.validate_every) or self._progress.step >= self._settings.n_steps

    def _count(self, batch: Batch) -> None:
        n_positions = batch.src.numel() + batch.tgt_in.numel()
        n_real = batch.n_src_tokens + batch.n_tgt_tokens
        self._meter.add(n_tgt_tokens=batch.n_tgt_tokens, n_positions=n_positions, n_padded=n_positions - n_real)
        self._progress.pairs_in_epoch += len(batch.src)

    def _start_record(self, resumed_from: Path | None) -> StartRecord:
        return StartRecord(
            step=self._progress.step,
            n_steps=self._settings.n_steps,
            max_minutes=self._settings.max_minutes,
            device=str(self._device),
            n_parameters=sum(parameter.numel() for parameter in self._model.parameters()),
            n_pairs=len(self._train),
            resumed_from=str(resumed_from) if resumed_from is not None else None,
        )

    def _beat(self, doing: Literal["training", "evaluating", "saving"]) -> None:
        if self._pulse is not None:
            self._pulse(self._progress.step, doing)

    def _emit(self, record: Record) -> None:
        for listener in self._listeners:
            listener(record)


def _mark_last(items: Iterable[Item]) -> Iterator[tuple[Item, bool]]:
    """Yield each item, and True with the last one."""
    iterator = iter(items)
    item = next(iterator, None)
    while item is not None:
        following = next(iterator, None)
        yield item, following is None
        item = following
