"""What a person sees while a file is translated."""

from __future__ import annotations

import io
import re
import sys

import pytest

from transduce.cli.translation import TranslationProgress, show_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_shows_lines_and_speed_of_this_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: times[-1])
    for name, value in (("TERM", "xterm"), ("COLUMNS", "200"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with TranslationProgress(10_000, shown=True) as progress:
        progress(2000)  # done by an earlier run
        times.append(102.0)
        progress(6000)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert "6,000 of 10,000 lines  2,000 lines/s" in text


def test_without_a_terminal_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with TranslationProgress(None, shown=False) as progress:
        progress(1)
        progress(2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("stderr", "stdout", "to_stdout", "seen"),
    [
        (Terminal(), Terminal(), False, True),
        (Terminal(), Terminal(), True, False),  # lines and bar would be mixed
        (Terminal(), io.StringIO(), True, True),
        (io.StringIO(), Terminal(), False, False),
    ],
)
def test_when_a_bar_is_shown(
    monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO, stdout: io.StringIO, to_stdout: bool, seen: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert show_bar(to_stdout=to_stdout) is seen
