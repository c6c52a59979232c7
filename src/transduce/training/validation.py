"""An evaluation in the course of training: scores on the dev set, and the best model so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import final

import torch

from transduce.base.log import logger
from transduce.data.store import TokenStore
from transduce.metrics.perplexity import perplexity
from transduce.model.transformer import Transformer
from transduce.training.best import is_better, score_by
from transduce.training.checkpoint import Progress, SaveBundle, export_finite_weights
from transduce.training.device import is_out_of_memory
from transduce.training.ema import WeightAverage
from transduce.training.evaluate import DevLoss, dev_loss
from transduce.training.interrupt import AbandonedError, Interrupt
from transduce.training.settings import TrainSettings
from transduce.training.shard import is_sharded
from transduce.training.world import World

__all__ = ["Evaluator", "Validator"]

Validator = Callable[[Transformer], Mapping[str, float]]
"""Scores a model, which is in evaluation mode and on its device: scores by name."""


@final
class Evaluator:
    """Scores a model, and keeps the best one.

    Args:
        model: The model, on its device.
        average: The moving average of its weights: where there is one, it is what is scored and kept.
        dev: The pairs to evaluate on.
        settings: By which score the best model is chosen.
        validators: Score the model, beside the perplexity.
        run_dir: Where ``best`` goes.
        save_bundle: Writes it.
        save_run: Saves the run, on all ranks together. Called before an error of an evaluation ends the run, so that it does
            not cost the steps since the last checkpoint.
        world: The ranks, each of which scores its share of the dev set; rank 0 asks the validators and writes.
    """

    def __init__(
        self,
        model: Transformer,
        average: WeightAverage | None,
        *,
        dev: TokenStore,
        settings: TrainSettings,
        validators: Sequence[Validator],
        run_dir: Path,
        save_bundle: SaveBundle,
        save_run: Callable[[], None],
        world: World,
    ) -> None:
        self._model, self._average, self._dev, self._settings = model, average, dev, settings
        self._validators, self._run_dir, self._save_bundle = validators, run_dir, save_bundle
        self._save_run, self._world = save_run, world
        self._device_tokens: int | None = None  # what fits, once the memory was full

    def score(self, interrupt: Interrupt, *, device_tokens: int) -> dict[str, float] | None:
        """Return the scores of the model as it is. It changes nothing. A signal leaves it undone, on all ranks.

        Args:
            interrupt: Knows of signals.
            device_tokens: Tokens of a batch of the dev set. Does not change the result.

        Returns:
            The scores by name, the same on all ranks. None: a signal came.
        """
        share = None
        # The ranks of a model in shards compute together: none of them can leave alone.
        leaving = nullcontext() if is_sharded(self._model) else interrupt.abandoning()
        averaged = self._average.in_model() if self._average is not None else nullcontext()
        with self._failing_together():
            self._model.eval()
            try:
                with averaged, leaving:  # in this order: no signal may come between the weights that are put in and out
                    share = self._score_share(device_tokens)
            except AbandonedError:
                pass
            finally:
                self._model.train()
        (is_left,) = self._world.any(share is None)
        if is_left or share is None:
            return None
        loss, others = share
        nll_nats, n_tokens = self._world.sum(loss.nll_nats, float(loss.n_tokens))
        return {"perplexity": perplexity(nll_nats, round(n_tokens)), **self._world.share(others)}

    def _score_share(self, device_tokens: int) -> tuple[DevLoss, dict[str, float]]:
        """Score what falls to this rank: no rank waits for another here."""
        loss = self._dev_loss(device_tokens)
        scores: dict[str, float] = {}
        for validator in self._validators if self._world.is_first else ():
            scores |= validator(self._model)
        return loss, scores

    def _dev_loss(self, device_tokens: int) -> DevLoss:
        """Score the dev set in batches that are halved where the device's memory is full, as those of training are."""
        tokens = min(device_tokens, self._device_tokens or device_tokens)
        longest = int(max(self._dev.src_lengths.max(), self._dev.tgt_lengths.max())) + 1
        while True:
            try:
                return dev_loss(
                    self._model, self._dev, device_tokens=tokens, device=self._world.device, world=self._world
                )
            except RuntimeError as error:
                # A pair by itself cannot be halved, nor can one of the ranks that compute together.
                if not is_out_of_memory(error) or tokens <= longest or is_sharded(self._model):
                    raise
            # Outside of the handler: the error holds every tensor of the computation that failed.
            tokens = self._device_tokens = tokens // 2
            if self._world.device.type == "cuda":
                torch.cuda.empty_cache()
            logger.warning(
                "the memory of %s is full: from now on, evaluations use batches of %d tokens; scores stay the same",
                self._world.device,
                tokens,
            )

    @contextmanager
    def _failing_together(self) -> Iterator[None]:
        """Let an error within the block, on whatever rank, end the run on all of them, once the run is saved."""
        error = None
        try:
            yield
        except Exception as caught:
            if is_sharded(self._model):  # the other ranks are in the middle of a layer
                raise
            error = caught
        (is_failed,) = self._world.any(error is not None)
        if not is_failed:
            return
        try:
            self._save_run()
        finally:
            if error is not None:
                raise error
        self._world.barrier()  # nobody passes it: the rank that failed has left, and says why

    def judge(self, progress: Progress, scores: Mapping[str, float]) -> bool:
        """Note the scores, keep the model as ``best`` when it is, and count the evaluation as a bad one when it is not.

        Args:
            progress: Where the run stands; it is brought up to date.
            scores: Those of the model as it is.

        Returns:
            True: it is the best so far.

        Raises:
            TrainingError: What ``train.best_by`` asks for is not measured. Or it is the best, but a weight is not finite.
            BundleError: It cannot be saved.
        """
        best_by = self._settings.best_by
        finite = {name: value for name, value in scores.items() if math.isfinite(value)}
        with self._failing_together():
            score = score_by(best_by, scores)
            is_best = is_better(best_by, score, progress.best_score)
            if is_best:
                self._keep(progress.step, finite)
        progress.scores, progress.validated_step = finite, progress.step
        if is_best:
            progress.best_by, progress.best_score, progress.best_step = best_by, score, progress.step
        progress.n_bad_validations = 0 if is_best else progress.n_bad_validations + 1
        return is_best

    def _keep(self, step: int, scores: Mapping[str, float]) -> None:
        weights = export_finite_weights(self._model, step)
        if self._average is not None:
            weights = self._average.export()
        if self._world.is_first:
            self._save_bundle(self._run_dir / "best", weights=weights, step=step, scores=scores)
