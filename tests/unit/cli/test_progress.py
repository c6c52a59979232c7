"""What a person reads while a model trains."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from transduce.cli.progress import TrainingProgress, format_duration, format_record
from transduce.training.records import (
    CheckpointRecord,
    EpochRecord,
    StartRecord,
    StepRecord,
    StopRecord,
    ValidationRecord,
)

START = StartRecord(
    step=0, n_steps=100, max_minutes=None, device="cpu", n_parameters=1234, n_pairs=5678, resumed_from=None
)
STEP = StepRecord(
    step=50,
    epoch=0,
    learning_rate=0.001,
    loss=2.5,
    nll=math.log(8),
    grad_norm=1.0,
    n_refused=0,
    tgt_tokens=1000,
    tgt_tokens_per_s=2345.6,
    padding=0.01,
    seconds=10.0,
    eta_s=75.0,
)


def test_records_are_plain_lines() -> None:
    assert format_record(START, 100) == "training 1,234 parameters on 5,678 pairs, on cpu"
    assert format_record(STEP, 100) == (
        "step 50/100  epoch 1  loss 2.500  perplexity 8.00  lr 1.00e-03  2,346 tok/s  eta 1:15"
    )
    assert format_record(ValidationRecord(50, {"perplexity": 7.5, "BLEU": 12.0}, True, 3.2), 100) == (
        "dev set after step 50: perplexity 7.50  BLEU 12.00  (best so far)  [3.2 s]"
    )
    assert format_record(CheckpointRecord(50, Path("run/checkpoints/step-00000050"), 0.1), 100) == (
        "checkpoint run/checkpoints/step-00000050"
    )
    assert format_record(StopRecord(100, "steps", 130.0), 100) == "stopped after step 100 (steps), 2:10 in all"


def test_pairs_left_out_are_said_once() -> None:
    assert format_record(EpochRecord(10, 0, 90, 0), 100) == ""
    assert "3 left out as too long" in format_record(EpochRecord(10, 0, 90, 3), 100)
    assert format_record(EpochRecord(20, 1, 90, 3), 100) == ""


def test_numbers_that_are_not_finite_do_not_break_a_line() -> None:
    assert format_duration(math.inf) == "?"
    assert format_duration(math.nan) == "?"
    wild = STEP.__class__(**{**STEP.__dict__, "nll": 1e9, "eta_s": math.inf, "n_refused": 2})
    line = format_record(wild, 100)
    assert "2 updates refused" in line


def test_without_a_terminal_there_is_one_line_for_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingProgress() as progress:
        progress(START)
        progress(STEP)
        progress(EpochRecord(10, 0, 90, 0))
    assert len(capsys.readouterr().err.splitlines()) == 2
