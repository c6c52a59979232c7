"""The door to the C++ library: a model, sessions over it, and whole searches; numpy arrays in and out.

Every function here checks nothing that the library checks itself: ids, lengths and positions out of range come back as a
:class:`ValueError` with the library's words.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_float, c_int32, c_int64, c_void_p
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.base.errors import NativeUnavailableError
from transduce.native.library import load_library
from transduce.native.weights import NativePrecision, Shape

__all__ = ["Found", "InstructionSet", "NativeModel", "NativeSession", "instruction_sets"]

_ABI = 3
"""The version of ``src/api.h`` that this file speaks."""

_POLL_MS = 100
"""How often a running search looks whether Python wants to stop (Ctrl-C)."""

_NO_LOG_PROBABILITY = -2
"""What ``transduce_search_wait`` returns when the model computes something that is no log-probability."""

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Block = npt.NDArray[np.uint8]


class InstructionSet(NamedTuple):
    """Kernels that this machine can run."""

    number: int
    """How the library calls it; 0 is the fastest."""
    name: str
    columns: int
    """Widths are padded to multiples of this."""


class Found(NamedTuple):
    """The hypotheses of a search, sentence after sentence, the best of each first."""

    counts: Int32
    """``[sentences]``: hypotheses of each."""
    lengths: Int32
    """``[hypotheses]``: tokens of each, EOS not counted."""
    ids: Int32
    """The tokens of all of them, one after the other."""
    log_probs: Float64
    """``[hypotheses]``."""
    scores: Float64
    """``[hypotheses]``."""


class _CShape(ctypes.Structure):
    _fields_ = [(name, c_int32) for name in Shape._fields]


@cache
def _library() -> ctypes.CDLL:
    """Load the library and tell ctypes what its functions return (their arguments are checked by type below)."""
    library = load_library()
    try:
        found = library.transduce_abi()
    except AttributeError:
        found = None
    if found != _ABI:
        raise NativeUnavailableError(
            f"{library._name}: this native library belongs to another version of transduce; install transduce again"
        )
    for name in ("transduce_error", "transduce_isa"):
        getattr(library, name).restype = c_char_p
    for name in ("transduce_open", "transduce_session"):
        getattr(library, name).restype = c_void_p
    library.transduce_packed_size.restype = c_int64
    return library


def _pointer(array: npt.NDArray[Any] | None) -> c_void_p:
    return c_void_p(None if array is None else array.ctypes.data)


def _failure() -> ValueError:
    return ValueError(_library().transduce_error().decode())


def _check(code: int) -> None:
    if code < 0:
        raise _failure()


def _close_with(owner: object, close: Callable[[c_void_p], None], handle: c_void_p) -> None:
    """Free what the library holds for an object when the object goes. Not at the end of the process: a thread may use it."""
    weakref.finalize(owner, close, handle).atexit = False


@cache
def instruction_sets() -> tuple[InstructionSet, ...]:
    """Return the kernels that this machine can run, the fastest first."""
    library = _library()
    found: list[InstructionSet] = []
    while (name := library.transduce_isa(len(found))) is not None:
        found.append(InstructionSet(len(found), name.decode(), library.transduce_columns(len(found))))
    return tuple(found)


def _flat(sentences: Sequence[Sequence[int]]) -> tuple[Int64, Int32]:
    """Put sentences one after the other: ids and lengths."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int32)
    ids = np.fromiter((token for sentence in sentences for token in sentence), dtype=np.int64, count=int(lengths.sum()))
    return ids, lengths


def _check_pairs(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> None:
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources but {len(targets)} targets")


class NativeModel:
    """A model that the library has opened. Threads may share it.

    Args:
        shape: Of the model.
        block: From :meth:`pack`, of the same shape, instruction set and precision.
        precision: Of the matrix products.
        isa: The kernels.
    """

    def __init__(self, shape: Shape, block: Block, *, precision: NativePrecision, isa: InstructionSet) -> None:
        library = _library()
        handle = library.transduce_open(
            ctypes.byref(_CShape(*shape)), isa.number, int(precision == "int8"), _pointer(block)
        )
        if handle is None:
            raise _failure()
        self.shape = shape
        self.isa = isa
        self.precision = precision
        self.handle = c_void_p(handle)
        self._block = block  # the library reads it for as long as the model is open
        _close_with(self, library.transduce_close, self.handle)

    @staticmethod
    def packed_size(shape: Shape, *, precision: NativePrecision, isa: InstructionSet) -> int:
        """Return the bytes of a packed model."""
        size = int(
            _library().transduce_packed_size(ctypes.byref(_CShape(*shape)), isa.number, int(precision == "int8"))
        )
        _check(min(size, 0))
        return size

    @staticmethod
    def pack(
        shape: Shape, weights: Sequence[Float32], block: Block, *, precision: NativePrecision, isa: InstructionSet
    ) -> None:
        """Fill a block of zeros with weights in the layout of the kernels.

        Args:
            shape: Of the model.
            weights: From :func:`~transduce.native.weights.ordered_weights`.
            block: ``[packed_size]``, all zero.
            precision: As in the constructor.
            isa: As in the constructor.
        """
        pointers = (POINTER(c_float) * len(weights))(*[w.ctypes.data_as(POINTER(c_float)) for w in weights])
        _check(
            _library().transduce_pack(
                ctypes.byref(_CShape(*shape)), isa.number, int(precision == "int8"), pointers, _pointer(block)
            )
        )

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], n_threads: int) -> Float32:
        """Return the log-probabilities of all target tokens and EOS, pair after pair."""
        _check_pairs(sources, targets)
        src, src_lengths = _flat(sources)
        tgt, tgt_lengths = _flat(targets)
        log_probs = np.empty(len(tgt) + len(targets), dtype=np.float32)
        sides = (_pointer(src), _pointer(src_lengths), _pointer(tgt), _pointer(tgt_lengths))
        _check(_library().transduce_score(self.handle, n_threads, *sides, len(sources), _pointer(log_probs)))
        return log_probs

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int, n_threads: int
    ) -> list[Float32]:
        """Return ``[target + 1, source + 1]`` for each pair: where one decoder layer looks, the mean over its heads."""
        _check_pairs(sources, targets)
        src, src_lengths = _flat(sources)
        tgt, tgt_lengths = _flat(targets)
        shapes = [(int(t) + 1, int(s) + 1) for s, t in zip(src_lengths, tgt_lengths, strict=True)]
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        weights = np.empty(int(ends[-1]) if shapes else 0, dtype=np.float32)
        sides = (_pointer(src), _pointer(src_lengths), _pointer(tgt), _pointer(tgt_lengths))
        _check(
            _library().transduce_cross_attention(self.handle, n_threads, *sides, len(sources), layer, _pointer(weights))
        )
        parts = np.split(weights, ends[:-1]) if shapes else []
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def search(
        self,
        sources: Sequence[Sequence[int]],
        minima: Int64,
        limits: Int64,
        penalties: Float64,
        *,
        beam_size: int,
        n_best: int,
        n_threads: int,
        rows: int,
        shortlists: Sequence[Int64] | None = None,
    ) -> Found:
        """Search for the best hypotheses of sentences.

        Args:
            sources: Ids without EOS.
            minima: ``[sentences]``: fewest tokens of a hypothesis, EOS not counted.
            limits: ``[sentences]``: most tokens.
            penalties: ``[max(limits) + 2]``: what the log-probability of so many tokens, EOS counted, is divided by.
            beam_size: Hypotheses kept at each step.
            n_best: Hypotheses wanted.
            n_threads: Threads to use.
            rows: About so many hypotheses are computed together by one thread.
            shortlists: For each sentence the target ids that it may use, ascending, all control ids among them.

        Raises:
            ValueError: Something is out of range.
            ArithmeticError: The model gives numbers that are no log-probabilities; the message is the number.
            RuntimeError: The machine gives no more memory or threads.
        """
        library = _library()
        n = len(sources)
        ids, lengths = _flat(sources)
        shortest, longest = (np.ascontiguousarray(bounds, dtype=np.int32) for bounds in (minima, limits))
        listed = list_lengths = None
        if shortlists is not None:
            listed = np.concatenate(shortlists).astype(np.int32)
            list_lengths = np.array([len(shortlist) for shortlist in shortlists], dtype=np.int32)
        search = c_void_p()
        try:
            # The library sets the handle: Ctrl-C may come between its return and the next line of Python.
            _check(
                library.transduce_search(
                    self.handle,
                    *(n_threads, beam_size, n_best, rows),
                    *(_pointer(ids), _pointer(lengths), _pointer(shortest), _pointer(longest), n),
                    *(_pointer(penalties), len(penalties), _pointer(listed), _pointer(list_lengths)),
                    ctypes.byref(search),
                )
            )
            while not (done := library.transduce_search_wait(search, _POLL_MS)):
                pass  # Python's signal handlers run here; an exception of theirs stops the search below
            if done == _NO_LOG_PROBABILITY:
                raise ArithmeticError(library.transduce_error().decode())
            if done < 0:
                raise RuntimeError(f"the search failed: {library.transduce_error().decode()}")
            counts, total = np.empty(n, dtype=np.int32), c_int64()
            library.transduce_search_sizes(search, n, _pointer(counts), ctypes.byref(total))
            n_found = int(counts.sum())
            found = Found(
                counts=counts,
                lengths=np.empty(n_found, dtype=np.int32),
                ids=np.empty(total.value, dtype=np.int32),
                log_probs=np.empty(n_found),
                scores=np.empty(n_found),
            )
            library.transduce_search_results(search, n, *(_pointer(array) for array in found[1:]))
            return found
        finally:
            if search:
                library.transduce_search_close(search)


class NativeSession:
    """The state of one search that is done step by step from outside.

    Args:
        model: The model.
        n_threads: Threads to use.
    """

    def __init__(self, model: NativeModel, n_threads: int) -> None:
        library = _library()
        handle = library.transduce_session(model.handle, n_threads)
        if handle is None:
            raise _failure()
        self._model = model
        self._handle = c_void_p(handle)
        _close_with(self, library.transduce_session_close, self._handle)

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row."""
        ids, lengths = _flat(sources)
        _check(_library().transduce_session_add(self._handle, _pointer(ids), _pointer(lengths), len(sources)))

    def step(self, parents: Int64, ids: Int64, k: int) -> tuple[Int64, Float32, Float32]:
        """Extend rows, and return the best k ids of each, their log-probabilities, and that of EOS."""
        n = len(parents)
        best, log_probs, eos = np.empty((n, k), np.int64), np.empty((n, k), np.float32), np.empty(n, np.float32)
        self._step(parents, ids, k, best, log_probs, eos, None)
        return best, log_probs, eos

    def distribution(self, parents: Int64, ids: Int64) -> Float32:
        """Extend rows, and return the log-probabilities of the whole vocabulary: ``[rows, vocab]``."""
        log_probs = np.empty((len(parents), self._model.shape.tgt_vocab), np.float32)
        self._step(parents, ids, 1, None, None, None, log_probs)
        return log_probs

    def _step(self, parents: Int64, ids: Int64, k: int, *outputs: npt.NDArray[Any] | None) -> None:
        if len(parents) != len(ids):
            raise ValueError(f"{len(parents)} parents but {len(ids)} ids")
        parents, ids = (np.ascontiguousarray(array, dtype=np.int64) for array in (parents, ids))
        pointers = [_pointer(array) for array in outputs]
        _check(
            _library().transduce_session_step(
                self._handle, _pointer(parents), _pointer(ids), len(parents), k, *pointers
            )
        )
