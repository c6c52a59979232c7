"""The user's cache directory: what can be deleted at any time and is then made again.

Packed models lie in it (``native/packed.py``), and stamps: small files beside them or by themselves that say how a large file
looked (:func:`fingerprint`) when it was known to be right.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from transduce.base.files import atomic_file, sha256_file

__all__ = ["CACHE_VARIABLE", "cache_directory", "fingerprint", "forget_old", "has_sha256", "is_stamped", "stamp"]

CACHE_VARIABLE = "TRANSDUCE_CACHE"
"""Environment variable with the directory to use; empty: nothing is kept."""

_LARGE_BYTES = 4_000_000
"""Smaller files are read anew each time: that is as quick as to look whether it was done."""
_KEEP_S = 30 * 24 * 3600
_STAMPS = "*.stamp"
_STAMPED = "*.packed"


def cache_directory() -> Path | None:
    """Return the directory; None: nothing is to be kept."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "transduce"


def fingerprint(file: Path) -> str:
    """Return what changes when a file is touched: its size, inode and times of the last change, as in git's index."""
    status = file.stat()
    return f"{status.st_size} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}"


def stamp(mark: Path, file: Path) -> None:
    """Note in ``mark`` how a file looks that is right.

    Raises:
        OSError: The cache cannot be written.
    """
    mark.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(mark) as temporary:
        temporary.write_text(fingerprint(file), encoding="ascii")


def is_stamped(mark: Path, file: Path) -> bool:
    """Tell whether nobody has touched a file since it was stamped; if so, both are kept for another month."""
    try:
        untouched = mark.read_text(encoding="ascii") == fingerprint(file)
    except (OSError, UnicodeDecodeError):
        return False  # not there, or not ours
    if untouched:
        with suppress(OSError):  # a cache may be read-only
            os.utime(mark)
    return untouched


def forget_old(directory: Path) -> None:
    """Delete what nobody has used for a month; to be called where something new is written.

    Args:
        directory: From :func:`cache_directory`. Only files of the names that this program gives are looked at.
    """
    oldest = time.time() - _KEEP_S
    for mark in directory.glob(_STAMPS):
        with suppress(OSError):  # another process was quicker, or it is not ours to delete
            if mark.stat().st_mtime < oldest:
                mark.unlink()
    for file in directory.glob(_STAMPED):
        with suppress(OSError):
            if file.stat().st_mtime < oldest and not file.with_suffix(".stamp").exists():
                file.unlink()


def has_sha256(file: Path, expected: str) -> bool:
    """Tell whether a file has a SHA-256. A large file is not read again as long as nothing has touched it."""
    directory = cache_directory()
    if directory is None or file.stat().st_size < _LARGE_BYTES:
        return sha256_file(file) == expected
    mark = directory / f"{hashlib.sha256(f'{file.resolve()} {expected}'.encode()).hexdigest()[:32]}.stamp"
    if is_stamped(mark, file):
        return True
    if sha256_file(file) != expected:
        return False
    with suppress(OSError):  # a cache that cannot be written must not keep anybody from translating
        stamp(mark, file)
        forget_old(directory)
    return True
