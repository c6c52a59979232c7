"""What was read, as it was then: enough to tell later whether it has changed."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from transduce.base.files import STDIN

__all__ = ["InputVersion", "code_version", "file_version"]


@dataclass(frozen=True)
class InputVersion:
    """One input. Equal values mean that reading it again gives the same."""

    name: str
    """The absolute path of a file, or the name of a corpus that is made on the spot."""
    version: str
    """Size and time of the last change of a file; a checksum for a corpus that is made on the spot."""


def file_version(path: Path) -> InputVersion:
    """Return the version of a file. That of standard input is never the same twice."""
    if path == STDIN:
        return InputVersion("standard input", f"read at {time.time_ns()} ns")
    stat = path.stat()
    # The locale decides how a name that is not ASCII is decoded, and it may be no text at all; here it always is.
    name = os.fsencode(path.resolve()).decode("utf-8", errors="backslashreplace")
    return InputVersion(name, f"{stat.st_size} bytes, changed at {stat.st_mtime_ns} ns")


def code_version(name: str, folder: Path) -> InputVersion:
    """Return the version of a corpus that the Python files of a folder make: the checksum of those files.

    Reading them takes far less time than making the corpus does.
    """
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
    return InputVersion(name, f"sha256 {digest.hexdigest()}")
