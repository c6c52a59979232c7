"""An evaluation in the course of training: scores on the dev set, and the best model so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import final

from transduce.data.store import TokenStore
from transduce.metrics.perplexity import perplexity
from transduce.model.transformer import Transformer
from transduce.training.best import is_better, score_by
from transduce.training.checkpoint import Progress, SaveBundle, export_finite_weights
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
        world: World,
    ) -> None:
        self._model, self._average, self._dev, self._settings = model, average, dev, settings
        self._validators, self._run_dir, self._save_bundle = validators, run_dir, save_bundle
        self._world = world

    def score(self, interrupt: Interrupt, *, device_tokens: int) -> dict[str, float] | None:
        """Return the scores of the model as it is. It changes nothing. A signal leaves it undone, on all ranks.

        Args:
            interrupt: Knows of signals.
            device_tokens: Tokens of a batch of the dev set. Does not change the result.

        Returns:
            The scores by name, the same on all ranks. None: a signal came.

        Raises:
            TrainingError: What ``train.best_by`` asks for is not measured.
        """
        self._model.eval()
        share = None
        try:
            # The ranks of a model in shards compute together: none of them can leave alone.
            leaving = nullcontext() if is_sharded(self._model) else interrupt.abandoning()
            with leaving, self._average.in_model() if self._average is not None else nullcontext():
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
        scores = {"perplexity": perplexity(nll_nats, round(n_tokens)), **self._world.share(others)}
        score_by(self._settings.best_by, scores)
        return scores

    def _score_share(self, device_tokens: int) -> tuple[DevLoss, dict[str, float]]:
        """Score what falls to this rank: no rank waits for another here."""
        loss = dev_loss(
            self._model, self._dev, device_tokens=device_tokens, device=self._world.device, world=self._world
        )
        scores: dict[str, float] = {}
        for validator in self._validators if self._world.is_first else ():
            scores |= validator(self._model)
        return loss, scores

    def judge(self, progress: Progress, scores: Mapping[str, float]) -> bool:
        """Note the scores, keep the model as ``best`` when it is, and count the evaluation as a bad one when it is not.

        Args:
            progress: Where the run stands; it is brought up to date.
            scores: Those of the model as it is.

        Returns:
            True: it is the best so far.

        Raises:
            TrainingError: It is, but a weight is not finite, or it cannot be saved.
        """
        score = score_by(self._settings.best_by, scores)
        progress.scores = {name: value for name, value in scores.items() if math.isfinite(value)}
        progress.validated_step = progress.step
        if not is_better(self._settings.best_by, score, progress.best_score):
            progress.n_bad_validations += 1
            return False
        weights = export_finite_weights(self._model, progress.step)
        if self._average is not None:
            weights = self._average.export()
        if self._world.is_first:
            self._save_bundle(self._run_dir / "best", weights=weights, step=progress.step, scores=progress.scores)
        progress.best_by, progress.best_score = self._settings.best_by, score
        progress.best_step, progress.n_bad_validations = progress.step, 0
        return True
