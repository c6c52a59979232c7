"""Fetching one file: resumed where it broke off, checked before it counts."""

from __future__ import annotations

import functools
import gzip
import http.client
import io
import tarfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from transduce.base.errors import DataError
from transduce.base.files import atomic_file, sha256_file
from transduce.data.corpora.catalog import Download

__all__ = ["ProgressCallback", "fetch"]

ProgressCallback = Callable[[str, int, int | None], None]
"""Is told the name of the file, the bytes that are there, and all bytes where the server says so."""

_CHUNK_BYTES = 1 << 18
_TIMEOUT_S = 60.0
_PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 206, 416


_Report = Callable[[int, int | None], None]
"""A :data:`ProgressCallback` that knows the name already."""


@dataclass(frozen=True)
class _Source:
    """Bytes to be had: the whole file, or its rest from ``start`` on."""

    stream: io.BufferedIOBase  # a file, or an answer of a server
    origin: str
    start: int
    total: int | None


def fetch(download: Download, folder: Path, *, mirror: str | None, progress: ProgressCallback) -> Path:
    """Bring a file into a folder, unless it is there and right already.

    A broken download goes on where it stopped. The file gets its name only when it is complete and its SHA-256 is right.
    Where no SHA-256 is known, the archive must be readable to its end, and its SHA-256 is kept beside it, so that damage
    to it is seen later.

    Args:
        download: What to fetch.
        folder: Where to.
        mirror: A directory or an address to take the file from in place of its own address. It lies there under the
            last part of its own address; in a directory, also under its name here.
        progress: Is told how far it is.

    Returns:
        The file.

    Raises:
        DataError: The file cannot be fetched or written, or is not the one that it should be.
    """
    target = folder / download.name
    note = folder / f"{download.name}.sha256"
    noted = note.read_text(encoding="utf-8").strip() if note.is_file() else None
    if target.is_file() and sha256_file(target) == (download.sha256 or noted):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{download.name}.partial"
    source = _locate(download, mirror)
    report = functools.partial(progress, download.name)
    if isinstance(source, Path):
        _copy_file(source, partial, report)
    else:
        _fetch_url(source, partial, report)
    found = sha256_file(partial)
    if download.sha256 is None:
        _check_whole(partial, str(source))
        with _writing(note), atomic_file(note) as temporary:
            temporary.write_text(f"{found}\n", encoding="utf-8")
    elif found != download.sha256:
        partial.unlink()
        raise DataError(
            f"{source}: this is not the file that is expected (SHA-256 {found[:16]}..., should be "
            f"{download.sha256[:16]}...), and it was removed; try again, or use --from with a good copy"
        )
    partial.replace(target)
    return target


def _check_whole(partial: Path, origin: str) -> None:
    """Read an archive to its end, past the checksums that it holds itself: all there is where no SHA-256 is known."""
    try:
        if partial.stat().st_size == 0:
            raise EOFError  # which gzip would take for a text of no bytes
        if partial.stem.endswith(".tar"):
            with tarfile.open(partial) as tar:
                tar.getmembers()
        elif partial.stem.endswith((".tgz", ".gz")):
            with gzip.open(partial) as stream:
                while stream.read(_CHUNK_BYTES):
                    pass
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile):
        partial.unlink()
        raise DataError(
            f"{origin}: the file is damaged or not complete, and it was removed; try again, or use --from with a good copy"
        ) from None


def _locate(download: Download, mirror: str | None) -> Path | str:
    """Return the file of a local mirror, or the address to fetch from."""
    last = urlsplit(download.url).path.rsplit("/", 1)[-1]
    if mirror is None:
        return download.url
    if urlsplit(mirror).scheme in ("http", "https"):
        return f"{mirror.rstrip('/')}/{last}"
    if not Path(mirror).is_dir():
        raise DataError(f"{mirror}: no such directory; --from takes a directory, or an address (http:// or https://)")
    for name in (last, download.name):
        if (Path(mirror) / name).is_file():
            return Path(mirror) / name
    raise DataError(f"{mirror}: there is no {last} in this directory (--from), and it is needed")


def _copy_file(path: Path, partial: Path, report: _Report) -> None:
    with _reading(str(path)):
        stream = path.open("rb")
    with stream:
        _save(_Source(stream, str(path), 0, path.stat().st_size), partial, report)


def _fetch_url(url: str, partial: Path, report: _Report) -> None:
    """Fetch what is missing of a file, or all of it where the server knows no ranges."""
    there = partial.stat().st_size if partial.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={there}-"} if there else {})
    try:
        with _reading(url):
            response = urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        with error:
            if error.code != _RANGE_NOT_SATISFIABLE or not there:
                raise DataError(
                    f"{url}: the server answers {error.code} {error.reason}; use --from with a mirror"
                ) from None
            complete = error.headers.get("Content-Range") == f"bytes */{there}"
    else:
        with response:
            start = there if response.status == _PARTIAL_CONTENT else 0
            _check_answer(response, url, start)
            length = response.headers.get("Content-Length")
            total = start + int(length) if length is not None else None
            _save(_Source(response, url, start, total), partial, report)
        return
    if complete:
        report(there, there)
    else:
        partial.unlink()  # as long as the file or longer, and not the file: something else
        _fetch_url(url, partial, report)


def _check_answer(response: http.client.HTTPResponse, url: str, start: int) -> None:
    """Refuse an answer that would spoil the bytes that are there."""
    if response.headers.get_content_type() == "text/html":
        raise DataError(
            f"{url}: the server answers with a web page, not with the file (a log-in page of the network, or the file "
            "has moved); open the address in a browser, or use --from with a mirror"
        )
    sent = response.headers.get("Content-Range", "")
    if start and not sent.startswith(f"bytes {start}-"):
        raise DataError(
            f"{url}: the server sends '{sent}' where bytes from {start} on were asked for; use another --from"
        )


def _save(source: _Source, partial: Path, report: _Report) -> None:
    """Write what a source gives behind the bytes that are there, and see that it is all."""
    there = source.start
    with _writing(partial), partial.open("ab" if there else "wb") as stream:
        for chunk in _chunks(source):
            stream.write(chunk)
            there += len(chunk)
            report(there, source.total)
    if source.total is None:
        report(there, there)
    elif there < source.total:
        raise DataError(
            f"{source.origin}: the connection broke off at {there:,} of {source.total:,} bytes; "
            "call again to go on from there"
        )


def _chunks(source: _Source) -> Iterator[bytes]:
    left = None if source.total is None else source.total - source.start
    while left != 0:  # a server may leave the connection open after the last byte: never ask for more
        with _reading(source.origin):
            chunk = source.stream.read1(_CHUNK_BYTES if left is None else min(left, _CHUNK_BYTES))
        if not chunk:
            return
        left = None if left is None else left - len(chunk)
        yield chunk


@contextmanager
def _reading(origin: str) -> Iterator[None]:
    """Turn what goes wrong at the source into one sentence. An answer with an error code is left to the caller."""
    try:
        yield
    except (urllib.error.HTTPError, DataError):
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DataError(
            f"{origin}: cannot be fetched ({reason}); call again to go on, or use --from with a mirror"
        ) from None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn a full disk and the like into one sentence."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); mend that, and the same command goes on from there"
        ) from None
