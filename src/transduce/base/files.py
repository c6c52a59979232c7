"""Files: plain, ``.gz``, ``.zst`` or stdin alike, always UTF-8, always whole or not at all.

Lines end at LF or CRLF only. U+2028, U+0085, form feed and the like are ordinary characters of a line: every other
rule breaks the alignment of parallel files with every other tool.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from transduce.base.errors import DataError
from transduce.base.zst import ZstReader

__all__ = [
    "STDIN",
    "StrPath",
    "atomic_directory",
    "atomic_file",
    "check_readable",
    "check_writable_directory",
    "check_writable_file",
    "is_special",
    "locked_directory",
    "locked_file",
    "naming",
    "open_binary",
    "read_lines",
    "read_text",
    "sha256_file",
]

STDIN = Path("-")
"""The path that means standard input."""

StrPath = str | os.PathLike[str]
"""What the public functions take for a path."""

_BOM = b"\xef\xbb\xbf"
_CHUNK_BYTES = 1 << 20


def check_readable(path: Path) -> None:
    """Make sure that an input file is there before any work starts.

    Raises:
        DataError: The path does not exist, is a directory, or may not be read.
    """
    if path == STDIN:
        return
    if not path.exists():
        raise DataError(f"{path}: no such file; check the path (it is relative to {Path.cwd()})")
    if path.is_dir():
        raise DataError(f"{path}: this is a directory, and a file is needed")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path}: no permission to read this file")


def check_writable_directory(path: Path, *, advice: str = "choose another --out") -> None:
    """Make sure that a directory can be made or written before hours of work are put into it.

    Args:
        path: The directory.
        advice: How the message ends.

    Raises:
        DataError: The path is a file, or neither it nor its nearest existing parent can be written.
    """
    if path.exists() and not path.is_dir():
        raise DataError(f"{path}: this is a file, and the output needs a directory; {advice}")
    nearest = path
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise DataError(f"{path}: cannot be made, since {nearest} is a file; {advice}")
    import tempfile  # in the functions that write, since a translator only reads

    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}); {advice}") from None


def check_writable_file(path: Path) -> None:
    """Make sure that a file can be written, or replaced, before hours of work are put into it.

    Raises:
        DataError: The path is a directory, or the directory that it lies in can neither be made nor written.
    """
    if path.is_dir():
        raise DataError(f"{path}: this is a directory, and a file is to be written; choose another name")
    if is_special(path):
        if not os.access(path, os.W_OK):
            raise DataError(f"{path}: no permission to write this file; choose another name")
        return
    check_writable_directory(_real(path).parent, advice="choose another place")


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed by its suffix (``.gz``, ``.zst``); ``-`` is standard input.

    Raises:
        DataError: The file cannot be opened, or its compressed data is damaged.
    """
    check_readable(path)
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        elif path.suffix == ".gz":
            with _open_gzip(path) as stream:
                yield stream
        elif path.suffix == ".zst":
            with path.open("rb") as packed, io.BufferedReader(ZstReader(packed), _CHUNK_BYTES) as plain:
                yield cast(BinaryIO, plain)
        else:
            with path.open("rb") as stream:
                yield stream
    except EOFError as error:
        raise DataError(
            f"{path}: the compressed data is damaged or cut off ({error}); make or copy the file again"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


@contextmanager
def _open_gzip(path: Path) -> Iterator[BinaryIO]:
    """Open a ``.gz`` file; damaged data is an EOFError, as it is of :class:`ZstReader`."""
    import gzip  # here, since most files are plain
    import zlib

    try:
        with gzip.open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    except (gzip.BadGzipFile, zlib.error) as error:
        raise EOFError(str(error)) from None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their line ends.

    A byte order mark at the start is dropped. Text after the last newline is a line; nothing after it is none.

    Raises:
        DataError: The file cannot be read, or a line is not UTF-8 (the message names the line).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_bytes("one\\r\\ntwo\\u2028still two\\nthree".encode())
    >>> list(read_lines(path))
    ['one', 'two\\u2028still two', 'three']
    """
    for line in _read_raw_lines(path):
        if line.endswith("\n"):
            yield line[:-2] if line.endswith("\r\n") else line[:-1]
        else:
            yield line


def read_text(path: Path) -> str:
    """Return the whole of a UTF-8 text file, line ends as they are. A byte order mark at the start is dropped.

    Raises:
        DataError: As :func:`read_lines`.
    """
    return "".join(_read_raw_lines(path))


def _read_raw_lines(path: Path) -> Iterator[str]:
    name = "standard input" if path == STDIN else path
    with open_binary(path) as stream:
        for number, raw in enumerate(cast(IO[bytes], stream), start=1):
            line = raw[len(_BOM) :] if number == 1 and raw.startswith(_BOM) else raw
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{name}, line {number}: not UTF-8 (byte 0x{line[error.start]:02x} at column {error.start + 1}); "
                    f"convert the file first, for example: iconv -f latin1 -t utf-8"
                ) from None
            yield text


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and rename it into place when the block ends well.

    A reader sees the old file or the whole new one, never a part; after an error or a kill the old one stands. A symbolic
    link stays, and the file that it points to is replaced. What is no regular file (``/dev/null``, ``/dev/stdout``, a
    named pipe) is never replaced: it is written to as it is.

    Yields:
        The temporary path. It keeps the suffix, so that writers which look at it still work.
    """
    if is_special(path):
        yield path
        return
    import tempfile

    suffix = path.suffix
    path = _real(path)
    _make_directory(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=f".part{suffix}")
    os.close(handle)
    temporary = Path(name)
    try:
        with naming(path):
            yield temporary
            _sync(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """Give a temporary directory beside ``path`` to fill, and rename it into place when the block ends well.

    An existing directory is replaced as a whole. After an error nothing is left behind and the old one stands.
    Before the rename, every file and directory in it is on the disk, and after it the name is: a power cut at any moment
    leaves a whole directory or none under the name. A kill between the two renames of a replacement leaves the old one in
    ``.NAME-*.old/old``.
    """
    import shutil
    import tempfile

    _make_directory(path.parent)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-", suffix=".part"))
    try:
        with naming(path):
            yield temporary
        temporary.chmod(0o777 & ~_umask())
        for place in temporary.rglob("*"):
            if place.is_file():
                place.chmod(0o666 & ~_umask())  # some writers make files that only their owner may read
            _sync(place)
        _sync(temporary)
        if path.exists():
            old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-", suffix=".old"))
            path.replace(old / "old")
            temporary.replace(path)
            shutil.rmtree(old)
        else:
            temporary.replace(path)
        _sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Put a name into an error of the system that has none: a full disk is only noticed when bytes are written."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def is_special(path: Path) -> bool:
    """Tell whether a path is a device, a pipe or a socket: there, and neither a regular file nor a directory."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _real(path: Path) -> Path:
    """Return what a symbolic link points to in the end, be it there or not; other paths as they are."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def locked_directory(path: Path) -> Iterator[bool]:
    """Hold a directory for this process, with the lock file ``.lock`` in it; a process that dies lets go of it.

    Where the system or the file system has no such locks (Windows, some network drives), nothing is held.

    Yields:
        False: another process holds the directory.
    """
    handle = os.open(path / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _try_lock(handle)
    finally:
        os.close(handle)


@contextmanager
def locked_file(path: Path) -> Iterator[bool]:
    """Hold a file for this process, and make it where it is not there; a process that dies lets go of it.

    The file that has the name when the lock is got is held, also where another process has just renamed or removed the one
    that had it. As with :func:`locked_directory`, nothing is held where there are no such locks.

    Yields:
        False: another process holds the file.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            held = _try_lock(handle)
            if not held or _has_name(handle, path):
                yield held
                return
        finally:
            os.close(handle)


def _has_name(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _try_lock(handle: int) -> bool:
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _make_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing, so that their names are on the disk too."""
    missing = [place for place in (path, *path.parents) if not place.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for made in missing:
        _sync(made.parent)


def _sync(path: Path) -> None:
    """Ask the system to put a file, or a directory's entries, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
