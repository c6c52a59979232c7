"""The ledger of a run: a listener that keeps ``ledger.json`` up to date, at each checkpoint and at the end."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import final

import torch

from transduce.base.errors import TrainingError
from transduce.base.launch import Launch
from transduce.base.log import logger, plural
from transduce.model.settings import ModelSettings
from transduce.model.stats import Work, work_flops
from transduce.training.account import Costs, SessionAccount, read_ledger, write_ledger
from transduce.training.energy import Energy, EnergyMeter, find_counters
from transduce.training.machine import (
    device_name,
    find_commit,
    gpu_uuids,
    peak_device_bytes,
    peak_memory_bytes,
    versions,
)
from transduce.training.rate import device_rate
from transduce.training.records import (
    CheckpointRecord,
    Record,
    StartRecord,
    StepRecord,
    StopReason,
    StopRecord,
    ValidationRecord,
)
from transduce.training.work import BatchWork

__all__ = ["Ledger", "SumOverRanks"]

SumOverRanks = Callable[[Sequence[float]], Sequence[float]]
"""Adds up numbers of all processes of a run. All of them call it at the same records."""


@final
class Ledger:
    """Counts what a run costs, and writes it down. Give it every record, and the work of every step.

    A session begins with the record of a start. When the run goes on from a checkpoint, the sessions before are kept.
    Costs are what was really spent: steps that a kill took away and that were made again are counted twice, as far as the
    killed session had written them down.

    Args:
        path: The file. None: another process writes it, and this one only adds its numbers.
        model: The shape of the model.
        tgt_vocab_size: Number of target ids.
        settings_sha256: Which settings the run has.
        device_tflops: What one device sustains; None: the paper's number for the GPUs that it names, else measured.
        launch: Which process this is, and of how many, each with a device of its own.
        n_copies: How often each pair goes through the model in a step: twice with R-Drop.
        sum_over_ranks: Adds up numbers of all processes.
        clock: Returns seconds; tests give one of their own.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        model: ModelSettings,
        tgt_vocab_size: int,
        settings_sha256: str,
        device_tflops: float | None = None,
        launch: Launch | None = None,
        n_copies: int = 1,
        sum_over_ranks: SumOverRanks = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._model, self._tgt_vocab_size = path, model, tgt_vocab_size
        self._settings_sha256, self._declared_tflops = settings_sha256, device_tflops
        self._launch, self._n_copies, self._sum, self._clock = launch or Launch(), n_copies, sum_over_ranks, clock
        self._start_counts()

    def count(self, microbatches: Sequence[BatchWork]) -> None:
        """Count a step: a :data:`transduce.training.work.WorkListener`."""
        self._n_steps += 1
        for work in microbatches:
            self._n_pairs += work.n_pairs
            self._needed += work.needed
            self._done += work.done

    def __call__(self, record: Record) -> None:
        """Take note of a record."""
        if isinstance(record, StartRecord):
            self._start(record)
        self._last_step = record.step
        match record:
            case StepRecord():
                self._energy.read()  # often enough for counters that begin again
            case ValidationRecord():
                self._evaluation_s += record.took_s
            case CheckpointRecord():
                self._checkpoint_s += record.took_s
                self._write(None)
            case StopRecord():
                self._write(record.reason)

    def _start(self, record: StartRecord) -> None:
        self._start_s, self._started = self._clock(), datetime.now(UTC).isoformat(timespec="seconds")
        self._first_step = record.step
        self._evaluation_s = self._checkpoint_s = 0.0
        self._start_counts()
        self._earlier = self._read_earlier() if record.resumed_from is not None else ()
        self._device = torch.device(record.device)
        self._rate = device_rate(self._device, device_name(self._device), declared_tflops=self._declared_tflops)
        self._energy = EnergyMeter(*find_counters(gpu_uuids(self._device), local_rank=self._launch.local_rank))
        self._versions, self._commit = versions(), find_commit()

    def _start_counts(self) -> None:
        self._n_steps, self._n_pairs, self._needed, self._done = 0, 0, Work(), Work()

    def _read_earlier(self) -> tuple[SessionAccount, ...]:
        if self._path is None or not self._path.exists():
            return ()  # a run that was begun before there were ledgers
        try:
            return read_ledger(self._path)
        except TrainingError as error:
            logger.warning("%s; a new one begins, without the sessions before", error)
            return ()

    def _write(self, ended: StopReason | None) -> None:
        n_pairs, needed, done = self._sums()
        energy = self._energy_of_all()
        wall_s = self._clock() - self._start_s
        training_s = max(0.0, wall_s - self._evaluation_s - self._checkpoint_s)
        if self._path is None:
            return
        account = SessionAccount(
            started=self._started,
            ended=ended,
            first_step=self._first_step,
            last_step=self._last_step,
            costs=Costs(
                wall_s=wall_s,
                training_s=training_s,
                evaluation_s=self._evaluation_s,
                checkpoint_s=self._checkpoint_s,
                steps=self._n_steps,
                pairs=n_pairs,
                src_tokens=needed.n_src,
                tgt_tokens=needed.n_tgt,
                padding_positions=done.n_src + done.n_tgt - needed.n_src - needed.n_tgt,
                flops=self._n_copies * work_flops(self._model, self._tgt_vocab_size, done),
                needed_flops=self._n_copies * work_flops(self._model, self._tgt_vocab_size, needed),
                paper_flops=training_s * self._launch.size * self._rate.tflops * 1e12,
                energy_joules=energy.joules,
            ),
            peak_memory_bytes=peak_memory_bytes(),
            peak_device_bytes=peak_device_bytes(self._device),
            host=f"{platform.node()}, {platform.system()} {platform.machine()}",
            device=self._rate.device,
            n_devices=self._launch.size,
            tflops=self._rate.tflops,
            tflops_source=self._rate.source,
            energy_note=energy.note,
            versions=self._versions,
            commit=self._commit,
            settings_sha256=self._settings_sha256,
        )
        write_ledger(self._path, (*self._earlier, account))

    def _sums(self) -> tuple[int, Work, Work]:
        """Return the counts of all processes. Each is far below 2^53, up to which a float holds every whole number."""
        needed, done = astuple(self._needed), astuple(self._done)
        pairs, *work = (round(value) for value in self._sum((self._n_pairs, *needed, *done)))
        return pairs, Work(*work[: len(needed)]), Work(*work[len(needed) :])

    def _energy_of_all(self) -> Energy:
        """Return what the counters of all processes show together."""
        own = self._energy.read()
        joules, n_counters = self._sum((own.joules or 0.0, own.n_counters))
        n_others = round(n_counters) - own.n_counters
        if n_others == 0:
            return own
        of_others = f"what {plural(n_others, 'counter')} of the other processes showed"
        return Energy(joules, f"{own.note}, and {of_others}" if own.n_counters else of_others, round(n_counters))
