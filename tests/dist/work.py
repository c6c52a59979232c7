"""What ranks do in the tests: small functions that can be named to another process."""

from __future__ import annotations

import os
import signal
import time
import weakref
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import torch

from tests.unit.training.toy import ToyRun, toy_model, toy_settings, toy_tokenizers
from transduce.base import launch
from transduce.base.errors import TrainingError
from transduce.bundle.run import list_checkpoints
from transduce.data.batching import EPOCH_START
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer
from transduce.training import checkpoint, shard
from transduce.training.feed import feed_steps
from transduce.training.loop import Validator
from transduce.training.optimizer import build_optimizer
from transduce.training.records import Listener, Record, StepRecord
from transduce.training.world import open_world

MODEL = ModelSettings(d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, p_dropout=0.3)
"""With much dropout, so that a mask drawn otherwise shows."""

_PATIENCE_S = 4.0
"""How long a rank may be silent, where that is what is tested: long enough to meet on a busy machine."""

Event = Literal["kill", "raise", "hang", "sigterm", "fail the evaluation"]

torch.set_num_threads(1)


def _warm_up() -> None:
    """Make torch import, once for all ranks, what it imports at the first update: it takes longer than a whole test."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    torch.optim.AdamW([parameter]).step()
    toy_tokenizers()


_warm_up()


def train(
    root: str, name: str, settings: dict[str, Any], *, resume: bool = False, event: tuple[int, int, Event] | None = None
) -> dict[str, Any]:
    """Train on the data in ``root``, in the run directory ``name``.

    Args:
        root: Where the data is.
        name: Of the run directory.
        settings: Of training.
        resume: True: go on with the run.
        event: A rank, a step, and what happens to it there.
    """
    run, seen = ToyRun(Path(root)), []

    def note(record: Record) -> None:
        if isinstance(record, StepRecord):
            seen.append([record.step, record.loss, record.tgt_tokens])

    chosen = toy_settings(**settings)
    with open_world("cpu", timeout_s=20.0) as world:
        listeners: list[Listener] = [note]
        validators: list[Validator] = []
        if event is not None and event[0] == world.rank:
            listeners.append(_at(event[1], event[2]))
            validators = [_fail] if event[2] == "fail the evaluation" else []
        trainer = run.trainer(name, chosen, model=MODEL, listeners=listeners, validators=validators, world=world)
        result = trainer.run(resume=resume)
    return {
        "step": result.step,
        "losses": [loss for _, loss, _ in seen],
        "tokens": [tokens for _, _, tokens in seen],
        "scores": dict(result.scores),
        "checkpoints": [path.name for path in list_checkpoints(run.root / name)],
    }


def count_pairs(root: str, batch_tokens: int) -> list[list[int]]:
    """Return the pairs that this rank is dealt in each step of an epoch, and their numbers in the global batches."""
    run, settings = ToyRun(Path(root)), toy_settings(batch_tokens=batch_tokens)
    with open_world("cpu", timeout_s=20.0) as world:
        steps = feed_steps(
            run.train,
            settings,
            epoch=0,
            start=EPOCH_START,
            device_tokens=40,
            rank=world.rank,
            world_size=world.size,
        )
        return [sorted(int(n) for batch in step.batches.microbatches for n in batch.numbers) for step in steps]


def sums(overlap: bool) -> dict[str, Any]:
    """Sum the gradients of a small model, whose rank 1 computes nothing, and a few numbers."""
    with open_world("cpu", timeout_s=20.0) as world:
        model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(3)))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(0.5)
        found = []
        for _ in range(2):
            model.zero_grad()
            with world.summing(model.parameters()):
                if world.rank != 1:
                    loss = model(torch.full((2, 8), float(world.rank + 1))).sum()
                    with world.around_last() if overlap else nullcontext():
                        loss.backward()
            found.append([float(p.grad.sum()) for p in model.parameters() if p.grad is not None])
        return {
            "gradients": found,
            "any": world.any(world.rank == 1, False),
            "sum": world.sum(float(world.rank), 1.0),
            "max": world.max(float(world.rank)),
            "shared": world.share({"rank": world.rank, "nan": float("nan")})["rank"],
        }


def first(seconds: float, error: str | None = None) -> int:
    """Let rank 0 do something alone for longer than a rank may be silent, with an error at its end or not."""

    def action() -> int:
        time.sleep(seconds)
        if error is not None:
            raise TrainingError(error)
        return world.rank + 7

    with open_world("cpu", timeout_s=_PATIENCE_S) as world:
        return world.first(action)


def count_threads(cores: int) -> int:
    """Return on how many threads this rank computes, on a machine that all ranks share, as ``torchrun`` starts them."""
    os.environ |= {"LOCAL_WORLD_SIZE": os.environ["WORLD_SIZE"], "TORCHELASTIC_RUN_ID": "x", "OMP_NUM_THREADS": "1"}
    with patch.object(launch, "count_cores", lambda: cores), open_world("cpu", timeout_s=20.0):
        return torch.get_num_threads()


def write_in_shards(run_dir: str) -> int:
    """Write the checkpoint of a model in shards; return how many whole tensors a rank held at once, at most."""
    settings, most = toy_settings(parallel="shard", validate_bleu=False), 0
    held: list[weakref.ref[torch.Tensor]] = []

    def whole(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal most
        full = shard.whole(tensor)
        held.append(weakref.ref(full))
        most = max(most, sum(reference() is not None for reference in held))
        return full

    with open_world("cpu", timeout_s=20.0) as world, patch.object(checkpoint, "whole", whole):
        model = toy_model(settings=MODEL)
        shard.shard_model(model, world)
        optimizer = build_optimizer(model, settings)
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        checkpoint.write_checkpoint(
            Path(run_dir),
            model=model,
            optimizer=optimizer,
            progress=checkpoint.Progress(),
            save_bundle=lambda path, *, weights, step, scores: None,
            world=world,
        )
    return most


def agree(values: dict[str, object]) -> None:
    """Compare values with the other ranks."""
    with open_world("cpu", timeout_s=20.0) as world:
        world.agree(values)


def _fail(model: Transformer) -> dict[str, float]:
    raise TrainingError("a mistake of one validator")


def _at(step: int, event: Event) -> Listener:
    def listen(record: Record) -> None:
        if isinstance(record, StepRecord) and record.step == step:
            match event:
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "raise":
                    raise TrainingError("a mistake of one rank")
                case "hang":
                    time.sleep(300)
                case "sigterm":
                    os.kill(os.getpid(), signal.SIGTERM)

    return listen
