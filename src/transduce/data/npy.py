"""Writing a ``.npy`` file whose length is not known until its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NpyWriter"]

_HEADER_BYTES = 128
"""The format wants a multiple of 64. With 128 there is room for every length, so that the header can be rewritten in place."""


class NpyWriter:
    """Appends to a one-dimensional ``.npy`` file (format 1.0, little-endian), which ``np.load`` can then map.

    The header holds the number of items, so it is written once as a place holder and again by :meth:`close`.

    Args:
        path: The file to write; an existing one is replaced.
        dtype: The type of the items.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.npy"
    >>> writer = NpyWriter(path, np.dtype(np.uint16))
    >>> writer.append(np.array([1, 2])); writer.append(np.array([3])); writer.close()
    >>> np.load(path, mmap_mode="r").tolist()
    [1, 2, 3]
    """

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.n_items = 0
        """Items written so far."""
        self._dtype = dtype.newbyteorder("<")
        self._stream = path.open("wb")
        self._stream.write(_header(self._dtype, 0))

    def append(self, items: npt.NDArray[Any]) -> None:
        """Write the items of a one-dimensional array after the ones already written."""
        self._stream.write(np.ascontiguousarray(items, dtype=self._dtype).data)
        self.n_items += len(items)

    def close(self) -> None:
        """Put the final length into the header and close the file."""
        with self._stream:
            self._stream.seek(0)
            self._stream.write(_header(self._dtype, self.n_items))


def _header(dtype: np.dtype[Any], n_items: int) -> bytes:
    """Return the header that the format's definition asks for, always of the same size."""
    fields = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({n_items},), }}"
    magic = b"\x93NUMPY\x01\x00"
    size = _HEADER_BYTES - len(magic) - 2
    return magic + size.to_bytes(2, "little") + fields.ljust(size - 1).encode("latin1") + b"\n"
