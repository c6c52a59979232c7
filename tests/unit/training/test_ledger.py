from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from transduce.base.errors import TrainingError
from transduce.base.launch import Launch
from transduce.data.batch import batch_from_ids
from transduce.model.settings import ModelSettings
from transduce.model.stats import Work, work_flops
from transduce.training import ledger as ledger_module
from transduce.training.account import Costs, SessionAccount, read_ledger
from transduce.training.energy import EnergyCounter
from transduce.training.ledger import Ledger
from transduce.training.records import (
    CheckpointRecord,
    RollbackRecord,
    StartRecord,
    StopRecord,
    ValidationRecord,
)
from transduce.training.work import BatchWork, batch_work

MODEL = ModelSettings(d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1)
VOCAB = 280
WORK = BatchWork(
    2, needed=Work.packed(np.array([4, 2]), np.array([2, 5])), done=Work.padded(np.array([4, 2]), np.array([2, 5]))
)


def clock() -> Iterator[float]:
    """0, 100, 200, ... seconds."""
    yield from map(float, range(0, 10_000, 100))


def start(step: int, resumed_from: str | None = None) -> StartRecord:
    return StartRecord(step, 100, None, "cpu", 1, 1, resumed_from)


def make_ledger(path: Path | None, **others: object) -> Ledger:
    ticks = clock()
    return Ledger(
        path,
        model=MODEL,
        tgt_vocab_size=VOCAB,
        settings_sha256="ab",
        device_tflops=0.5,
        clock=lambda: next(ticks),
        **others,  # type: ignore[arg-type]
    )


def run_session(ledger: Ledger, first: int, last: int, resumed_from: str | None = None) -> None:
    ledger(start(first, resumed_from))
    for _ in range(first, last):
        ledger.count([WORK])
    ledger(ValidationRecord(last, {"perplexity": 3.0}, is_best=True, took_s=30.0))
    ledger(CheckpointRecord(last, Path("x"), took_s=10.0))
    ledger(StopRecord(last, "steps", 1.0))


def test_a_session_is_counted_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    run_session(make_ledger(path), 0, 3)
    (session,) = read_ledger(path)
    costs = session.costs
    assert (session.first_step, session.last_step, session.ended) == (0, 3, "steps")
    # Asked for the time at the start, at the checkpoint and at the end: 0, 100 and 200.
    assert (costs.wall_s, costs.evaluation_s, costs.checkpoint_s, costs.training_s) == (200.0, 30.0, 10.0, 160.0)
    assert (costs.steps, costs.pairs, costs.src_tokens, costs.tgt_tokens) == (3, 6, 18, 21)
    assert costs.padding_positions == 3 * (2 * 4 + 2 * 5 - 6 - 7)
    assert costs.flops == 3 * work_flops(MODEL, VOCAB, WORK.done)
    assert costs.needed_flops == 3 * work_flops(MODEL, VOCAB, WORK.needed)
    assert costs.paper_flops == 160.0 * 1 * 0.5e12
    assert session.peak_memory_bytes > 10_000_000
    assert session.tflops_source == "declared"
    assert {"Python", "torch", "transduce"} <= session.versions.keys()


def test_the_paper_formula_gives_the_paper_numbers() -> None:
    """12 hours of 8 P100: 3.3e18. Table 2."""
    assert pytest.approx(3.3e18, rel=0.01) == 12 * 3600 * 8 * 9.5e12


def test_a_resumed_run_keeps_its_sessions(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    run_session(make_ledger(path), 0, 3)
    run_session(make_ledger(path), 3, 5, resumed_from="checkpoints/step-00000003")
    sessions = read_ledger(path)
    assert [(session.first_step, session.last_step) for session in sessions] == [(0, 3), (3, 5)]
    total = json.loads(path.read_text())["total"]
    assert (total["steps"], total["flops"]) == (5, 5 * work_flops(MODEL, VOCAB, WORK.done))
    run_session(make_ledger(path), 0, 1)  # begun again from nothing
    assert len(read_ledger(path)) == 1


def test_it_is_written_at_a_checkpoint_as_still_going_on(tmp_path: Path) -> None:
    path, ledger = tmp_path / "ledger.json", make_ledger(tmp_path / "ledger.json")
    ledger(start(0))
    assert not path.exists()
    ledger(CheckpointRecord(2, Path("x"), took_s=0.0))
    assert read_ledger(path)[0].ended is None


def test_processes_are_added_up_and_one_writes(tmp_path: Path) -> None:
    def twice(values: Sequence[float]) -> Sequence[float]:
        return [2 * value for value in values]

    other = make_ledger(None, launch=Launch(1, 2, 1, 2), sum_over_ranks=twice)
    run_session(other, 0, 3)
    ledger = make_ledger(tmp_path / "ledger.json", launch=Launch(0, 2, 0, 2), sum_over_ranks=twice)
    run_session(ledger, 0, 3)
    (session,) = read_ledger(tmp_path / "ledger.json")
    assert (session.n_devices, session.costs.tgt_tokens, session.costs.steps) == (2, 42, 3)
    assert session.costs.flops == 6 * work_flops(MODEL, VOCAB, WORK.done)
    assert session.costs.paper_flops == 160.0 * 2 * 0.5e12


def test_two_copies_are_twice_the_work(tmp_path: Path) -> None:
    run_session(make_ledger(tmp_path / "ledger.json", n_copies=2), 0, 1)
    assert read_ledger(tmp_path / "ledger.json")[0].costs.flops == 2 * work_flops(MODEL, VOCAB, WORK.done)


def test_steps_that_a_rollback_threw_away_were_made(tmp_path: Path) -> None:
    path, ledger = tmp_path / "ledger.json", make_ledger(tmp_path / "ledger.json")
    ledger(start(0))
    for _ in range(4):
        ledger.count([WORK])
    ledger(RollbackRecord(step=2, bad_step=4, path=Path("x")))
    ledger.count([])  # a step of which this process had no part
    ledger(StopRecord(3, "steps", 1.0))
    (session,) = read_ledger(path)
    assert (session.costs.steps, session.last_step) == (5, 3)
    assert session.costs.flops == 4 * work_flops(MODEL, VOCAB, WORK.done)


def test_the_energy_is_that_of_all_processes_with_each_processor_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counters(gpu_uuids: Sequence[str], *, local_rank: int) -> tuple[list[EnergyCounter], str]:
        """A processor that has used 100 J and a GPU that has used 10 J at each look after the first."""
        shown = [iter(range(0, 1000, 100)), iter(range(0, 100, 10))][local_rank:]
        names = ["package-0", "GPU"][local_rank:]
        return [
            EnergyCounter(name, lambda values=values: next(values), 1.0, None)  # type: ignore[misc]
            for name, values in zip(names, shown, strict=True)
        ], ""

    def with_another_gpu(values: Sequence[float]) -> Sequence[float]:
        return [values[0] + 10.0, values[1] + 1] if len(values) == 2 else values

    monkeypatch.setattr(ledger_module, "find_counters", counters)
    ledger = make_ledger(tmp_path / "ledger.json", launch=Launch(0, 2, 0, 2), sum_over_ranks=with_another_gpu)
    ledger(start(0))
    ledger(StopRecord(1, "steps", 1.0))
    (session,) = read_ledger(tmp_path / "ledger.json")
    assert session.costs.energy_joules == 100.0 + 10.0 + 10.0
    assert session.energy_note == "all that ran on package-0, GPU, and what 1 counter of the other processes showed"


def test_a_damaged_ledger_is_named_and_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "ledger.json"
    path.write_text("{")
    with pytest.raises(TrainingError, match=r"ledger\.json: cannot be read as the ledger"):
        read_ledger(path)
    run_session(make_ledger(path), 3, 4, resumed_from="x")
    assert "a new one begins" in caplog.text
    assert len(read_ledger(path)) == 1


def test_energy_that_one_session_does_not_know_is_not_known_in_all(tmp_path: Path) -> None:
    run_session(make_ledger(tmp_path / "ledger.json"), 0, 1)
    account: SessionAccount = read_ledger(tmp_path / "ledger.json")[0]
    known = replace(account.costs, energy_joules=5.0)
    unknown = replace(account.costs, energy_joules=None)
    assert Costs.total([known, known]).energy_joules == 10.0
    assert Costs.total([known, unknown]).energy_joules is None


def test_the_work_of_a_batch_is_that_of_its_lengths() -> None:
    batch = batch_from_ids([[7, 8, 9], [7]], [[9], [9, 9, 9, 9]])
    assert batch_work(batch, "padded") == WORK
    assert batch_work(batch, "packed") == BatchWork(2, needed=WORK.needed, done=WORK.needed)
