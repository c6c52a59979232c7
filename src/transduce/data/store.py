"""The prepared corpus on disk: ids of all sentences of a side in one array, and where each sentence starts.

A store is a directory of standard ``.npy`` arrays, so that any tool can read it, and one small JSON file:

==================  =========================================================================================
``src.ids.npy``     ids of all source sentences, end to end, without BOS and EOS (uint16, or uint32 where needed)
``src.offsets.npy`` ``n_pairs + 1`` int64 numbers: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``
``tgt.*.npy``       the same for the target
``store.json``      counts, and the fingerprints of the tokenizers that made the ids
==================  =========================================================================================

Arrays are memory-mapped: opening a store costs the same for a thousand pairs and for a hundred million. The lengths of all
sentences, which planning needs, are made when they are first asked for.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.data.npy import NpyWriter
from transduce.tokenizer.protocol import TokenizerPair

__all__ = [
    "INFO_FILE",
    "EncodedPairs",
    "IdArray",
    "LengthArray",
    "PairIds",
    "StoreInfo",
    "StoreWriter",
    "TokenStore",
    "id_dtype",
]

IdArray = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
"""Ids as they are stored."""
LengthArray = npt.NDArray[np.int32]
"""Sentence lengths in tokens, without BOS and EOS."""
Side = Literal["src", "tgt"]

INFO_FILE = "store.json"
"""The file that makes a directory a store. It is written last."""
_FORMAT = 1


@dataclass(frozen=True)
class EncodedPairs:
    """Some sentence pairs as ids: the sentences of a side end to end, and their lengths."""

    src_ids: IdArray
    src_lengths: LengthArray
    tgt_ids: IdArray
    tgt_lengths: LengthArray


@runtime_checkable  # for the type checks that tests make at run time
class PairIds(Protocol):
    """Sentence pairs as ids, wherever they are: a store on disk, or some pairs in memory."""

    @property
    def src_ids(self) -> IdArray:
        """Source ids, end to end, without BOS and EOS."""
        ...

    @property
    def src_offsets(self) -> npt.NDArray[np.int64]:
        """``[n + 1]``: sentence ``i`` is ``src_ids[src_offsets[i]:src_offsets[i + 1]]``."""
        ...

    @property
    def src_lengths(self) -> LengthArray:
        """``[n]``: in tokens."""
        ...

    @property
    def tgt_ids(self) -> IdArray:
        """The same for the target."""
        ...

    @property
    def tgt_offsets(self) -> npt.NDArray[np.int64]:
        """The same for the target."""
        ...

    @property
    def tgt_lengths(self) -> LengthArray:
        """The same for the target."""
        ...


@dataclass(frozen=True)
class StoreInfo:
    """What ``store.json`` holds. Token counts are without BOS and EOS."""

    format: int
    n_pairs: int
    n_src_tokens: int
    n_tgt_tokens: int
    src_fingerprint: str
    tgt_fingerprint: str


def id_dtype(vocab_size: int) -> np.dtype[Any]:
    """Return the smallest type that holds every id of a vocabulary.

    >>> id_dtype(37_000).name, id_dtype(65_536).name
    ('uint16', 'uint32')
    """
    return np.dtype(np.uint16 if vocab_size < 1 << 16 else np.uint32)


class StoreWriter:
    """Writes a store in one pass: append pairs in order, leave the ``with`` block, and the arrays are complete.

    The JSON file is written last and only when the block ends well, so that a store without it is unfinished.

    Args:
        directory: Where the files go. It must exist and hold no store.
        tokenizers: The tokenizers that make the ids.
    """

    def __init__(self, directory: Path, tokenizers: TokenizerPair) -> None:
        self._directory = directory
        self._fingerprints = tokenizers.src.fingerprint, tokenizers.tgt.fingerprint
        self._ids = {
            "src": NpyWriter(directory / "src.ids.npy", id_dtype(tokenizers.src.vocab_size)),
            "tgt": NpyWriter(directory / "tgt.ids.npy", id_dtype(tokenizers.tgt.vocab_size)),
        }
        self._offsets = {side: NpyWriter(directory / f"{side}.offsets.npy", np.dtype(np.int64)) for side in self._ids}
        for offsets in self._offsets.values():
            offsets.append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> StoreWriter:
        return self

    def append(self, pairs: EncodedPairs) -> None:
        """Write pairs after the ones already written."""
        self._append_side("src", pairs.src_ids, pairs.src_lengths)
        self._append_side("tgt", pairs.tgt_ids, pairs.tgt_lengths)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for writer in (*self._ids.values(), *self._offsets.values()):
            writer.close()
        if kind is None:
            info = StoreInfo(
                format=_FORMAT,
                n_pairs=self._offsets["src"].n_items - 1,
                n_src_tokens=self._ids["src"].n_items,
                n_tgt_tokens=self._ids["tgt"].n_items,
                src_fingerprint=self._fingerprints[0],
                tgt_fingerprint=self._fingerprints[1],
            )
            (self._directory / INFO_FILE).write_text(json.dumps(asdict(info), indent=2) + "\n", encoding="utf-8")

    def _append_side(self, side: Side, ids: IdArray, lengths: LengthArray) -> None:
        start = self._ids[side].n_items
        self._ids[side].append(ids)
        self._offsets[side].append(start + np.cumsum(lengths, dtype=np.int64))


class TokenStore:
    """Sentence pairs as ids, memory-mapped. Made by :func:`transduce.data.binarize.binarize`; open it with :meth:`open`."""

    def __init__(self, directory: Path, info: StoreInfo) -> None:
        self.directory = directory
        self.info = info
        self.src_ids, self.src_offsets = _open_side(directory, "src", info.n_pairs, info.n_src_tokens)
        self.tgt_ids, self.tgt_offsets = _open_side(directory, "tgt", info.n_pairs, info.n_tgt_tokens)

    @classmethod
    def open(cls, directory: Path) -> TokenStore:
        """Open a store that is on disk.

        Raises:
            DataError: A file is missing, damaged, or does not fit the others; the message names it.
        """
        return cls(directory, _read_info(directory / INFO_FILE))

    def __len__(self) -> int:
        return self.info.n_pairs

    @cached_property
    def src_lengths(self) -> LengthArray:
        """``[n_pairs]`` int32: source lengths in tokens, without EOS. Made from all offsets when first asked for.

        Raises:
            DataError: The offsets are damaged.
        """
        return _lengths(self.directory, "src", self.src_offsets)

    @cached_property
    def tgt_lengths(self) -> LengthArray:
        """``[n_pairs]`` int32: target lengths in tokens, without BOS and EOS. Made from all offsets when first asked for.

        Raises:
            DataError: The offsets are damaged.
        """
        return _lengths(self.directory, "tgt", self.tgt_offsets)

    def src(self, index: int) -> IdArray:
        """Return the source ids of a pair, ``[src_lengths[index]]``, without EOS."""
        return self.src_ids[self.src_offsets[index] : self.src_offsets[index + 1]]

    def tgt(self, index: int) -> IdArray:
        """Return the target ids of a pair, ``[tgt_lengths[index]]``, without BOS and EOS."""
        return self.tgt_ids[self.tgt_offsets[index] : self.tgt_offsets[index + 1]]

    def check_tokenizers(self, tokenizers: TokenizerPair) -> None:
        """Make sure that these tokenizers made the ids: the same number means another word in another vocabulary.

        Raises:
            DataError: The store was made with other tokenizers.
        """
        for side, ours, theirs in (
            ("source", self.info.src_fingerprint, tokenizers.src.fingerprint),
            ("target", self.info.tgt_fingerprint, tokenizers.tgt.fingerprint),
        ):
            if ours != theirs:
                raise DataError(
                    f"{self.directory}: its {side} ids were made with another tokenizer (fingerprint {ours[:12]}, "
                    f"the one in use has {theirs[:12]}); run prepare again"
                )


def _read_info(path: Path) -> StoreInfo:
    try:
        info = StoreInfo(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise DataError(
            f"{path}: no such file, so {path.parent} is not a complete token store; run prepare again"
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path}: not the description of a token store ({error}); run prepare again") from None
    if info.format != _FORMAT:
        raise DataError(
            f"{path}: this token store has format {info.format}, and this version reads format {_FORMAT}; run prepare again"
        )
    return info


def _open_side(directory: Path, side: Side, n_pairs: int, n_tokens: int) -> tuple[IdArray, npt.NDArray[np.int64]]:
    ids = _open_array(directory / f"{side}.ids.npy", ("<u2", "<u4"), n_tokens)
    offsets = _open_array(directory / f"{side}.offsets.npy", ("<i8",), n_pairs + 1)
    if offsets[0] != 0 or offsets[-1] != n_tokens:
        raise DataError(
            f"{directory / f'{side}.offsets.npy'}: damaged (it does not end at {n_tokens} tokens); run prepare again"
        )
    return ids, offsets


def _open_array(path: Path, dtypes: tuple[str, ...], n_items: int) -> npt.NDArray[Any]:
    """Map an array, or say which file is missing or damaged."""
    try:
        array: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")  # np.load would open archives and more
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run prepare again") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: damaged or cut off ({error}); run prepare again") from None
    if array.dtype.str not in dtypes or array.shape != (n_items,):
        raise DataError(
            f"{path}: holds {array.dtype.str} numbers of shape {array.shape}, "
            f"and store.json says {n_items} of {' or '.join(dtypes)}; run prepare again"
        )
    # A plain view of the mapped pages: numpy's memmap class makes every small slice several times slower.
    return array.view(np.ndarray)


def _lengths(directory: Path, side: Side, offsets: npt.NDArray[np.int64]) -> LengthArray:
    lengths = np.diff(offsets)
    if len(lengths) and lengths.min() < 0:
        index = int(lengths.argmin())
        raise DataError(
            f"{directory / f'{side}.offsets.npy'}: damaged (pair {index} has a negative length); run prepare again"
        )
    return lengths.astype(np.int32)
