"""The loop: what it reports, when it stops, what it keeps, what it refuses."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.unit.training.toy import MODEL, ToyRun, toy_settings
from transduce.base.errors import BundleError, DataError, TrainingError
from transduce.bundle.directory import read_bundle
from transduce.bundle.run import list_checkpoints
from transduce.data.batch import Batch
from transduce.model.transformer import Transformer
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.loss import LossSum
from transduce.training.records import EpochRecord, Record, StepRecord
from transduce.training.schedule import learning_rate
from transduce.training.torch_gradients import batch_loss
from transduce.training.world import World


@pytest.fixture
def run(tmp_path: Path) -> ToyRun:
    return ToyRun(tmp_path)


def test_a_run_reports_in_order(run: ToyRun) -> None:
    records: list[Record] = []
    result = run.trainer(
        "a", toy_settings(n_steps=4, validate_every=2, checkpoint_every=4), listeners=[records.append]
    ).run(resume=False)
    assert [type(record).__name__ for record in records] == [
        "StartRecord",
        *("StepRecord", "StepRecord", "ValidationRecord"),
        *("StepRecord", "StepRecord", "ValidationRecord", "CheckpointRecord"),
        "StopRecord",
    ]
    assert (result.step, result.reason) == (4, "steps")
    assert [path.name for path in result.checkpoints] == ["step-00000004"]
    logged = [json.loads(line)["step"] for line in (run.root / "a" / "log.jsonl").read_text().splitlines()]
    assert logged == [record.step for record in records]


def test_it_learns(run: ToyRun) -> None:
    settings = toy_settings(n_steps=30, schedule="constant", peak_lr=0.02, validate_every=30, checkpoint_every=30)
    result = run.trainer("a", settings).run(resume=False)
    (first, _), *_, (last, _) = run.log("a", "step", "loss", "nll")
    assert last < 0.75 * first  # the 20 words in use out of 260 are soon known
    assert result.scores["perplexity"] < 40


def test_logged_rates_are_those_of_the_schedule_from_step_1(run: ToyRun) -> None:
    settings = toy_settings(n_steps=3)
    run.trainer("a", settings).run(resume=False)
    expected = [(step, learning_rate(step, settings, MODEL.d_model)) for step in (1, 2, 3)]
    assert run.log("a", "step", "step", "learning_rate") == expected


def test_every_pair_once_an_epoch(run: ToyRun) -> None:
    records: list[Record] = []
    run.trainer("a", toy_settings(n_steps=14), listeners=[records.append]).run(resume=False)
    epochs = [record for record in records if isinstance(record, EpochRecord)]
    assert len(epochs) >= 2
    assert [(record.epoch, record.n_pairs, record.n_left_out) for record in epochs] == [
        (number, 60, 0) for number in range(len(epochs))
    ]
    for epoch in epochs:
        inside = [record for record in records if isinstance(record, StepRecord) and record.epoch == epoch.epoch]
        assert inside[-1].step == epoch.step


def test_long_pairs_are_left_out_and_counted(run: ToyRun) -> None:
    n_long = int((run.train.src_lengths > 5).sum())
    run.trainer("a", toy_settings(n_steps=10, max_pair_tokens=5)).run(resume=False)
    assert run.log("a", "epoch", "n_pairs", "n_left_out")[0] == (60 - n_long, n_long)


def test_validators_score_beside_the_perplexity(run: ToyRun) -> None:
    seen: list[bool] = []

    def validate(model: Transformer) -> Mapping[str, float]:
        seen.append(model.training)
        return {"BLEU": float(len(seen))}

    result = run.trainer("a", toy_settings(n_steps=7), validators=[validate]).run(resume=False)
    assert seen == [False, False]  # after steps 5 and 7, in evaluation mode; the last step is always evaluated
    assert result.scores["BLEU"] == 2.0
    assert read_bundle(result.checkpoints[-1]).scores == result.scores


def test_the_best_model_is_kept(run: ToyRun) -> None:
    settings = toy_settings(n_steps=8, validate_every=2, schedule="constant", peak_lr=0.05, warmup_steps=1)
    result = run.trainer("a", settings).run(resume=False)
    tried = [(scores["perplexity"], step) for scores, step in run.log("a", "validation", "scores", "step")]
    assert len(tried) == 4
    assert result.best_step == min(tried)[1]
    best = read_bundle(run.root / "a" / "best")
    assert (best.scores["perplexity"], best.step) == min(tried)
    marks = [mark for (mark,) in run.log("a", "validation", "is_best")]
    assert marks == [perplexity == min(tried[: i + 1])[0] for i, (perplexity, _) in enumerate(tried)]


def test_time_stops_a_run(run: ToyRun) -> None:
    result = run.trainer("a", toy_settings(n_steps=1000, max_minutes=1e-6)).run(resume=False)
    assert (result.step, result.reason) == (1, "minutes")
    assert len(result.checkpoints) == 1


def test_case_b065_patience_goes_on_after_a_resume(run: ToyRun) -> None:
    stuck = {"schedule": "constant", "peak_lr": 1e-30, "patience": 4, "validate_every": 2}
    whole = run.trainer("whole", toy_settings(n_steps=100, **stuck)).run(resume=False)
    assert (whole.step, whole.reason) == (10, "patience")  # the first evaluation is the best, four more are not better
    run.trainer("parts", toy_settings(n_steps=6, **stuck)).run(resume=False)  # two of them
    rest = run.trainer("parts", toy_settings(n_steps=100, **stuck)).run(resume=True)
    assert (rest.step, rest.reason) == (10, "patience")
    assert len(run.log("parts", "validation", "step")) == len(run.log("whole", "validation", "step"))
    again = run.trainer("parts", toy_settings(n_steps=100, **stuck)).run(resume=True)
    assert (again.step, again.reason) == (10, "patience")


def test_case_b057_numbers_go_on_and_old_checkpoints_stay(run: ToyRun) -> None:
    run.trainer("a", toy_settings(n_steps=5, warmup_steps=4)).run(resume=False)
    before = {path: path.stat().st_mtime_ns for path in (run.root / "a" / "checkpoints").rglob("*")}
    settings = toy_settings(n_steps=7, warmup_steps=4)
    run.trainer("a", settings).run(resume=True)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    rates = dict(run.log("a", "step", "step", "learning_rate"))
    assert rates[6] == learning_rate(6, settings, MODEL.d_model)
    assert list(rates) == list(range(1, 8))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_stops(run: ToyRun, number: signal.Signals) -> None:
    def interrupt(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == 3:
            os.kill(os.getpid(), number)

    with pytest.raises(TrainingInterrupted, match=r"stopped at step 3; .*step-00000003; .* --resume"):
        run.trainer("a", toy_settings(), listeners=[interrupt]).run(resume=False)
    assert run.log("a", "stop", "step", "reason") == [(3, "interrupted")]
    assert run.trainer("a", toy_settings()).run(resume=True).step == 10


def test_a_finished_run_is_not_trained_on(run: ToyRun) -> None:
    first = run.trainer("a", toy_settings()).run(resume=False)
    again = run.trainer("a", toy_settings()).run(resume=True)
    assert (again.step, again.reason, again.scores) == (first.step, first.reason, first.scores)
    assert len(run.log("a", "step", "step")) == 10


def test_resume_without_a_run_starts_one(run: ToyRun) -> None:
    assert run.trainer("a", toy_settings(n_steps=2)).run(resume=True).step == 2


def test_a_run_is_never_overwritten(run: ToyRun) -> None:
    run.trainer("a", toy_settings(n_steps=2)).run(resume=False)
    with pytest.raises(TrainingError, match=r"holds a run already \(up to step-00000002\); add --resume"):
        run.trainer("a", toy_settings(n_steps=2)).run(resume=False)


def test_case_b135_output_that_cannot_be_written(run: ToyRun) -> None:
    (run.root / "a").touch()
    with pytest.raises(DataError, match="this is a file"):
        run.trainer("a", toy_settings()).run(resume=False)


def _poison(model: Transformer, steps: range) -> None:
    """Make the gradients of some steps nan, by the number of the forward passes (one a step, with the torch engine)."""
    count = iter(range(1, 10_000))
    model.register_forward_hook(lambda module, inputs, output: output * float("nan") if next(count) in steps else None)


def test_one_bad_gradient_is_refused_and_counted(run: ToyRun) -> None:
    trainer = run.trainer("a", toy_settings(n_steps=6, validate_every=6, engine="torch"))
    _poison(trainer._model, range(3, 4))
    trainer.run(resume=False)
    assert run.log("a", "step", "step", "n_refused") == [(1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 1)]
    assert [loss is None for (loss,) in run.log("a", "step", "loss")] == [False, False, True, False, False, False]


def test_bad_gradients_in_a_row_end_the_run_and_save_nothing(run: ToyRun) -> None:
    settings = toy_settings(n_steps=40, validate_every=40, checkpoint_every=14, log_every=40, engine="torch")
    trainer = run.trainer("a", settings)
    _poison(trainer._model, range(3, 100))
    with pytest.raises(TrainingError, match="10 updates in a row"):
        trainer.run(resume=False)
    assert not (run.root / "a" / "checkpoints").exists()


def test_case_b047_the_first_update_moves_the_weights(run: ToyRun) -> None:
    trainer = run.trainer("a", toy_settings(n_steps=1))
    before = {name: parameter.detach().clone() for name, parameter in trainer._model.named_parameters()}
    trainer.run(resume=False)
    assert any((before[name] != parameter).any() for name, parameter in trainer._model.named_parameters())


def test_an_error_in_an_evaluation_costs_no_step(run: ToyRun) -> None:
    def fail(model: Transformer) -> Mapping[str, float]:
        raise ValueError("no such metric")

    settings = toy_settings(n_steps=8, validate_every=4, checkpoint_every=100)
    for _ in range(2):  # and so it is when the resumed run makes up for the evaluation
        with pytest.raises(ValueError, match="no such metric"):
            run.trainer("a", settings, validators=[fail]).run(resume=True)
        assert [path.name for path in list_checkpoints(run.root / "a")] == ["step-00000004"]
    result = run.trainer("a", settings).run(resume=True)
    run.trainer("whole", settings).run(resume=False)
    assert (result.step, run.log("a", "validation", "step")) == (8, [(4,), (8,)])
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("a", 8, file) == run.file("whole", 8, file)


def test_a_best_model_that_cannot_be_saved_costs_no_step_and_counts_for_nothing(run: ToyRun) -> None:
    settings = toy_settings(n_steps=4, validate_every=4, checkpoint_every=100)
    trainer = run.trainer("a", settings)

    def fail(path: Path, **parts: Any) -> None:
        raise BundleError(f"{path}: cannot be written")

    trainer._evaluator._save_bundle = fail
    with pytest.raises(BundleError, match="best: cannot be written"):
        trainer.run(resume=False)
    assert trainer._progress.best_step is None
    assert run.trainer("a", settings).run(resume=True).best_step == 4


def test_an_evaluation_that_does_not_fit_is_cut_finer(run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = toy_settings(n_steps=4, validate_every=2)
    run.trainer("large", settings).run(resume=False)
    sizes: list[int] = []

    def small(model: Transformer, batch: Batch, **named: Any) -> LossSum:
        sizes.append(len(batch.src) * max(batch.src.shape[1], batch.tgt_in.shape[1]))
        if sizes[-1] > 20:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return batch_loss(model, batch, **named)

    monkeypatch.setattr("transduce.training.evaluate.batch_loss", small)
    run.trainer("small", settings).run(resume=False)
    scores = [
        [scores["perplexity"] for (scores,) in run.log(name, "validation", "scores")] for name in ("large", "small")
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5)  # float32 sums in another order
    assert max(sizes) > 20
    large = [place for place, size in enumerate(sizes) if size > 20]
    assert large[-1] < len(sizes) / 2  # the second evaluation has learned from the first


def test_one_dev_pair_that_does_not_fit_is_an_error(run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **named: Any) -> LossSum:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr("transduce.training.evaluate.batch_loss", full)
    with pytest.raises(torch.OutOfMemoryError):
        run.trainer("a", toy_settings(n_steps=2)).run(resume=False)
    assert [path.name for path in list_checkpoints(run.root / "a")] == ["step-00000002"]


def test_ranks_ask_each_other_once_a_step(run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = World.any

    def count(self: World, *flags: bool) -> tuple[bool, ...]:
        asked.append(len(flags))
        return ask(self, *flags)

    monkeypatch.setattr(World, "any", count)
    # The last step has an evaluation, which has questions of its own.
    trainer = run.trainer("a", toy_settings(n_steps=9, validate_every=9, checkpoint_minutes=1000.0))
    n_asked: list[int] = []
    trainer._listeners = [lambda record: n_asked.append(len(asked)) if isinstance(record, StepRecord) else None]
    trainer.run(resume=False)
    assert n_asked == list(range(9))
