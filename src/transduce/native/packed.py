"""Packed models, kept: packing the weights takes longer than translating a sentence, and a mapped file is shared.

A packed model lies in the user's cache directory under a name that says what it was made from and for. It can be deleted at
any time; what has not been used for a month is deleted when another one is written (``base/cache.py`` says where it lies).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.cache import cache_directory
from transduce.base.files import atomic_file
from transduce.base.log import logger
from transduce.native.library import find_library
from transduce.native.model import InstructionSet, NativeModel
from transduce.native.weights import Shape

__all__ = ["pack_in_memory", "packed_model"]

_KEEP_S = 30 * 24 * 3600

Weights = Sequence[npt.NDArray[np.float32]]


def pack_in_memory(shape: Shape, weights: Weights, *, in_bytes: bool, isa: InstructionSet) -> NativeModel:
    """Open a model from its weights, keeping nothing on the disk."""
    block = np.zeros(NativeModel.packed_size(shape, in_bytes=in_bytes, isa=isa), dtype=np.uint8)
    NativeModel.pack(shape, weights, block, in_bytes=in_bytes, isa=isa)
    return NativeModel(shape, block, in_bytes=in_bytes, isa=isa)


def packed_model(shape: Shape, weights: Weights, sha256: str, *, in_bytes: bool, isa: InstructionSet) -> NativeModel:
    """Open a model from its packed file, which is made if it is not there.

    Args:
        shape: Of the model.
        weights: In the library's order; read only if they must be packed.
        sha256: Of the file of weights: the same weights are packed once.
        in_bytes: True: matrix products in int8.
        isa: The kernels.
    """
    directory = cache_directory()
    if directory is None:
        return pack_in_memory(shape, weights, in_bytes=in_bytes, isa=isa)
    file = directory / f"{_key(shape, sha256, in_bytes, isa)}.packed"
    size = NativeModel.packed_size(shape, in_bytes=in_bytes, isa=isa)
    try:
        if not file.is_file() or file.stat().st_size != size:
            _write(file, size, shape, weights, in_bytes, isa)
        os.utime(file)  # it is in use
        block = np.memmap(file, dtype=np.uint8, mode="r")
    except OSError as error:  # a cache that cannot be written must not keep anybody from translating
        logger.debug("packed models cannot be kept in %s (%s)", directory, error)
        return pack_in_memory(shape, weights, in_bytes=in_bytes, isa=isa)
    return NativeModel(shape, block, in_bytes=in_bytes, isa=isa)


def _key(shape: Shape, sha256: str, in_bytes: bool, isa: InstructionSet) -> str:
    """Name a packed model by all that it is made from: weights, shape, kernels, type, and the library that packs it."""
    library = find_library()
    made = "" if library is None else str(library.stat().st_mtime_ns) + str(library.stat().st_size)
    text = "\n".join([sha256, repr(shape), isa.name, str(in_bytes), made])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _write(
    file: Path,
    size: int,
    shape: Shape,
    weights: Weights,
    in_bytes: bool,
    isa: InstructionSet,
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    _forget_old(file.parent)
    with atomic_file(file) as temporary:
        if hasattr(os, "posix_fallocate"):
            with temporary.open("wb") as stream:  # a full disk is an error here, and not a crash at the first page
                os.posix_fallocate(stream.fileno(), 0, size)
            block = np.memmap(temporary, dtype=np.uint8, mode="r+")  # a new file is all zeros
            NativeModel.pack(shape, weights, block, in_bytes=in_bytes, isa=isa)
            block.flush()
        else:
            in_memory = np.zeros(size, dtype=np.uint8)
            NativeModel.pack(shape, weights, in_memory, in_bytes=in_bytes, isa=isa)
            temporary.write_bytes(in_memory.data)


def _forget_old(directory: Path) -> None:
    oldest = time.time() - _KEEP_S
    for file in [*directory.glob("*.packed"), *directory.glob("*.checked")]:
        if file.stat().st_mtime < oldest:
            file.unlink(missing_ok=True)
