"""The user's cache directory: what can be deleted at any time and is then made again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from transduce.base.files import atomic_file, sha256_file

__all__ = ["CACHE_VARIABLE", "cache_directory", "has_sha256"]

CACHE_VARIABLE = "TRANSDUCE_CACHE"
"""Environment variable with the directory to use; empty: nothing is kept."""

_LARGE_BYTES = 4_000_000
"""Smaller files are read anew each time: that is as quick as to look whether it was done."""


def cache_directory() -> Path | None:
    """Return the directory; None: nothing is to be kept."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "transduce"


def has_sha256(file: Path, expected: str) -> bool:
    """Tell whether a file has a SHA-256. A large file is not read again as long as nothing has touched it.

    Untouched means: the same size, inode and time of the last change as when its sum was found right, as in git's index.
    """
    status = file.stat()
    directory = cache_directory()
    if directory is None or status.st_size < _LARGE_BYTES:
        return sha256_file(file) == expected
    name = hashlib.sha256(f"{file.resolve()}\n{expected}".encode()).hexdigest()[:32]
    stamp, seen = directory / f"{name}.checked", f"{status.st_size} {status.st_ino} {status.st_mtime_ns}"
    try:
        if stamp.read_text(encoding="ascii") == seen:
            return True
    except (OSError, UnicodeDecodeError):
        pass  # not there yet, or not ours: then the file is read
    if sha256_file(file) != expected:
        return False
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with atomic_file(stamp) as temporary:
            temporary.write_text(seen, encoding="ascii")
    except OSError:
        pass  # a cache that cannot be written must not keep anybody from translating
    return True
