"""Packed models, kept: packing the weights takes longer than translating a sentence, and a mapped file is shared.

A packed model lies in the user's cache directory (``base/cache.py``) under a name that says what it was made from and for.
It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from transduce.base.cache import cache_directory, forget_old, is_stamped, stamp
from transduce.base.files import atomic_file
from transduce.native.library import library_sha256
from transduce.native.model import InstructionSet, NativeModel
from transduce.native.weights import NativePrecision, OrderedWeights, Shape

__all__ = ["pack_in_memory", "packed_model"]


def pack_in_memory(
    shape: Shape, weights: OrderedWeights, *, precision: NativePrecision, isa: InstructionSet
) -> NativeModel:
    """Open a model from its weights, keeping nothing on the disk."""
    block = np.zeros(NativeModel.packed_size(shape, precision=precision, isa=isa), dtype=np.uint8)
    NativeModel.pack(shape, weights, block, precision=precision, isa=isa)
    return NativeModel(shape, block, precision=precision, isa=isa)


def packed_model(
    shape: Shape, weights: OrderedWeights, sha256: str, *, precision: NativePrecision, isa: InstructionSet
) -> NativeModel:
    """Open a model from its packed file, which is made if it is not there.

    Args:
        shape: Of the model.
        weights: In the library's order; read only if they must be packed.
        sha256: Of the file of weights: the same weights are packed once.
        precision: Of the matrix products.
        isa: The kernels.
    """
    directory = cache_directory()
    if directory is None:
        return pack_in_memory(shape, weights, precision=precision, isa=isa)
    file = directory / f"{_key(shape, sha256, precision, isa)}.packed"
    size = NativeModel.packed_size(shape, precision=precision, isa=isa)
    try:
        if not is_stamped(file.with_suffix(".stamp"), file):  # not there, or touched: then it is made anew
            _write(file, size, shape, weights, precision, isa)
        block = np.memmap(file, dtype=np.uint8, mode="r")
    except OSError as error:  # a cache that cannot be written must not keep anybody from translating
        from transduce.base.log import logger  # here, since it is seldom needed

        logger.debug("packed models cannot be kept in %s (%s)", directory, error)
        return pack_in_memory(shape, weights, precision=precision, isa=isa)
    return NativeModel(shape, block, precision=precision, isa=isa)


def _key(shape: Shape, sha256: str, precision: NativePrecision, isa: InstructionSet) -> str:
    """Name a packed model by all that it is made from: weights, shape, kernels, type, and the library that packs it."""
    text = "\n".join([sha256, repr(shape), isa.name, precision, library_sha256()])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _write(
    file: Path,
    size: int,
    shape: Shape,
    weights: OrderedWeights,
    precision: NativePrecision,
    isa: InstructionSet,
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    forget_old(file.parent)
    with atomic_file(file) as temporary:
        if hasattr(os, "posix_fallocate"):
            with temporary.open("wb") as stream:  # a full disk is an error here, and not a crash at the first page
                os.posix_fallocate(stream.fileno(), 0, size)
            block = np.memmap(temporary, dtype=np.uint8, mode="r+")  # a new file is all zeros
            NativeModel.pack(shape, weights, block, precision=precision, isa=isa)
            block.flush()
        else:
            in_memory = np.zeros(size, dtype=np.uint8)
            NativeModel.pack(shape, weights, in_memory, precision=precision, isa=isa)
            temporary.write_bytes(in_memory.data)
    stamp(file.with_suffix(".stamp"), file)
