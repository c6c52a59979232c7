"""Listeners that keep what a run reports."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

from transduce.base.extras import require
from transduce.base.files import atomic_file
from transduce.training.records import (
    Listener,
    Record,
    RollbackRecord,
    StartRecord,
    StepRecord,
    StopRecord,
    ValidationRecord,
    record_to_dict,
)

__all__ = ["LOG_FILE", "JsonlLog", "TensorBoardLog", "open_tensorboard"]

LOG_FILE = "log.jsonl"
"""The log's name in a run directory."""


@final
class JsonlLog:
    """Appends every record to a file, one JSON object a line, and hands each line to the system at once.

    When a run goes on from a checkpoint, lines of steps that are about to be made again are taken out, and so is a last line
    that a kill cut off: the file of an interrupted run reads like that of an uninterrupted one. When a run goes back after a
    bad step, only the numbers of the steps behind the checkpoint are taken out. That there was a bad step, and that an epoch
    ended, stays, for good: the data is not gone through again. A number that is not finite is written as null, since JSON has
    no other word for it.

    Args:
        path: The file. Its directory is made when it is needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, record: Record) -> None:
        """Append one record."""
        match record:
            case StartRecord():
                self._rewrite(lambda lines: _lines_before(lines, record.step))
            case RollbackRecord():
                self._rewrite(lambda lines: _without_numbers(lines, record.step))
        line = json.dumps(_finite(record_to_dict(record)), ensure_ascii=False, allow_nan=False)
        # A path that the locale cannot spell is written as the bytes that it is made of.
        with self._path.open("a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(line + "\n")

    def _rewrite(self, choose: Callable[[list[bytes]], list[bytes]]) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []
        with atomic_file(self._path) as temporary:
            temporary.write_bytes(b"".join(choose(lines)))


@runtime_checkable  # for the type checks that tests make at run time
class Writer(Protocol):
    """What is used of ``torch.utils.tensorboard.SummaryWriter``."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Add a point to a curve."""
        ...

    def flush(self) -> None:
        """Write down what was added."""
        ...

    def close(self) -> None:
        """End the file."""
        ...


@final
class TensorBoardLog:
    """Writes the numbers of a run as event files of TensorBoard. Steps that are made again replace those of before.

    Args:
        make_writer: Makes a writer, and is told the first step that the files so far must not hold.
    """

    def __init__(self, make_writer: Callable[[int], Writer]) -> None:
        self._make_writer = make_writer

    def __call__(self, record: Record) -> None:
        """Add the numbers of one record."""
        match record:
            case StartRecord():
                self._writer = self._make_writer(record.step + 1)
            case RollbackRecord():
                self._writer.close()
                self._writer = self._make_writer(record.step + 1)
            case StepRecord():
                for name in ("loss", "nll", "learning_rate", "grad_norm", "tgt_tokens_per_s", "padding"):
                    self._writer.add_scalar(f"train/{name}", getattr(record, name), record.step)
            case ValidationRecord():
                for name, score in record.scores.items():
                    self._writer.add_scalar(f"dev/{name}", score, record.step)
                self._writer.flush()
            case StopRecord():
                self._writer.close()


def open_tensorboard(directory: Path) -> Listener:
    """Return a listener that writes event files of TensorBoard.

    Raises:
        MissingExtraError: TensorBoard is not installed.
    """
    require("tensorboard", extra="tensorboard", purpose="train.tensorboard = true")
    from torch.utils.tensorboard import SummaryWriter

    return TensorBoardLog(lambda step: SummaryWriter(str(directory), purge_step=step))


def _lines_before(lines: list[bytes], step: int) -> list[bytes]:
    """Return what stands when a run goes on behind a step: nothing when that is the beginning.

    Where the run had gone back to a checkpoint, what led there stands too: its steps have other numbers now.
    """
    if step == 0:
        return []
    marks = [_mark_of(line) for line in lines]
    start = max((place for place, (kind, to) in enumerate(marks) if kind == "rollback" and to <= step), default=0)
    return lines[:start] + [line for line in lines[start:] if _mark_of(line)[1] <= step]


def _without_numbers(lines: list[bytes], step: int) -> list[bytes]:
    """Return what stands when a run goes back to a step: all but the losses and scores behind it."""
    marks = [_mark_of(line) for line in lines]
    again = ("step", "validation", "")
    return [line for line, (kind, of) in zip(lines, marks, strict=True) if of <= step or kind not in again]


def _mark_of(line: bytes) -> tuple[str, float]:
    """Return the kind of a line and the step that it is about; no kind, and infinity, when it is not a whole line of ours."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else {}
        return str(record["kind"]), float(record["step"])
    except (ValueError, KeyError, TypeError):
        return "", math.inf


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
