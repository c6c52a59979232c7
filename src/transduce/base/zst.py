"""Reading ``.zst`` as a stream that notices when the file is cut off (zstandard's own reader ends in silence there)."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from transduce.base.extras import require

__all__ = ["ZstReader"]

_CHUNK_BYTES = 1 << 17


class ZstReader(io.RawIOBase):
    """The decompressed bytes of a stream of one or more zstd frames.

    Raises (while reading):
        EOFError: The data ends inside a frame, or is not zstd.
    """

    def __init__(self, packed: BinaryIO) -> None:
        self._zstandard = require("zstandard", extra="formats", purpose="Reading .zst files")
        self._packed = packed
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        """Say that this stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with decompressed bytes; 0 at the end."""
        while not self._ready:
            raw = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            raw = raw or self._packed.read(_CHUNK_BYTES)
            if not raw:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("the last frame is not complete")
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            try:
                self._ready = self._frame.decompress(raw)
            except self._zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
