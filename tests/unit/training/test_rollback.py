"""Bad steps: refused at once, their batches saved, and passed over, rolled back, or the end of the run."""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.base.errors import TrainingError
from transduce.bundle.run import list_checkpoints
from transduce.data.batch import Batch
from transduce.data.batching import EPOCH_START
from transduce.data.binarize import binarize
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.store import TokenStore
from transduce.model.noise import NoiseKey, noise_key
from transduce.text.pairs import SentencePair
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.protocol import EOS_ID
from transduce.tokenizer.settings import TokenizerSettings
from transduce.training import gradients
from transduce.training.bad_steps import MAX_SAVED, Inspector, MadeStep, find_bad_steps, save_bad_batch
from transduce.training.feed import feed_steps
from transduce.training.gradients import GradientEngine
from transduce.training.interrupt import TrainingInterrupted
from transduce.training.loss import LossSum
from transduce.training.records import BadStepRecord, CheckpointRecord, Record, RollbackRecord
from transduce.training.rollback import MAX_ROLLBACKS
from transduce.training.step import StepSums

SEED = 1


class _Poisoned:
    """An engine whose gradients are multiplied at some batches, named by their source ids, or at some steps."""

    name = "torch"

    def __init__(self, engine: GradientEngine, factors: dict[Any, float]) -> None:
        self.engine, self.factors = engine, factors

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        sums = self.engine.gradients(microbatches, n_tgt_tokens=n_tgt_tokens, key=key)
        content = tuple(sorted(microbatches[0].src.flatten().tolist()))
        factor = self.factors.get(key, self.factors.get(content, 1.0))
        for parameter in self.engine._model.parameters():  # type: ignore[attr-defined]
            assert parameter.grad is not None
            parameter.grad *= factor
        return sums


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> dict[Any, float]:
    """By what the gradients of a step are multiplied; fill it."""
    factors: dict[Any, float] = {}
    build = gradients.build_gradient_engine

    def poisoned(*arguments: Any, **named: Any) -> GradientEngine:
        return _Poisoned(build(*arguments, **named), factors)

    monkeypatch.setattr("transduce.training.loop.build_gradient_engine", poisoned)
    return factors


@pytest.fixture
def run(tmp_path: Path) -> ToyRun:
    return ToyRun(tmp_path)


def _settings(**values: Any) -> Any:
    return toy_settings(**{"engine": "torch", "checkpoint_every": 3, "validate_every": 100, "seed": SEED, **values})


def _read_pairs(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "pairs.jsonl").read_text().splitlines()]


def test_a_bad_batch_is_saved_for_inspection(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 4)] = np.nan
    run.trainer("a", _settings(n_steps=6)).run(resume=False)
    assert run.log("a", "bad step", "step", "why") == [(4, "not finite")]
    path = run.root / "a" / "bad-batches" / "step-00000004"
    about = json.loads((path / "step.json").read_text())
    assert (about["step"], about["why"], about["grad_norm"], about["step_in_epoch"]) == (4, "not finite", "nan", 3)
    assert about["learning_rate"] == run.log("a", "step", "learning_rate")[3][0]
    pairs = _read_pairs(path)
    assert len(pairs) == about["n_pairs"] > 0
    for pair in pairs:
        assert pair["src_ids"] == run.train.src(pair["pair"]).tolist()
        assert pair["tgt_ids"] == pair["src_ids"][::-1]
    assert sum(len(pair["tgt_ids"]) + 1 for pair in pairs) == about["n_tgt_tokens"]
    assert not list((run.root / "a").rglob("*.pt"))


def test_texts_stand_beside_the_ids(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 1)] = np.inf
    trainer = run.trainer("a", _settings(n_steps=1))
    trainer._pair_text = lambda src, tgt: (f"{len(src)} ids", "übersetzt")
    trainer.run(resume=False)
    for pair in _read_pairs(run.root / "a" / "bad-batches" / "step-00000001"):
        assert (pair["src"], pair["tgt"]) == (f"{len(pair['src_ids'])} ids", "übersetzt")


def test_an_exploding_gradient_is_refused_once_the_usual_size_is_known(run: ToyRun, poison: dict[Any, float]) -> None:
    poison.update({noise_key(SEED, 70): 1e5, noise_key(SEED, 10): 1e5})
    settings = _settings(n_steps=72, checkpoint_every=100, log_every=100, max_grad_norm=1.0)
    trainer = run.trainer("a", settings)
    trainer.run(resume=False)
    assert run.log("a", "bad step", "step", "why") == [(70, "exploding")]
    run.trainer("b", _settings(**{**settings.as_dict(), "max_grad_factor": "none"})).run(resume=False)
    assert run.log("b", "bad step", "step") == []


def test_not_every_bad_batch_is_saved(run: ToyRun, poison: dict[Any, float]) -> None:
    n_bad = MAX_SAVED + 3
    poison.update({noise_key(SEED, 2 * step): np.nan for step in range(1, n_bad + 1)})
    run.trainer("a", _settings(n_steps=2 * n_bad, checkpoint_every=100, log_every=100)).run(resume=False)
    assert len(run.log("a", "bad step", "step")) == n_bad
    assert len(list((run.root / "a" / "bad-batches").iterdir())) == MAX_SAVED


def test_stop_says_where_the_batch_is(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 5)] = np.nan
    with pytest.raises(
        TrainingError, match=r"update of step 5 was refused \(not finite\).*bad-batches.*'skip' or 'rollback'"
    ):
        run.trainer("a", _settings(n_steps=8, on_bad_step="stop")).run(resume=False)
    assert [path.name for path in list_checkpoints(run.root / "a")] == ["step-00000003"]
    assert run.trainer("a", _settings(n_steps=8, on_bad_step="skip")).run(resume=True).step == 8


def _batch_of(run: ToyRun, name: str, step: int) -> tuple[int, ...]:
    """The padded source ids of a batch that was saved, sorted: what names it to the engine."""
    sources = [[*pair["src_ids"], 2] for pair in _read_pairs(run.root / name / "bad-batches" / f"step-{step:08d}")]
    width = max(map(len, sources))
    return tuple(sorted(id for source in sources for id in source + [0] * (width - len(source))))


def test_a_rollback_goes_on_behind_the_bad_batch(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 5)] = np.nan
    run.trainer("find", _settings(n_steps=5)).run(resume=False)
    poison.clear()
    poison[_batch_of(run, "find", 5)] = np.nan  # from now on it is the batch that is bad, at whatever step
    result = run.trainer("a", _settings(n_steps=7, on_bad_step="rollback")).run(resume=False)
    assert (result.step, result.reason) == (7, "steps")
    assert run.log("a", "rollback", "step", "bad_step") == [(3, 5)]
    assert [step for (step,) in run.log("a", "step", "step")] == [1, 2, 3, 4, 5, 6, 7]  # 4 and 5 were made again
    assert run.log("a", "step", "n_refused")[-1] == (0,)
    assert run.log("a", "bad step", "step") == [(5,)]  # the evidence stays
    # Step 4 was made with the sixth batch: its loss is that of a run that starts from checkpoint 3 at that place.
    ends = [step for (step,) in run.log("a", "epoch", "step")]
    assert ends == [4]  # six batches in the epoch: the first three, two that were passed over, and one


def test_a_rollback_is_resumed_as_it_was(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 5)] = np.nan
    run.trainer("find", _settings(n_steps=5)).run(resume=False)
    poison.clear()
    poison[_batch_of(run, "find", 5)] = np.nan
    settings = _settings(n_steps=9, on_bad_step="rollback")
    run.trainer("whole", settings).run(resume=False)

    class _CrashError(Exception):
        pass

    def crash(record: Any) -> None:
        if type(record).__name__ == "RollbackRecord":
            raise _CrashError

    with pytest.raises(_CrashError):
        run.trainer("parts", settings, listeners=[crash]).run(resume=False)
    run.trainer("parts", settings).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("parts", 9, file) == run.file("whole", 9, file)
    assert run.log("parts", "step", "step", "loss") == run.log("whole", "step", "step", "loss")


def test_going_back_again_and_again_is_given_up(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 4)] = np.nan  # the step is bad with any batch: the weights are what is wrong
    with pytest.raises(TrainingError, match=rf"{MAX_ROLLBACKS} times after step-00000003 an update had to be refused"):
        run.trainer("a", _settings(n_steps=8, on_bad_step="rollback")).run(resume=False)
    assert len(list_checkpoints(run.root / "a")) == 1


def test_without_a_checkpoint_there_is_nothing_to_go_back_to(
    run: ToyRun, poison: dict[Any, float], caplog: pytest.LogCaptureFixture
) -> None:
    poison[noise_key(SEED, 2)] = np.nan
    with caplog.at_level(logging.WARNING, logger="transduce"):
        result = run.trainer("a", _settings(n_steps=8, on_bad_step="rollback")).run(resume=False)
    assert result.step == 8
    assert "no checkpoint yet to go back to" in caplog.text


def test_without_a_checkpoint_a_run_of_one_step_an_epoch_ends(run: ToyRun, poison: dict[Any, float]) -> None:
    poison.update({noise_key(SEED, step): np.nan for step in range(1, 100)})
    settings = _settings(n_steps=5, on_bad_step="rollback", batch_tokens=10_000, checkpoint_every=100)
    result = run.trainer("a", settings).run(resume=False)
    assert (result.step, result.reason) == (5, "steps")
    assert run.log("a", "epoch", "step", "epoch") == [(step, step - 1) for step in range(1, 6)]


def test_a_rollback_at_the_end_of_an_epoch_begins_the_next_one(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 6)] = np.nan  # the last batch of the epoch
    run.trainer("find", _settings(n_steps=6)).run(resume=False)
    poison.clear()
    poison[_batch_of(run, "find", 6)] = np.nan
    result = run.trainer("a", _settings(n_steps=6, on_bad_step="rollback")).run(resume=False)
    assert result.step == 6
    assert run.log("a", "rollback", "step", "bad_step") == [(3, 6)]
    assert run.log("a", "epoch", "step", "epoch", "n_pairs") == [(6, 0, 60)]
    assert [epoch for (epoch,) in run.log("a", "step", "epoch")] == [0, 0, 0, 1, 1, 1]


def test_a_signal_during_a_rollback_stops_the_run_there(run: ToyRun, poison: dict[Any, float]) -> None:
    poison[noise_key(SEED, 5)] = np.nan

    def stop(record: Any) -> None:
        if isinstance(record, RollbackRecord):
            os.kill(os.getpid(), signal.SIGTERM)

    settings = _settings(n_steps=8, on_bad_step="rollback")
    with pytest.raises(TrainingInterrupted, match=r"stopped at step 3; everything is saved in .*step-00000003"):
        run.trainer("a", settings, listeners=[stop]).run(resume=False)
    poison.clear()
    assert run.trainer("a", settings).run(resume=True).step == 8
    assert run.log("a", "bad step", "step") == [(5,)]


def test_on_a_gpu_too_the_bad_batches_of_the_last_steps_are_saved(
    run: ToyRun, poison: dict[Any, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_on_a_gpu(*arguments: Any, **named: Any) -> Inspector:
        return Inspector(*arguments, **{**named, "device": torch.device("cuda")})

    monkeypatch.setattr("transduce.training.loop.Inspector", as_on_a_gpu)
    poison.update({noise_key(SEED, step): np.nan for step in (2, 5)})
    seen: list[tuple[str, int]] = []

    def note(record: Record) -> None:
        if isinstance(record, BadStepRecord | CheckpointRecord):
            seen.append((type(record).__name__, record.step))

    run.trainer("a", _settings(n_steps=5, log_every=100), listeners=[note]).run(resume=False)
    assert seen == [("BadStepRecord", 2), ("CheckpointRecord", 3), ("BadStepRecord", 5), ("CheckpointRecord", 5)]
    assert len(list((run.root / "a" / "bad-batches").iterdir())) == 2


def test_with_bpe_dropout_a_bad_batch_is_told_as_it_was(tmp_path: Path) -> None:
    texts = ["a man in an orange hat", "the man is standing", "the the the", "Zwei junge Männer im Freien"]
    pairs = [SentencePair(text, other) for text in texts for other in reversed(texts)]
    tokenizers = learn_tokenizers(pairs, TokenizerSettings(vocab_size=330))
    binarize(pairs, tokenizers, tmp_path / "store")
    store = TokenStore.open(tmp_path / "store")
    dropout = BpeDropout(store, tokenizers, p=0.3, seed=1, max_pair_tokens=256)
    [fed] = feed_steps(
        store,
        toy_settings(batch_tokens=100_000),
        epoch=4,
        start=EPOCH_START,
        device_tokens=100_000,
        bpe_dropout=dropout,
    )
    n_tgt_tokens = fed.batches.n_tgt_tokens
    assert n_tgt_tokens > fed.plan.n_tgt_tokens  # more pieces than planned
    nan, bad = torch.tensor(np.nan), torch.tensor(1.0)
    sums = StepSums(torch.tensor(3.0 * n_tgt_tokens), nan, nan, bad)
    [found] = find_bad_steps([MadeStep(7, 4, 0.1, fed.plan, n_tgt_tokens, sums)])
    assert found.loss == 3.0
    path = save_bad_batch(tmp_path, found, store, None, dropout)
    assert path is not None
    assert json.loads((path / "step.json").read_text())["n_tgt_tokens"] == n_tgt_tokens
    saved = _read_pairs(path)
    assert [pair["pair"] for pair in saved] == fed.plan.pairs.tolist()
    [batch] = fed.batches.microbatches
    for row, pair in enumerate(saved):
        assert batch.src[row][batch.src_valid[row]].tolist() == [*pair["src_ids"], EOS_ID]
        assert batch.tgt_out[row][batch.tgt_valid[row]].tolist() == [*pair["tgt_ids"], EOS_ID]
