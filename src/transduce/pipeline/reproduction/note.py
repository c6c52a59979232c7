"""``reproduction.json``: what a directory of a reproduction is for, so that nothing else is ever mixed with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from transduce.base.errors import DataError
from transduce.base.files import atomic_file, check_writable_directory, locked_directory, sha256_file
from transduce.base.plain import as_plain, from_plain
from transduce.paper.runs import Pair
from transduce.paper.scale import Scale
from transduce.pipeline.reproduction.plan import TableName

__all__ = ["NOTE_FILE", "Purpose", "check_data_unchanged", "check_purpose", "held_directory", "write_note"]

NOTE_FILE = "reproduction.json"


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """What a directory is for."""

    table: TableName | Literal["table4"]
    scale: Scale
    data: str | None
    """Prepared data of the user's, or the treebanks; None: the scale's own corpus."""

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self.table}, {self.scale} scale" + (f", on {self.data}" if self.data is not None else "")


@dataclass(frozen=True, kw_only=True)
class _Note:
    purpose: Purpose
    fingerprints: dict[str, str]
    """Of the prepared data, by task."""


def check_purpose(out: Path, purpose: Purpose) -> None:
    """Make sure that a directory is new, or for the same.

    Raises:
        DataError: It is for something else, or nobody knows for what.
    """
    there = _read(out)
    if there is None and any(out.glob("runs/*")):
        raise DataError(f"{out}: holds runs, but no {NOTE_FILE} that says of what; choose another --out")
    if there is not None and there.purpose != purpose:
        raise DataError(f"{out}: holds a reproduction of {there.purpose}; go on with the same, or choose another --out")


@contextmanager
def held_directory(out: Path, purpose: Purpose) -> Iterator[None]:
    """Make a directory, keep any other process from it, and make sure that it is new or for the same.

    Raises:
        DataError: It cannot be written, another process works in it, or it is for something else.
    """
    check_writable_directory(out)
    out.mkdir(parents=True, exist_ok=True)
    with locked_directory(out) as is_held:
        if not is_held:
            raise DataError(f"{out}: another process is working here; wait for it, or choose another --out")
        check_purpose(out, purpose)
        yield


def check_data_unchanged(out: Path, data: Mapping[Pair, Path]) -> None:
    """Make sure that the runs in a directory have learned from the data that is there now: others cannot be compared.

    Args:
        out: The directory.
        data: Prepared data, by task.

    Raises:
        DataError: It was prepared anew, and differs.
    """
    there = _read(out)
    for task, path in data.items() if there is not None and any(out.glob("runs/*")) else ():
        if there is not None and there.fingerprints.get(task) not in (None, _fingerprint(path)):
            raise DataError(f"{path}: is no longer the data that the runs in {out} learned from; choose another --out")


def write_note(out: Path, purpose: Purpose, data: Mapping[Pair, Path]) -> None:
    """Note what a directory is for. The data of tasks of an earlier call stays noted.

    Args:
        out: The directory.
        purpose: What it is for.
        data: Prepared data, by task.
    """
    there = _read(out)
    earlier = {} if there is None else there.fingerprints
    note = _Note(purpose=purpose, fingerprints=earlier | {task: _fingerprint(path) for task, path in data.items()})
    with atomic_file(out / NOTE_FILE) as temporary:
        temporary.write_text(json.dumps(as_plain(note), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(out: Path) -> _Note | None:
    path = out / NOTE_FILE
    if not path.exists():
        return None
    try:
        return from_plain(_Note, json.loads(path.read_bytes()))
    except (OSError, ValueError):
        raise DataError(f"{path}: cannot be read, or is damaged; choose another --out") from None


def _fingerprint(data: Path) -> str:
    """Return what tells prepared data from other data: its counts, its vocabularies, and the texts that are scored."""
    files = sorted([*data.glob("*/store.json"), *data.glob("*/*.txt")])
    lines = (f"{file.relative_to(data).as_posix()} {sha256_file(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
