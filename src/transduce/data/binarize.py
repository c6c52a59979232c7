"""Sentence pairs to a token store: one streaming pass on all cores, in flat memory however many pairs there are."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from transduce.base.cores import count_cores
from transduce.base.files import atomic_directory
from transduce.data.parallel import map_on_processes
from transduce.data.store import EncodedPairs, IdArray, LengthArray, StoreWriter, id_dtype
from transduce.text.pairs import SentencePair
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["CHUNK_PAIRS", "BinarizeReport", "PairChunk", "binarize", "chunked"]

PairChunk = tuple[list[str], list[str]]
"""Some pairs, a list a side: pickle sends it several times faster than a list of pairs."""

CHUNK_PAIRS = 2000
"""Pairs dealt to a worker at a time: enough that sending them costs little, few enough that memory stays small."""
_CHUNK_CHARS = 2_000_000


@dataclass(frozen=True)
class BinarizeReport:
    """What was encoded and how fast. Token counts are without BOS and EOS."""

    n_pairs: int
    n_src_tokens: int
    n_tgt_tokens: int
    text_bytes: int
    """UTF-8 bytes of both sides, line ends not counted."""
    seconds: float
    """Wall-clock time, reading included."""

    @property
    def mb_per_s(self) -> float:
        """Millions of bytes of text encoded in a second, both sides together."""
        return self.text_bytes / 1e6 / self.seconds if self.seconds else 0.0


def binarize(
    pairs: Iterable[SentencePair],
    tokenizers: TokenizerPair,
    out: Path,
    *,
    n_workers: int | None = None,
    chunk_pairs: int = CHUNK_PAIRS,
) -> BinarizeReport:
    """Encode sentence pairs into a token store, in their order.

    Args:
        pairs: What to encode; read once, as the work goes on. Pairs are not cleaned here.
        tokenizers: What encodes them; pickle must be able to send them to another process.
        out: The directory of the store: made, or replaced as a whole when all is done.
        n_workers: Processes that encode; one a core when not given. The files are the same, byte for byte, with any number.
        chunk_pairs: Pairs that a worker gets at a time. Does not change the files.

    Returns:
        Counts and speed.

    Raises:
        DataError: The output cannot be written.
    """
    start_s = time.perf_counter()
    n_pairs = n_src_tokens = n_tgt_tokens = text_bytes = 0
    with atomic_directory(out) as directory, StoreWriter(directory, tokenizers) as writer:
        for encoded, n_bytes in map_on_processes(
            _EncodeChunk(tokenizers), chunked(pairs, chunk_pairs), n_workers=n_workers or count_cores()
        ):
            writer.append(encoded)
            n_pairs += len(encoded.src_lengths)
            n_src_tokens += len(encoded.src_ids)
            n_tgt_tokens += len(encoded.tgt_ids)
            text_bytes += n_bytes
    return BinarizeReport(n_pairs, n_src_tokens, n_tgt_tokens, text_bytes, time.perf_counter() - start_s)


def chunked(pairs: Iterable[SentencePair], chunk_pairs: int = CHUNK_PAIRS) -> Iterator[PairChunk]:
    """Yield the pairs as chunks of at most ``chunk_pairs``, smaller ones where sentences are very long.

    >>> list(chunked([SentencePair("a", "b"), SentencePair("c", "d"), SentencePair("e", "f")], 2))
    [(['a', 'c'], ['b', 'd']), (['e'], ['f'])]
    """
    srcs: list[str] = []
    tgts: list[str] = []
    n_chars = 0
    for src, tgt in pairs:
        srcs.append(src)
        tgts.append(tgt)
        n_chars += len(src) + len(tgt)
        if len(srcs) >= chunk_pairs or n_chars >= _CHUNK_CHARS:
            yield srcs, tgts
            srcs, tgts, n_chars = [], [], 0
    if srcs:
        yield srcs, tgts


@dataclass(frozen=True)
class _EncodeChunk:
    """What a worker does with a chunk: ids of both sides, and the bytes of the text."""

    tokenizers: TokenizerPair

    def __call__(self, chunk: PairChunk) -> tuple[EncodedPairs, int]:
        srcs, tgts = chunk
        src, tgt = self.tokenizers.src, self.tokenizers.tgt
        src_ids, src_lengths = _flatten(src.encode_batch(srcs), id_dtype(src.vocab_size))
        tgt_ids, tgt_lengths = _flatten(tgt.encode_batch(tgts), id_dtype(tgt.vocab_size))
        n_bytes = len("".join(srcs).encode()) + len("".join(tgts).encode())
        return EncodedPairs(src_ids, src_lengths, tgt_ids, tgt_lengths), n_bytes


def _flatten(sentences: Sequence[Sequence[int]], dtype: np.dtype[Any]) -> tuple[IdArray, LengthArray]:
    """Return the ids of sentences end to end, and their lengths."""
    lengths = np.fromiter(map(len, sentences), dtype=np.int32, count=len(sentences))
    return np.fromiter(itertools.chain.from_iterable(sentences), dtype=dtype, count=int(lengths.sum())), lengths
