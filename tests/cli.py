"""Running the command line inside the test process: quick, since torch is imported once."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from transduce.cli.main import main

__all__ = ["CliResult", "run_cli"]


@dataclass(frozen=True)
class CliResult:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines of stdout: only LF ends one."""
        return self.out.split("\n")[:-1]


def run_cli(*arguments: str | Path, stdin: str | bytes = b"") -> CliResult:
    """Call ``transduce`` with arguments and text on standard input, and return what it printed and its exit code."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8"),
        "stderr": io.TextIOWrapper(err, encoding="utf-8"),
    }
    argv = ["transduce", *(str(argument) for argument in arguments)]
    code: int | str | None = 0
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys, "stdin", streams["stdin"]),
        mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}),
        redirect_stdout(streams["stdout"]),
        redirect_stderr(streams["stderr"]),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    for name in ("stdout", "stderr"):
        streams[name].flush()
    return CliResult(code if isinstance(code, int) else 1, out.getvalue().decode(), err.getvalue().decode())
