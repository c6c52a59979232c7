"""Masks, loss and schedule, seeds, and going on after a stop: fault cases of the kinds E, F, G and H."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from tests.cli import run_cli
from tests.e2e.cases import MODEL_T, TINY, bytes_of, log_of, prepare, refusal, settings, train, translate, wdiff
from tests.shared import case_file
from transduce.base.files import read_lines
from transduce.bundle import read_bundle
from transduce.data.batch import Batch, batch_from_ids
from transduce.decoding.beam import beam_search
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.model.build import build_model, export_weights
from transduce.model.transformer import Transformer
from transduce.training.schedule import learning_rate
from transduce.training.settings import TrainSettings
from transduce.training.torch_gradients import batch_loss

CPU = torch.device("cpu")


def model_of(run: Path) -> Transformer:
    engine = Translator(run, engine="torch").engine
    assert isinstance(engine, TorchEngine)
    return engine.model


def ids_of(run: Path, *texts: str) -> list[list[int]]:
    """Encode texts; the vocabulary of the toy corpus is joint."""
    return read_bundle(run).tokenizers.src.encode_batch(texts)


def checkpoint(run: Path, step: int) -> Path:
    return run / "checkpoints" / f"step-{step:08d}"


# Kind E.


def test_b035_blank_lines_in_a_batch_leave_everything_finite(either_model: Path) -> None:
    source = case_file("B091.src").read_bytes()
    scored = translate(either_model, source, "--scores", "--set", "decode.window_lines=8")
    assert all(math.isfinite(float(line.split("\t")[0])) for line in scored)
    alone = translate(either_model, "red boat", "--scores") + translate(either_model, "blue tea", "--scores")
    assert [line.split("\t")[1] for line in (scored[0], scored[7])] == [line.split("\t")[1] for line in alone]


def test_b035_an_empty_source_forced_into_the_search(either_model: Path) -> None:
    engine, decode = Translator(either_model).engine, DecodeSettings(max_extra_tokens=5)
    red, blue = ids_of(either_model, "red boat", "blue tea")
    together = beam_search(engine, [red, [], [], blue], decode)
    assert all(math.isfinite(hypothesis.score) and len(hypothesis.ids) <= 5 for [hypothesis] in together[1:3])
    for source, [found] in zip((red, blue), together[::3], strict=True):
        [[alone]] = beam_search(engine, [source], decode)
        assert found.ids == alone.ids


def test_b035_an_empty_source_in_a_training_batch(model_t: Path) -> None:
    model = model_of(model_t).train()
    batch = batch_from_ids([[], *ids_of(model_t, "red boat")], ids_of(model_t, "Tee", "Boot rot"))
    batch_loss(model, batch, label_smoothing=0.1, device=CPU).nats.backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None and bool(torch.isfinite(p.grad).all()) for p in model.parameters())


def wider(batch: Batch, n: int) -> Batch:
    """Add padded columns on both sides."""
    src, src_valid, tgt_in, tgt_out, tgt_valid = (
        torch.nn.functional.pad(tensor, (0, n))
        for tensor in (batch.src, batch.src_valid, batch.tgt_in, batch.tgt_out, batch.tgt_valid)
    )
    return replace(batch, src=src, src_valid=src_valid, tgt_in=tgt_in, tgt_out=tgt_out, tgt_valid=tgt_valid)


@pytest.fixture
def batch(model_t: Path) -> Batch:
    """Two pairs, the first of 8 target tokens and the second with padding."""
    target = "rot Boot Tee blau Fisch Haus Baum Weg"
    first, second, src, short = ids_of(model_t, target, "Boot rot", "road tree house", "red boat")
    assert len(first) >= 8
    return batch_from_ids([src, short], [first[:8], second])


@torch.inference_mode()
def test_b037_more_padded_columns_change_nothing(model_t: Path, batch: Batch) -> None:
    model, padded = model_of(model_t), wider(batch, 5)
    plain = model.encode(batch.src, batch.src_valid)
    wide = model.encode(padded.src, padded.src_valid)
    assert (plain.shape[1], wide.shape[1]) == (batch.src.shape[1], batch.src.shape[1] + 5)
    torch.testing.assert_close(
        wide[:, :-5][batch.src_valid], plain[batch.src_valid], rtol=0, atol=1e-5
    )  # as in the case


@torch.inference_mode()
def test_b039_no_position_sees_the_future_or_the_padding(model_t: Path, batch: Batch) -> None:
    model = model_of(model_t)
    before = model(batch.src, batch.src_valid, batch.tgt_in)
    changed = batch.tgt_in.clone()
    changed[0, 5] = changed[0, 4]
    after = model(batch.src, batch.src_valid, changed)
    moved = (after - before).abs().amax(-1)[0]
    assert bool((moved[:5] == 0).all()) and bool((moved[5:] > 0).all())
    other_pad = batch.src.masked_fill(~batch.src_valid, int(batch.src[0, 0]))
    assert not torch.equal(other_pad, batch.src)
    assert torch.equal(model(other_pad, batch.src_valid, batch.tgt_in), before)


# Kind F.


def test_b041_padding_counts_neither_in_the_loss_nor_in_its_divisor(model_t: Path, batch: Batch) -> None:
    model = model_of(model_t)
    plain, padded = (batch_loss(model, some, label_smoothing=0.1, device=CPU) for some in (batch, wider(batch, 10)))
    assert plain.n_tokens == padded.n_tokens == 9 + int(batch.tgt_valid[1].sum())
    torch.testing.assert_close(padded.nats, plain.nats, rtol=1e-6, atol=0)  # as in the case
    torch.testing.assert_close(padded.nll_nats, plain.nll_nats, rtol=1e-6, atol=0)


def test_b043_perplexity_is_not_that_of_the_smoothed_loss(model_t: Path, toy_data: Path, tmp_path: Path) -> None:
    shutil.copytree(model_t, tmp_path / "run")
    printed = []
    for smoothing in ("0", "0.1"):  # all steps are made already: what is left is to evaluate the last checkpoint
        values = settings(*MODEL_T, f"train.label_smoothing={smoothing}")
        result = run_cli("train", "--data", toy_data, "--out", tmp_path / "run", "--resume", *values, "--json")
        assert result.code == 0, result.err
        printed.append(json.loads(result.out)["scores"]["perplexity"])
    assert printed[0] == printed[1]
    files = [case_file(f"toy/valid.{side}") for side in ("src", "tgt")]
    evaluated = run_cli("evaluate", model_t, "--src", files[0], "--ref", files[1], "--json")
    report = json.loads(evaluated.out)
    translator = Translator(model_t)
    sources, targets = (ids_of(model_t, *read_lines(file)) for file in files)
    scores = score_targets(translator.engine, sources, targets, batch_tokens=4096)
    n_tokens = sum(len(target) + 1 for target in targets)
    assert report["n_tokens"] == n_tokens == sum(score.n_tokens for score in scores)
    by_hand = math.exp(-sum(score.log_prob for score in scores) / n_tokens)
    assert printed[0] == pytest.approx(by_hand, rel=1e-4)  # as in the case
    assert report["perplexity"] == pytest.approx(by_hand, rel=1e-4)


def test_b045_accumulation_is_no_mean_of_means(tmp_path: Path) -> None:
    assert prepare(tmp_path / "data", train="B045", dev="B045").code == 0
    # Adam's update is g / (|g| + eps): with a large eps it follows the gradient, as SGD does.
    step = (
        "train.n_steps=1",
        "train.schedule=constant",
        "train.peak_lr=1.0",
        "train.warmup_steps=1",
        "train.adam_eps=1.0",
    )
    losses = {}
    for name, device_tokens in (("together", 4096), ("apart", 150)):
        values = (*step, "model.p_dropout=0.0", "train.batch_tokens=4096", f"train.device_tokens={device_tokens}")
        assert train(tmp_path / "data", tmp_path / name, *values).code == 0
        losses[name] = log_of(tmp_path / name, "step", "loss", "tgt_tokens")
    [(loss, n_tokens)], [(other, n_other)] = losses.values()
    assert n_tokens == n_other
    assert other == pytest.approx(loss, rel=1e-6)
    assert wdiff(tmp_path / "together", tmp_path / "apart") < 1e-6  # as in the case


def test_b047_the_first_update_has_a_rate(toy_data: Path, tmp_path: Path) -> None:
    paper = ("model.d_model=512", "model.n_heads=8", "train.warmup_steps=4000", "train.batch_tokens=100")
    assert train(toy_data, tmp_path / "run", *paper, "train.n_steps=2", "train.checkpoint_every=1").code == 0
    expected = {
        1: 1.746928e-07, 2: 3.493856e-07, 4000: 6.987712e-04, 4001: 6.986839e-04, 8000: 4.941059e-04, 100000: 1.397542e-04,
    }  # fmt: skip
    logged = [rate for (rate,) in log_of(tmp_path / "run", "step", "learning_rate")]
    assert logged == pytest.approx([expected[1], expected[2]], rel=1e-6)  # the case has seven digits
    for step, rate in expected.items():
        assert learning_rate(step, TrainSettings(warmup_steps=4000), 512) == pytest.approx(rate, rel=1e-6)
    bundle = read_bundle(checkpoint(tmp_path / "run", 1))
    initial = export_weights(
        build_model(bundle.model, bundle.tokenizers.src.vocab_size, bundle.tokenizers.tgt.vocab_size)
    )
    assert all((after != initial[name]).any() for name, after in bundle.weights().items() if after.ndim == 2)


def test_b049_no_checkpoint_holds_a_number_that_is_none(toy_data: Path, tmp_path: Path) -> None:
    """The half of the case that needs no half precision: a learning rate of a million from step 20 on."""
    run, every = tmp_path / "run", ("train.checkpoint_every=5", "train.schedule=constant")
    assert train(toy_data, run, *every, "train.peak_lr=0.001", "train.n_steps=20").code == 0
    result = train(toy_data, run, *every, "train.peak_lr=1e6", "train.n_steps=50", resume=True)
    assert "Traceback" not in result.err
    if result.code != 0:
        assert (result.code, result.err.count("error: ")) == (2, 1), result.err
    files = list(run.rglob("*.safetensors"))
    assert len(files) > 4
    assert all(np.isfinite(tensor).all() for file in files for tensor in load_file(file).values())


# Kind G.


def test_b053_the_seed_fixes_a_run(toy_data: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        random.seed(name)
        np.random.seed(ord(name))
        torch.manual_seed(ord(name))
        values = ("train.n_steps=20", f"train.seed={seed}", "model.p_dropout=0.1")
        assert train(toy_data, tmp_path / name, *values).code == 0
    fields = ("step", "loss", "nll", "grad_norm")
    assert wdiff(tmp_path / "a", tmp_path / "b") == 0.0
    assert log_of(tmp_path / "a", "step", *fields) == log_of(tmp_path / "b", "step", *fields)
    assert log_of(tmp_path / "a", "step", *fields)[0] != log_of(tmp_path / "c", "step", *fields)[0]


# Kind H.


def test_b055_two_epochs_in_one_go_and_in_two(toy_data: Path, tmp_path: Path) -> None:
    values = ("train.batch_tokens=600", "model.p_dropout=0.1", "train.n_steps=100")
    assert train(toy_data, tmp_path / "whole", *values, "train.n_steps=24").code == 0
    ends = [step for (step,) in log_of(tmp_path / "whole", "epoch", "step")]
    assert len(ends) >= 2 and ends[1] <= 24
    assert train(toy_data, tmp_path / "parts", *values, f"train.n_steps={ends[0]}").code == 0
    assert train(toy_data, tmp_path / "parts", *values, "train.n_steps=24", resume=True).code == 0
    for file in ("model.safetensors", "state.safetensors"):
        assert (checkpoint(tmp_path / "parts", 24) / file).read_bytes() == (
            checkpoint(tmp_path / "whole", 24) / file
        ).read_bytes()
    for kind, fields in (("step", ("step", "epoch", "loss")), ("epoch", ("step", "epoch", "n_pairs"))):
        assert log_of(tmp_path / "parts", kind, *fields) == log_of(tmp_path / "whole", kind, *fields)
    losses = log_of(tmp_path / "whole", "step", "epoch", "loss")
    assert [loss for epoch, loss in losses if epoch == 0] != [loss for epoch, loss in losses if epoch == 1]


def test_b057_steps_rates_and_names_go_on(toy_data: Path, tmp_path: Path) -> None:
    run, values = tmp_path / "run", ("train.checkpoint_every=5", "train.warmup_steps=10")
    assert train(toy_data, run, *values, "train.n_steps=15").code == 0
    before = {name: hashlib.sha256(raw).digest() for name, raw in bytes_of(run / "checkpoints").items()}
    resumed = train(toy_data, run, *values, "train.n_steps=20", resume=True)
    assert resumed.code == 0
    assert f"going on from {checkpoint(run, 15)}" in resumed.err
    rates = dict(log_of(run, "step", "step", "learning_rate"))
    assert list(rates) == list(range(1, 21))
    assert rates[16] == pytest.approx(16**-0.5 * 16**-0.5, rel=1e-12)  # d_model is 16, and the warm-up is over
    after = {name: hashlib.sha256(raw).digest() for name, raw in bytes_of(run / "checkpoints").items()}
    assert before.items() <= after.items()
    assert {name.split("/")[0] for name in after} == {f"step-{step:08d}" for step in (5, 10, 15, 20)}


def test_b057_a_run_is_never_started_over_another(toy_data: Path, model_r: Path) -> None:
    before = bytes_of(model_r)
    message = refusal(train(toy_data, model_r))
    assert "holds a run already (up to step-00000001); add --resume" in message
    assert bytes_of(model_r) == before


def test_b059_another_batch_size_restarts_the_epoch_and_says_so(toy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert train(toy_data, run, "train.batch_tokens=256", "train.n_steps=9").code == 0
    n_seen = json.loads((checkpoint(run, 9) / "state.json").read_bytes())["progress"]["pairs_in_epoch"]
    assert 0 < n_seen < 700
    resumed = train(toy_data, run, "train.batch_tokens=200", "train.n_steps=45", resume=True)
    assert resumed.code == 0
    assert (
        "warning: batch_tokens was 256 and is 200: epoch 0 starts again from its first sentence, "
        f"after {n_seen} pairs of it; steps are counted on" in resumed.err
    )
    assert log_of(run, "epoch", "epoch", "n_pairs")[0] == (0, 700)
    assert [step for (step,) in log_of(run, "step", "step")] == list(range(1, 46))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_b061_killed_while_saving(toy_data: Path, tmp_path: Path) -> None:
    run, delays = tmp_path / "run", random.Random(1)
    every = settings(*TINY, "train.checkpoint_every=1", "train.keep_checkpoints=3", "train.n_steps=100000")
    command = [
        sys.executable,
        "-m",
        "transduce",
        "train",
        "--data",
        str(toy_data),
        "--out",
        str(run),
        "--resume",
        *every,
    ]

    def last_step() -> int:
        return max((int(path.name[5:]) for path in (run / "checkpoints").glob("step-*")), default=0)

    for _ in range(6):
        before = last_step()
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while last_step() < before + 2:
                assert process.poll() is None, "the run ended by itself"
                time.sleep(0.01)
            time.sleep(delays.uniform(0.0, 0.5))
            process.send_signal(signal.SIGKILL)
        killed_at = last_step()
        more = (f"train.n_steps={killed_at + 2}", "train.checkpoint_every=1", "train.keep_checkpoints=3")
        resumed = train(toy_data, run, *more, resume=True)
        assert resumed.code == 0, resumed.err
        assert f"going on from {checkpoint(run, killed_at)}" in resumed.err and "damaged" not in resumed.err
        assert last_step() == killed_at + 2
    assert [path.name for path in run.rglob(".*")] == [".lock"]
    assert [step for (step,) in log_of(run, "step", "step")] == list(range(1, last_step() + 1))


@pytest.mark.parametrize("file", ["model.safetensors", "state.safetensors", "state.json", "bundle.json"])
def test_b063_with_resume_the_previous_checkpoint_is_taken_and_named(toy_data: Path, tmp_path: Path, file: str) -> None:
    run, values = tmp_path / "run", ("train.checkpoint_every=2",)
    assert train(toy_data, run, *values, "train.n_steps=4").code == 0
    damaged = checkpoint(run, 4) / file
    damaged.write_bytes(damaged.read_bytes()[:-100])
    resumed = train(toy_data, run, *values, "train.n_steps=5", resume=True)
    assert resumed.code == 0, resumed.err
    assert f"warning: {checkpoint(run, 4)} is damaged and was passed over: {damaged}" in resumed.err
    assert f"going on from {checkpoint(run, 2)}" in resumed.err
    assert [step for (step,) in log_of(run, "step", "step")] == [1, 2, 3, 4, 5]


def test_b065_patience_counts_on_after_a_resume(toy_data: Path, tmp_path: Path) -> None:
    # A learning rate that changes no weight: the dev set cannot improve after its first evaluation.
    values = ("train.schedule=constant", "train.peak_lr=1e-30", "train.patience=4", "train.validate_every=5")
    assert train(toy_data, tmp_path / "whole", *values, "train.n_steps=100").code == 0
    validated = log_of(tmp_path / "whole", "validation", "step")
    assert validated == [(5,), (10,), (15,), (20,), (25,)]
    assert train(toy_data, tmp_path / "parts", *values, "train.n_steps=15").code == 0
    resumed = train(toy_data, tmp_path / "parts", *values, "train.n_steps=100", resume=True)
    assert "stopped after step 25 (patience)" in resumed.err
    assert log_of(tmp_path / "parts", "validation", "step") == validated
