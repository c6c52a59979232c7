"""What a run will take on this machine: measured on a real model of its shape, for a few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from transduce.base.memory import free_memory_bytes
from transduce.data.batch import Batch, make_batch
from transduce.data.batching import cut_microbatches, deal, plan_epoch
from transduce.data.store import TokenStore
from transduce.model.build import build_model
from transduce.model.device import choose_device
from transduce.model.noise import noise_key
from transduce.model.settings import ModelSettings
from transduce.model.stats import work_flops
from transduce.training.fit import activation_bytes
from transduce.training.gradients import build_gradient_engine
from transduce.training.optimizer import build_optimizer, update
from transduce.training.settings import TrainSettings
from transduce.training.work import BatchWork, Layout, batch_work

__all__ = ["Speed", "measure_speed"]

_BUDGET_S = 5.0
_FIRST_TOKENS = 512
"""Of the first microbatches, which tell how large the next ones may be."""
_MAX_TOKENS = 2048
"""Larger microbatches are hardly faster on a CPU, and would take longer than there is time."""


@dataclass(frozen=True)
class Speed:
    """What was measured."""

    device: str
    """``cpu``, ``cuda:0`` and so on."""
    engine: str
    """What computed the gradients."""
    flops_per_s: float
    """Operations of matrix products a second, padding included, without the update."""
    update_s: float
    """Seconds of one update of all weights."""
    done_per_needed: float
    """Operations computed for each one that the sentences need: what padding costs, 1 or a little more."""
    n_microbatches: int
    """How many were timed."""
    tgt_tokens: int
    """Real target tokens in them."""
    activation_bytes_per_token: float
    """What one token of a microbatch of the longest sentences leaves in memory until its backward pass."""
    free_bytes: int | None
    """Memory that is free on the device. None: it is not known."""


def measure_speed(
    model: ModelSettings, settings: TrainSettings, store: TokenStore, *, src_vocab_size: int, tgt_vocab_size: int
) -> Speed:
    """Time some steps of a run: real microbatches of its first epoch, and updates.

    On a CPU the microbatches are made smaller than ``device_tokens`` where one would take too long.

    Args:
        model: The shape.
        settings: How it is trained.
        store: Pairs like those that it is to be trained on.
        src_vocab_size: Number of source ids.
        tgt_vocab_size: Number of target ids.

    Raises:
        TrainingError: The device is not there.
        DataError: Every pair is longer than ``max_pair_tokens``.
    """
    device = choose_device(settings.device, setting="train.device")
    network = build_model(model, src_vocab_size, tgt_vocab_size, seed=settings.seed).to(device)
    network.train()
    kept = activation_bytes(network, _longest(store, settings.max_pair_tokens))
    engine = build_gradient_engine(network, settings, device)
    layout: Layout = "packed" if engine.name == "native" else "padded"
    tokens = settings.device_tokens if isinstance(settings.device_tokens, int) else _MAX_TOKENS
    budget = _Budget(tokens if device.type != "cpu" else min(tokens, _MAX_TOKENS))
    works: list[BatchWork] = []
    spent_s = 0.0
    for number, batch in enumerate(_microbatches(store, settings, budget)):
        start_s = time.perf_counter()
        engine.gradients([batch], n_tgt_tokens=batch.n_tgt_tokens, key=noise_key(settings.seed, number + 1))
        _wait(device)
        took_s = time.perf_counter() - start_s
        if number > 0:  # the first one also makes room and loads libraries
            works.append(batch_work(batch, layout))
            spent_s += took_s
            budget.note(works[-1].needed.n_tgt, took_s)
        if spent_s >= _BUDGET_S or len(works) >= 200:
            break
    if not works:  # so little data that there is one microbatch
        works, spent_s = [batch_work(batch, layout)], took_s
    done = sum(work_flops(model, tgt_vocab_size, work.done) for work in works)
    needed = sum(work_flops(model, tgt_vocab_size, work.needed) for work in works)
    passes = 2 if settings.rdrop_alpha > 0 else 1
    return Speed(
        device=str(device),
        engine=engine.name,
        flops_per_s=passes * done / spent_s,
        update_s=_time_update(network, settings, device),
        done_per_needed=done / needed,
        n_microbatches=len(works),
        tgt_tokens=sum(work.needed.n_tgt for work in works),
        activation_bytes_per_token=kept / max(_longest(store, settings.max_pair_tokens).src.shape[1], 1),
        free_bytes=int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else free_memory_bytes(),
    )


class _Budget:
    """How large the next microbatch may be: a tenth of the time at most."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.tokens = min(_FIRST_TOKENS, most)

    def note(self, tgt_tokens: int, took_s: float) -> None:
        """Learn from a microbatch."""
        fits = int(tgt_tokens / took_s * _BUDGET_S / 10)
        self.tokens = max(min(_FIRST_TOKENS, self._most), min(fits, self._most))


def _microbatches(store: TokenStore, settings: TrainSettings, budget: _Budget) -> Iterator[Batch]:
    """Yield one microbatch of each step of the first epoch, of the size that the budget has then."""
    plans = plan_epoch(
        store,
        batch_tokens=settings.batch_tokens,
        pool_pairs=settings.pool_pairs,
        max_pair_tokens=settings.max_pair_tokens,
        seed=settings.seed,
        epoch=0,
    )
    for number, plan in enumerate(plans):
        shares = cut_microbatches(store, deal(plan), budget.tokens)
        share = shares[number % len(shares)]
        yield make_batch(store, share.pairs, share.numbers)


def _longest(store: TokenStore, max_pair_tokens: int) -> Batch:
    longer = np.maximum(store.src_lengths, store.tgt_lengths).astype(np.int64)
    index = int(np.where(longer <= max_pair_tokens, longer, -1).argmax())
    return make_batch(store, np.array([index]))


def _time_update(network: torch.nn.Module, settings: TrainSettings, device: torch.device) -> float:
    """Return the seconds of the second update: the first one makes the moments."""
    optimizer = build_optimizer(network, settings)
    took_s = 0.0
    for _ in range(2):
        for parameter in network.parameters():
            parameter.grad = torch.full_like(parameter, 1e-3)
        _wait(device)
        start_s = time.perf_counter()
        zero, norm = torch.zeros((), device=device), torch.ones((), device=device)
        update(optimizer, lr=1e-6, refuse=zero, max_grad_norm=settings.max_grad_norm, grad_norm=norm)
        _wait(device)
        took_s = time.perf_counter() - start_s
    return took_s


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
