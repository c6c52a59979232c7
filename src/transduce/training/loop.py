"""The training loop: epochs, steps, evaluations, checkpoints, and when to stop.

What a run does is fixed by its settings, its data and the number of each step alone. So a run that was stopped or
killed and goes on from a checkpoint ends with the same weights, bit for bit, as one that was never stopped (on the same
machine with the same number of threads).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import final

from transduce.base.errors import TrainingError
from transduce.base.files import check_writable_directory
from transduce.bundle.run import list_checkpoints
from transduce.data.batching import count_too_long
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.store import TokenStore
from transduce.model.device import choose_device
from transduce.model.noise import noise_key
from transduce.model.transformer import Transformer
from transduce.training.bad_steps import Inspector, MadeStep, PairText
from transduce.training.checkpoint import Progress, SaveBundle, write_checkpoint
from transduce.training.device import is_out_of_memory, tiny_numbers_are_zero
from transduce.training.ema import WeightAverage
from transduce.training.feed import FedStep, feed_steps
from transduce.training.fit import open_dial
from transduce.training.gradients import build_gradient_engine
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
    RollbackRecord,
    StopReason,
    StopRecord,
    ValidationRecord,
    no_pulse,
)
from transduce.training.reports import count_step, start_record, step_record
from transduce.training.result import TrainResult
from transduce.training.resume import adopt_best_by, adopt_n_steps, plan_identity, resume_run, start_run
from transduce.training.retention import prune_checkpoints
from transduce.training.rollback import roll_back
from transduce.training.schedule import learning_rate
from transduce.training.settings import TrainSettings
from transduce.training.shard import shard_model
from transduce.training.step import Tally, TallyReading, train_step
from transduce.training.stopping import Signs, read_signs, reason_to_stop
from transduce.training.summed import sum_over_ranks
from transduce.training.together import check_same_run, check_same_weights, restore_together
from transduce.training.validation import Evaluator, Validator
from transduce.training.watch import GradientWatch
from transduce.training.work import WorkListener
from transduce.training.world import World

__all__ = ["TrainResult", "Trainer", "Validator"]


@final
class Trainer:
    """Trains a model on a store of pairs, and keeps everything in a run directory.

    The run directory gets ``checkpoints/``, ``best/`` (the bundle of the best dev score), and ``bad-batches/`` if need be.
    Paper: section 5.

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
        pair_text: Makes texts of the ids of a pair, for the batches that are saved for inspection.
        work_listener: Is told, after every step, of the microbatches that were computed.
        bpe_dropout: Cuts the training pairs into pieces anew for every epoch; not given, they are as in the store.
        world: The processes that train together; not given, this one is alone.

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
        pair_text: PairText | None = None,
        work_listener: WorkListener | None = None,
        bpe_dropout: BpeDropout | None = None,
        world: World | None = None,
    ) -> None:
        check_stores(model, train, dev, settings)
        self._world = world or World(choose_device(settings.device, setting="train.device"))
        self._device = self._world.device
        self._model = model.to(self._device)
        if settings.parallel == "shard" and self._world.size > 1:
            shard_model(model, self._world)
        self._engine = build_gradient_engine(self._model, settings, self._device, world=self._world)
        self._optimizer = build_optimizer(model, settings)
        self._average = WeightAverage(model, decay=settings.ema_decay) if settings.ema_decay is not None else None
        self._evaluator = Evaluator(
            model,
            self._average,
            dev=dev,
            settings=settings,
            validators=validators,
            run_dir=run_dir,
            save_bundle=save_bundle,
            save_run=lambda: self._checkpoint(is_timed=False),
            world=self._world,
        )
        self._train, self._settings, self._run_dir = train, settings, run_dir
        self._save_bundle, self._listeners, self._pair_text = save_bundle, listeners, pair_text
        self._work_listener, self._bpe_dropout = work_listener, bpe_dropout
        self._pulse, self._progress = pulse or no_pulse, Progress()

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
        self._world.first(lambda: check_writable_directory(self._run_dir))
        resumed_from = self._open_run(resume)
        self._open_sums()
        start, settings = self._progress, self._settings
        self._meter = Meter(
            n_steps=settings.n_steps, max_minutes=settings.max_minutes, step=start.step, seconds=start.seconds
        )
        self._saved_s = self._meter.seconds
        self._emit(
            start_record(start, settings, self._world, self._model, n_pairs=len(self._train), resumed_from=resumed_from)
        )
        self._dial = open_dial(
            self._engine,
            lambda: self._progress,
            model=self._model,
            train=self._train,
            settings=settings,
            emit=self._emit,
        )
        self._gradients = sum_over_ranks(self._dial, self._model, self._world)
        settle_s = 5.0 if self._world.size > 1 else 0.0  # launchers send a signal to a process more than once
        with tiny_numbers_are_zero(), deferred_interrupts(settle_s=settle_s) as interrupt:
            reason = self._train_until_done(interrupt)
        seconds = self._meter.seconds
        self._emit(StopRecord(self._progress.step, reason, seconds))
        self._world.barrier()  # so that what rank 0 has written is there
        kept = tuple(list_checkpoints(self._run_dir))
        if reason == "interrupted":
            raise TrainingInterrupted(
                f"stopped at step {self._progress.step}; everything is saved in {kept[-1]}; "
                "the same command with --resume goes on from there"
            )
        return TrainResult(self._progress.step, reason, self._progress.scores, self._progress.best_step, kept, seconds)

    def _open_run(self, resume: bool) -> Path | None:
        plan = plan_identity(self._train, self._settings)
        check_same_run(self._world, self._settings, plan, self._model)
        path, self._progress = self._restore_together(
            lambda: (
                resume_run(
                    self._run_dir, plan=plan, model=self._model, optimizer=self._optimizer, average=self._average
                )
                if resume
                else (None, start_run(self._run_dir))
            )
        )
        self._progress.plan = plan
        if path is not None and self._world.is_first:  # a kill may have come between a checkpoint and this
            prune_checkpoints(self._run_dir, self._settings, path, self._progress.timed_checkpoints)
        adopt_best_by(self._progress, self._settings.best_by)
        adopt_n_steps(self._progress, self._settings, self._model.d_model)
        self._model.train()
        return path

    def _restore_together(self, restore: Callable[[], tuple[Path | None, Progress]]) -> tuple[Path | None, Progress]:
        return restore_together(
            self._world, restore, model=self._model, optimizer=self._optimizer, average=self._average
        )

    def _open_sums(self) -> None:
        """Take up the sums over steps where the progress has them."""
        self._tally = Tally(self._device, self._progress.tally)
        self._watch = GradientWatch(self._device, max_factor=self._settings.max_grad_factor, state=self._progress.watch)
        self._inspector = Inspector(
            self._run_dir if self._world.is_first else None,
            self._train,
            settings=self._settings,
            device=self._device,
            pair_text=self._pair_text,
            bpe_dropout=self._bpe_dropout,
            emit=self._emit,
        )

    def _train_until_done(self, interrupt: Interrupt) -> StopReason:
        progress = self._progress
        if self._is_validation_due() and progress.validated_step < progress.step:
            self._validate(interrupt)  # the run was stopped after this step and before its evaluation
        # A new run makes one step at least, so that there is always something to save.
        reason = reason_to_stop(progress, self._settings, self._read_signs(interrupt)) if progress.step else None
        while reason is None:
            reason = self._train_epoch(interrupt)
        return reason

    def _train_epoch(self, interrupt: Interrupt) -> StopReason | None:
        """Train from where the run stands to the end of the epoch, or until something ends it."""
        device_tokens = self._dial.device_tokens
        steps = feed_steps(
            self._train,
            self._settings,
            epoch=self._progress.epoch,
            start=self._progress.place,
            device_tokens=device_tokens,
            rank=self._world.rank,
            world_size=self._world.size,
            bpe_dropout=self._bpe_dropout,
        )
        with closing(steps):
            for step in steps:
                self._make_step(step)
                if self._goes_back(step):
                    # The data is taken up anew where the run stands now, and the checkpoint there knows all of it.
                    return "interrupted" if self._read_signs(interrupt).is_interrupted else None
                reason = self._after_step(interrupt, step.is_last)
                if reason is not None or self._dial.device_tokens != device_tokens:
                    return (
                        reason  # where memory ran out, the next steps are cut as a run that goes on from here cuts them
                    )
        return None

    def _make_step(self, step: FedStep) -> None:
        progress, settings, batches = self._progress, self._settings, step.batches
        progress.step += 1
        lr = learning_rate(progress.step, settings, self._model.d_model)
        try:
            sums = train_step(
                self._gradients,
                self._optimizer,
                batches.microbatches,
                n_tgt_tokens=batches.n_tgt_tokens,
                key=noise_key(settings.seed, progress.step),
                lr=lr,
                max_grad_norm=settings.max_grad_norm,
                watch=self._watch,
            )
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise TrainingError(
                f"the optimizer's state does not fit the memory of {self._device} beside the model; choose a smaller model"
            ) from None
        if self._average is not None:
            self._average.add(progress.step)
        self._tally.add(sums, batches.n_tgt_tokens)
        self._inspector.add(MadeStep(progress.step, progress.epoch, lr, step.plan, batches.n_tgt_tokens, sums))
        count_step(step.batches, self._engine.name, self._meter, self._work_listener)
        progress.pairs_in_epoch += len(step.plan.pairs)
        progress.step_in_epoch, progress.pool, progress.steps_before_pool = step.place_after
        progress.tgt_tokens += batches.n_tgt_tokens
        self._pulse(progress.step, "training")

    def _goes_back(self, step: FedStep) -> bool:
        """Look for bad steps, and go back to a checkpoint where that is asked for. True: the data is to be taken up anew."""
        bad = self._inspector.look(is_due=self._is_due(self._settings.log_every))
        if bad is None:
            return False
        behind = self._progress.copy()
        if step.is_last:
            behind.end_epoch()
        path, progress = self._restore_together(
            lambda: roll_back(
                self._run_dir, behind, model=self._model, optimizer=self._optimizer, average=self._average
            )
        )
        if path is None:
            return False
        if step.is_last:
            self._end_epoch()
        self._progress = progress
        self._open_sums()
        self._emit(RollbackRecord(self._progress.step, bad.step, path))
        return True

    def _after_step(self, interrupt: Interrupt, is_epoch_end: bool) -> StopReason | None:
        """Do what is due after a step, and return why to stop, if so.

        The evaluation comes before the checkpoint, so that the checkpoint holds its scores and the count of bad ones.
        """
        progress, settings = self._progress, self._settings
        is_reported = self._is_due(settings.log_every) or progress.step >= settings.n_steps
        if is_reported:
            self._report()
        signs = self._read_signs(interrupt)
        reason = reason_to_stop(progress, settings, signs)
        if reason == "minutes" and not is_reported:
            self._report()
        if is_epoch_end:
            self._end_epoch()
        if reason != "interrupted" and (reason is not None or self._is_validation_due()):
            self._validate(interrupt)
            signs = self._read_signs(interrupt)  # it may have taken long
            reason = reason_to_stop(progress, settings, signs)
        is_timed = signs.is_save_due and reason != "interrupted"
        if reason is not None or is_timed or self._is_due(settings.checkpoint_every):
            self._checkpoint(is_timed=is_timed)
        return reason

    def _read_signs(self, interrupt: Interrupt) -> Signs:
        return read_signs(self._world, interrupt, self._meter, self._settings, saved_s=self._saved_s)

    def _end_epoch(self) -> None:
        progress = self._progress
        n_too_long = count_too_long(self._train, self._settings.max_pair_tokens)
        self._emit(EpochRecord(progress.step, progress.epoch, progress.pairs_in_epoch, n_too_long))
        progress.end_epoch()

    def _report(self) -> None:
        progress, settings = self._progress, self._settings
        sums, speed = self._read_sums(), self._meter.read(progress.step)
        lr = learning_rate(progress.step, settings, self._model.d_model)
        self._emit(step_record(progress, lr, sums, speed))
        if self._is_due(settings.log_every):  # else it is the last line of a run that may go on later
            self._tally.new_window()
            self._meter.new_window()

    def _read_sums(self) -> TallyReading:
        """Read how the steps went. It may be the end of the run, so the batches of bad ones are saved before."""
        self._inspector.look(is_due=True)
        return self._tally.read()

    def _validate(self, interrupt: Interrupt) -> None:
        """Evaluate. A signal leaves it undone, to be made up for by the run that goes on from here."""
        progress, started = self._progress, time.monotonic()
        self._pulse(progress.step, "evaluating")
        with self._meter.paused():
            scores = self._evaluator.score(interrupt, device_tokens=self._dial.device_tokens)
            if scores is None:
                return
            is_best = self._evaluator.judge(progress, scores)
        self._emit(ValidationRecord(progress.step, scores, is_best, time.monotonic() - started))

    def _checkpoint(self, *, is_timed: bool) -> None:
        progress, settings, started = self._progress, self._settings, time.monotonic()
        self._pulse(progress.step, "saving")
        with self._meter.paused():
            self._read_sums()  # gives up here, and not with a checkpoint, when updates are refused in a row
            progress.tally, progress.watch = self._tally.state(), self._watch.state()
            progress.seconds = self._saved_s = self._meter.seconds
            progress.n_rollbacks = 0
            if is_timed:
                progress.timed_checkpoints = (*progress.timed_checkpoints, progress.step)
            check_same_weights(self._world, self._model, progress.step)
            path = write_checkpoint(
                self._run_dir,
                model=self._model,
                optimizer=self._optimizer,
                progress=progress,
                save_bundle=self._save_bundle,
                average=self._average,
                world=self._world,
            )
            if self._world.is_first:
                prune_checkpoints(self._run_dir, settings, path, progress.timed_checkpoints)
        self._emit(CheckpointRecord(progress.step, path, time.monotonic() - started))

    def _is_due(self, every: int | None) -> bool:
        return every is not None and self._progress.step % every == 0

    def _is_validation_due(self) -> bool:
        return self._is_due(self._settings.validate_every) or self._progress.step >= self._settings.n_steps

    def _emit(self, record: Record) -> None:
        for listener in self._listeners:
            listener(record)
