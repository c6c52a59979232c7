"""Methods beyond the paper inside a run: R-Drop through the model, BPE-dropout over ranks, and both resumed bit for bit."""

from __future__ import annotations

import logging
import shutil

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.unit.training.toy import MODEL, ToyRun, toy_model, toy_settings
from transduce.base.errors import TrainingError
from transduce.data.batch import Batch, batch_from_ids
from transduce.data.batching import EPOCH_START, StepPlan
from transduce.data.binarize import binarize
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.store import TokenStore
from transduce.model.noise import Noise
from transduce.model.transformer import Transformer
from transduce.text.pairs import SentencePair
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.settings import TokenizerSettings
from transduce.training.feed import feed_steps
from transduce.training.memory import cut_finer
from transduce.training.rdrop import SECOND_COPY
from transduce.training.settings import TrainSettings
from transduce.training.torch_gradients import TorchGradients

KEY = (11, 12)


def _model() -> Transformer:
    return toy_model(settings=MODEL.replace(p_dropout=0.3)).double().train()


def _batch() -> Batch:
    return batch_from_ids([[5, 6, 7], [8], [9, 9]], [[7, 6, 5, 4], [], [8, 5]])


def _engine(model: Transformer, alpha: float) -> TorchGradients:
    return TorchGradients(model, label_smoothing=0.1, device=torch.device("cpu"), rdrop_alpha=alpha)


def _gradients(model: Transformer) -> list[torch.Tensor]:
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_rdrop_through_the_model_is_the_naive_formula() -> None:
    model, batch, n_tokens = _model(), _batch(), 9
    found = _engine(model, 5.0).gradients([batch], n_tgt_tokens=n_tokens, key=KEY)
    ours = [gradient.clone() for gradient in _gradients(model)]

    logits = []
    for numbers in (batch.numbers, batch.numbers + SECOND_COPY):
        with Noise.of(KEY, numbers).active(model):
            hidden = model(batch.src, batch.src_valid, batch.tgt_in)
        logits.append((hidden @ model.output_weight.T)[batch.tgt_valid])
    assert not torch.equal(logits[0], logits[1])  # the copies have dropout of their own
    labels = batch.tgt_out[batch.tgt_valid]
    cross = [F.cross_entropy(each, labels, reduction="sum", label_smoothing=0.1) for each in logits]
    log_p = [each.log_softmax(1) for each in logits]
    divergence = [F.kl_div(log_p[a], log_p[b], reduction="sum", log_target=True) for a, b in ((0, 1), (1, 0))]
    loss = 0.5 * (cross[0] + cross[1] + 5.0 * 0.5 * (divergence[0] + divergence[1]))
    theirs = torch.autograd.grad(loss / n_tokens, list(model.parameters()))

    torch.testing.assert_close(found.nats, loss.detach().float())  # the engine adds losses up in float32
    assert found.n_tokens == batch.n_tgt_tokens  # a token counts once
    torch.testing.assert_close(ours, list(theirs))  # float64: the tolerance is torch's own, 1e-7


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_bfloat16_gives_the_gradients_of_float32_within_its_rounding(alpha: float) -> None:
    model, found = _model().float(), []
    for dtype in (None, torch.bfloat16):
        engine = TorchGradients(model, label_smoothing=0.1, device=torch.device("cpu"), rdrop_alpha=alpha, dtype=dtype)
        loss = engine.gradients([_batch()], n_tgt_tokens=9, key=KEY)
        found.append([loss.nats.reshape(1), torch.cat([gradient.flatten() for gradient in _gradients(model)])])
    for wide, narrow in zip(*found, strict=True):
        # Each of some twenty products, one after another, rounds by 2^-9: about the root of twenty times that.
        assert float((narrow - wide).norm() / wide.norm()) < 20 * 2**-9


def test_rdrop_does_not_depend_on_microbatches() -> None:
    model, batch = _model(), _batch()
    _engine(model, 5.0).gradients([batch], n_tgt_tokens=9, key=KEY)
    whole = [gradient.clone() for gradient in _gradients(model)]
    _engine(model, 5.0).gradients(cut_finer(batch, 1), n_tgt_tokens=9, key=KEY)
    torch.testing.assert_close(_gradients(model), whole)  # sums in another order


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[TokenStore, BpeDropout]:
    words = ["the", "lower", "and", "lowest", "of", "the", "new", "newest", "houses", "and", "the", "old", "town"]
    rng = np.random.default_rng(1)
    pairs = [SentencePair(*(" ".join(rng.choice(words, rng.integers(1, 8))) for _ in range(2))) for _ in range(40)]
    tokenizers = learn_tokenizers(pairs, TokenizerSettings(vocab_size=320))
    directory = tmp_path_factory.mktemp("data") / "store"
    binarize(pairs, tokenizers, directory)
    store = TokenStore.open(directory)
    return store, BpeDropout(store, tokenizers, p=0.2, seed=1, max_pair_tokens=256)


def _fed(texts: tuple[TokenStore, BpeDropout], rank: int, world_size: int) -> list[tuple[StepPlan, int, list[Batch]]]:
    store, bpe_dropout = texts
    steps = feed_steps(
        store,
        toy_settings(batch_tokens=60),
        epoch=1,
        start=EPOCH_START,
        device_tokens=50,
        rank=rank,
        world_size=world_size,
        bpe_dropout=bpe_dropout,
    )
    return [(step.plan, step.batches.n_tgt_tokens, list(step.batches.microbatches)) for step in steps]


def _rows(batch: Batch) -> dict[int, tuple[list[int], list[int]]]:
    """The pairs of a microbatch by their number, without padding."""
    return {
        int(number): (src[valid].tolist(), tgt[real].tolist())
        for number, src, valid, tgt, real in zip(
            batch.numbers, batch.src, batch.src_valid, batch.tgt_out, batch.tgt_valid, strict=True
        )
    }


def test_bpe_dropout_gives_one_and_three_ranks_the_same_pieces(texts: tuple[TokenStore, BpeDropout]) -> None:
    alone = _fed(texts, 0, 1)
    dealt = [_fed(texts, rank, 3) for rank in range(3)]
    for one, *others in zip(alone, *dealt, strict=True):
        plan, n_tgt_tokens, microbatches = one
        rows = {number: pair for batch in microbatches for number, pair in _rows(batch).items()}
        parts = [_rows(batch) for _, _, shares in others for batch in shares]
        assert {number: pair for part in parts for number, pair in part.items()} == rows
        assert sum(map(len, parts)) == len(rows) == len(plan.pairs)
        # The count that the loss is divided by is of the pieces that there are, and every rank knows it.
        assert n_tgt_tokens == sum(len(tgt) for _, tgt in rows.values())
        assert [n for _, n, _ in others] == [n_tgt_tokens] * 3
    assert sum(n for _, n, _ in alone) > sum(plan.n_tgt_tokens for plan, _, _ in alone)


def test_bpe_dropout_changes_no_plan(texts: tuple[TokenStore, BpeDropout]) -> None:
    store, _ = texts
    plain = feed_steps(store, toy_settings(batch_tokens=60), epoch=1, start=EPOCH_START, device_tokens=50)
    for step, (plan, _, _) in zip(plain, _fed(texts, 0, 1), strict=True):
        assert np.array_equal(step.plan.pairs, plan.pairs)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    return ToyRun(tmp_path_factory.mktemp("runs"))


def _settings(n_steps: int = 8) -> TrainSettings:
    return toy_settings(
        n_steps=n_steps,
        checkpoint_every=4,
        keep_checkpoints=2,
        optimizer="muon",
        weight_decay=0.01,
        schedule="wsd",
        peak_lr=0.01,
        warmup_steps=2,
        decay_share=0.5,
        rdrop_alpha=1.0,
    )


def test_muon_and_rdrop_resumed_are_uninterrupted_bit_for_bit(run: ToyRun) -> None:
    run.trainer("whole", _settings()).run(resume=False)
    run.trainer("parts", _settings()).run(resume=False)
    shutil.rmtree(run.root / "parts" / "checkpoints" / "step-00000008")  # as if it had been killed after step 4
    run.trainer("parts", _settings()).run(resume=True)
    for file in ("model.safetensors", "state.safetensors"):
        assert run.file("parts", 8, file) == run.file("whole", 8, file)


def test_an_end_that_is_moved_is_a_jump_of_the_learning_rate(run: ToyRun, caplog: pytest.LogCaptureFixture) -> None:
    run.trainer("moved", _settings()).run(resume=False)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        run.trainer("moved", _settings(n_steps=12)).run(resume=True)
    # The first run ended at 0; of the second, step 9 is the third of the six steps of the decay.
    rate = 0.01 * (1 - (3 / 6) ** 0.5)
    assert (
        f"train.n_steps was 8 and is 12, and schedule 'wsd' falls to its end: the learning rate of step 9 is {rate:.3g} in "
        "place of 0"
    ) in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="transduce"):
        run.trainer("moved", _settings(n_steps=12)).run(resume=True)
    assert caplog.text == ""


def test_a_checkpoint_of_another_optimizer_is_refused(run: ToyRun) -> None:
    run.trainer("adam", toy_settings(n_steps=1)).run(resume=False)
    with pytest.raises(TrainingError, match=r"train\.optimizer"):
        run.trainer("adam", toy_settings(n_steps=2, optimizer="muon")).run(resume=True)
