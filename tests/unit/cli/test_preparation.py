"""What a person sees while data is prepared."""

from __future__ import annotations

import io
import sys

import pytest

from transduce.cli.preparation import PreparationProgress
from transduce.pipeline.prepare_progress import PrepareProgress

READING = PrepareProgress("reading", "a.en + a.de", 5000, None, 2.5)
READ = PrepareProgress("reading", "a.en + a.de", 7000, 7000, 2.5, "7,000 pairs read, 6,990 kept")
ENCODING = PrepareProgress("encoding", "train", 2000, 6990, 8.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_is_a_line_for_each_outcome_and_one_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: times[-1])
    with PreparationProgress() as progress:
        for time_s, record in (
            (101.0, READING), (104.0, READING), (105.5, READING), (106.0, READING), (110.0, READING), (110.0, READ),
            (114.0, ENCODING), (115.0, ENCODING),
        ):  # fmt: skip
            times.append(time_s)
            progress(record)
    assert capsys.readouterr().err.splitlines() == [
        "reading a.en + a.de: 5,000 pairs, 2.5 MB/s",  # at 105.5 s
        "reading a.en + a.de: 7,000 pairs read, 6,990 kept",  # at 110.0 s
        "encoding train: 2,000 of 6,990 pairs, 8.0 MB/s",  # at 115.0 s
    ]


def test_on_a_terminal_there_is_a_bar_while_something_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with PreparationProgress() as progress:
        progress(READING)
        assert sys.stderr is not terminal  # messages of others now go above the bar
        progress(READ)
        assert sys.stderr is terminal
        progress(ENCODING)
        assert sys.stderr is not terminal
    assert sys.stderr is terminal
    assert "5,000 pairs, 2.5 MB/s" in terminal.getvalue()
    assert "reading a.en + a.de: 7,000 pairs read, 6,990 kept\n" in terminal.getvalue()
    assert "2,000 of 6,990 pairs" in terminal.getvalue()
