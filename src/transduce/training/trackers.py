"""Listeners that keep what a run reports."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, final

from transduce.base.files import atomic_file
from transduce.training.records import Record, StartRecord, record_to_dict

__all__ = ["JsonlLog"]


@final
class JsonlLog:
    """Appends every record to a file, one JSON object a line, and hands each line to the system at once.

    When a run starts or goes on, lines of steps that are about to be made again are taken out, and so is a last line
    that a kill cut off: the file of an interrupted run reads like that of an uninterrupted one. A number that is not
    finite is written as null, since JSON has no other word for it.

    Args:
        path: The file. Its directory is made when it is needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, record: Record) -> None:
        """Append one record."""
        if isinstance(record, StartRecord):
            self._rewind(record.step)
        line = json.dumps(_finite(record_to_dict(record)), ensure_ascii=False, allow_nan=False)
        # A path that the locale cannot spell is written as the bytes that it is made of.
        with self._path.open("a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(line + "\n")

    def _rewind(self, step: int) -> None:
        """Keep the lines up to a step: all of them whole, and none when the run starts from the beginning."""
        lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() and step > 0 else []
        with atomic_file(self._path) as temporary:
            temporary.write_bytes(b"".join(line for line in lines if _step_of(line) <= step))


def _step_of(line: bytes) -> float:
    """Return the step that a line is about; infinity when it is not a whole line of ours."""
    try:
        return float(json.loads(line)["step"]) if line.endswith(b"\n") else math.inf
    except (ValueError, KeyError, TypeError):
        return math.inf


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
