"""What a person reads while a model trains."""

from __future__ import annotations

import io
import math
import re
import sys
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


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in place of standard error. (Not a fixture: pytest takes stderr again between setup and call.)"""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "200"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    return terminal


def shown(terminal: Terminal) -> str:
    """Return what was written, without the codes that colour it and move the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


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


def test_the_bar_shows_the_time_left_that_the_record_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with TrainingProgress() as progress:
        progress(START)
        assert "eta ?" in shown(terminal)
        progress(STEP)
    assert "50/100" in shown(terminal)
    assert "eta 1:15" in shown(terminal)


def test_lines_stand_above_the_bar_whoever_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with TrainingProgress() as progress:
        progress(START)
        progress(STEP)
        sys.stderr.write("warning: of another part\n")
        progress(CheckpointRecord(50, Path("run/step-50"), 0.1))
        progress(StopRecord(100, "steps", 130.0))
        sys.stderr.write("after the run\n")
    lines = [line.strip() for line in re.split(r"[\r\n]+", shown(terminal))]
    for line in ("warning: of another part", "checkpoint run/step-50", "after the run"):
        assert line in lines


def test_the_bar_is_there_only_while_the_model_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with TrainingProgress() as progress:
        assert sys.stderr is terminal
        progress(START)
        assert sys.stderr is not terminal
        progress(StopRecord(100, "steps", 130.0))
        assert sys.stderr is terminal
    with pytest.raises(KeyboardInterrupt), TrainingProgress() as progress:
        progress(START)
        raise KeyboardInterrupt
    assert sys.stderr is terminal
