"""The lines of text in a download, whatever they are packed in."""

from __future__ import annotations

import gzip
import html
import io
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from transduce.base.errors import DataError

__all__ = ["open_lines"]

_BOM = b"\xef\xbb\xbf"
_BUFFER_BYTES = 1 << 20
_SEGMENT = re.compile(r"<seg[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)
# With its semicolon: without one it is an ampersand of the text ("AT&T", "Q&A").
_ENTITY = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);")
# Only these, since a sentence may start with "<" too; both sides would no longer be parallel without it.
_TAG_LINE = re.compile(r"\s*</?(?:doc|url|keywords|speaker|talkid|title|description|reviewer|translator)\b")


@contextmanager
def open_lines(archive: Path, member: str) -> Iterator[Iterator[str]]:
    """Open a text as its lines, without their ends. Only LF and CRLF end a line.

    The suffix of the text's name says how it is read. ``.sgm`` and ``.xml``: what the ``<seg>`` elements hold, each as
    one line, entities replaced. ``train.tags.*``: the lines that are not tags. ``.gz``: unpacked first. All else: as it
    is. A byte order mark at the start is dropped.

    Args:
        archive: The downloaded file.
        member: The text in that file, a tar archive packed in any way; nothing when the file is the text itself.

    Yields:
        The lines. Reading them raises the errors below too.

    Raises:
        DataError: The archive is damaged or holds no such text, or the text is not UTF-8.
    """
    origin = f"{archive}: {member}" if member else str(archive)
    name = member or archive.name
    with ExitStack() as stack:
        with _reading(origin):
            stream: io.BufferedIOBase = stack.enter_context(archive.open("rb"))
            if member:
                tar = stack.enter_context(tarfile.open(fileobj=stream))
                stream = stack.enter_context(_find_member(tar, member, origin))
            if name.endswith(".gz"):
                stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        yield _pick(_decoded(_raw_lines(stream, origin), origin), name.removesuffix(".gz"))


def _pick(lines: Iterator[str], name: str) -> Iterator[str]:
    """Keep of the lines of a file what is text."""
    if name.endswith((".sgm", ".xml")):
        return _segments("\n".join(lines))
    if name.rsplit("/", 1)[-1].startswith("train.tags."):
        return (line.strip() for line in lines if not _TAG_LINE.match(line))
    return lines


def _find_member(tar: tarfile.TarFile, member: str, origin: str) -> io.BufferedIOBase:
    """Open a file of a tar archive by its name. Nothing is unpacked to disk, so no name in it can do harm."""
    for entry in tar:
        if entry.isfile() and entry.name.removeprefix("./") == member:
            return cast(io.BufferedIOBase, tar.extractfile(entry))
    raise DataError(f"{origin} is not in this archive; remove the archive and fetch it again")


def _raw_lines(stream: io.BufferedIOBase, origin: str) -> Iterator[bytes]:
    with _reading(origin):
        yield from io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER_BYTES)


def _decoded(raw: Iterator[bytes], origin: str) -> Iterator[str]:
    for number, line in enumerate(raw, start=1):
        try:
            text = (line.removeprefix(_BOM) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{origin}, line {number}: not UTF-8 (byte 0x{line[error.start]:02x}); use --from with a good copy"
            ) from None
        yield text.removesuffix("\n").removesuffix("\r")


def _segments(text: str) -> Iterator[str]:
    # Not an XML parser: several of these files are not well-formed (bare ampersands).
    for found in _SEGMENT.finditer(text):
        # Entities first: one of them may be a line break, and a pair is one line on each side.
        plain = _ENTITY.sub(lambda entity: html.unescape(entity[0]), found[1])
        yield re.sub(r"[ \t\r\n]+", " ", plain).strip(" ")


@contextmanager
def _reading(origin: str) -> Iterator[None]:
    """Turn a damaged archive into one sentence."""
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, OSError):
        # Their own words are of no use to a reader: the one for a wrong kind of archive is ten lines long.
        raise DataError(f"{origin}: the archive is damaged or cut off; remove it and fetch it again") from None
