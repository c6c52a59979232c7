"""Weights where they lie on the disk: a safetensors file as arrays over the mapped file, nothing read or copied.

The format is eight bytes with the length of a JSON header, the header (of each tensor its type, its shape, and where its
bytes begin and end after the header), and the bytes. Whatever the header says is checked against the size of the file.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import BundleError

__all__ = ["map_weights"]

_MOST_HEADER_BYTES = 100_000_000  # as in the format's own library
_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
"""How the numbers of a file are read, by their names in the format; numpy has no bfloat16."""


def map_weights(file: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Map the tensors of a safetensors file, by name.

    Processes that map the same file share its memory. The file may be replaced while it is mapped, but not overwritten.
    float16 and bfloat16, which others may have converted a bundle to, are read as the float32 that they stand for: a copy.

    Returns:
        Read-only arrays, each beginning at a multiple of four bytes.

    Raises:
        BundleError: The file cannot be read, is not safetensors, or holds numbers other than float32, float16 and bfloat16.
    """
    try:
        mapped = np.memmap(file, dtype=np.uint8, mode="r")
        header, start = _read_header(mapped)
        return {
            name: _view(mapped[start:], name, entry) for name, entry in sorted(header.items()) if name != "__metadata__"
        }
    except (ValueError, OSError) as error:  # numpy has a ValueError for an empty file
        raise BundleError(f"{file}: cannot be read as safetensors ({error}); copy or make the bundle again") from None


def _read_header(mapped: npt.NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Return the header, and where the tensors' bytes start."""
    length = int.from_bytes(mapped[:8].tobytes(), "little")
    start = 8 + length
    if mapped.size < 8 or length > _MOST_HEADER_BYTES or start > mapped.size:
        raise ValueError("its header is cut off or damaged")
    header = json.loads(mapped[8:start].tobytes())
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON object")
    return header, start


def _view(data: npt.NDArray[np.uint8], name: str, entry: Any) -> npt.NDArray[np.float32]:
    """Return the array of one entry of the header."""
    match entry:
        case {"dtype": ("F32" | "F16" | "BF16") as kind, "shape": [*shape], "data_offsets": [int(begin), int(end)]}:
            stored = _STORED[kind]
        case _:
            raise ValueError(f"the entry of {name!r} is not that of a float32, float16 or bfloat16 tensor")
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError(f"the shape of {name!r} is {shape}")
    if not 0 <= begin <= end <= data.size or end - begin != math.prod(shape) * stored.itemsize:
        raise ValueError(f"{name!r} does not fit the file")
    raw = np.ndarray(math.prod(shape), dtype=stored, buffer=data, offset=begin)
    # Headers are padded so that tensors are aligned; one of another program may not be.
    flat = _as_float32(raw if raw.flags.aligned else raw.copy(), kind)
    flat.flags.writeable = False
    return flat.reshape(shape)


def _as_float32(raw: npt.NDArray[Any], kind: str) -> npt.NDArray[np.float32]:
    if kind == "BF16":  # the upper half of a float32
        return (raw.astype("<u4") << 16).view("<f4")
    return raw.astype("<f4", copy=False)
