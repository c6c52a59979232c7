"""Looking at a corpus without reading all of it: blocks of neighbouring pairs, spread over it where that is possible.

Lines of plain text files are counted at the speed of the disk, and any of them can be gone to. Other files can only be
read from their beginning, so their first pairs are the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np

from transduce.base.errors import DataError
from transduce.base.files import STDIN, is_special, open_binary
from transduce.data.sources import PairSource, ParallelFiles
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["BLOCK_PAIRS", "Block", "Sample", "sample_source", "sample_store"]

BLOCK_PAIRS = 1000
_CHUNK_BYTES = 1 << 20
_MAX_COUNTED_BYTES = 1 << 30
"""So many bytes of a compressed file are unpacked to count its lines; a larger one has 'more than' so many lines."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Neighbouring pairs."""

    first: int
    """The number of the first one, from 1: its line, where a file has a pair a line."""
    pairs: list[SentencePair]


@dataclass
class Sample:
    """What was read of a corpus. The counts are complete when all blocks have been taken."""

    name: str
    blocks: Iterator[Block]
    n_pairs: int | None = None
    """Pairs of the whole corpus. None: nobody counted those behind the sample."""
    lines: tuple[int, int] | None = None
    """Lines of each side, where the sides are two files."""
    n_read: int = 0
    """Pairs in the sample."""
    how: str = ""
    """How the sample was taken, in words."""
    crlf: tuple[int, int] = (0, 0)
    """Lines of the sample that end in CR LF, on each side."""
    not_utf8: list[tuple[str, int]] = field(default_factory=list)
    """The file and the line of text that is not UTF-8; the first few."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Segments that are no pairs to learn from, by reason."""


def sample_source(source: PairSource, max_pairs: int) -> Sample:
    """Open a source for a look.

    Args:
        source: What to look at; it has been checked.
        max_pairs: Pairs to read at most.

    Raises:
        DataError: A file cannot be read, at the call or while blocks are taken.
    """
    sample = Sample(source.name, iter(()))
    if not isinstance(source, ParallelFiles):
        sample.blocks = _first_blocks(sample, source.read(sample.skipped), max_pairs)
    elif any(path.suffix in (".gz", ".zst") or path == STDIN or is_special(path) for path in source.paths):
        sample.blocks = _stream_blocks(sample, source, max_pairs)
    else:
        sample.blocks = _spread_blocks(sample, source, max_pairs)
    return sample


def sample_store(store: TokenStore, tokenizers: TokenizerPair, max_pairs: int) -> Sample:
    """Look at a token store: its pairs are turned back into text."""
    sample = Sample(str(store.directory), iter(()), n_pairs=len(store))

    def read(first: int, count: int) -> list[SentencePair]:
        places = range(first, first + count)
        return [
            SentencePair(tokenizers.src.decode(store.src(i).tolist()), tokenizers.tgt.decode(store.tgt(i).tolist()))
            for i in places
        ]

    def blocks() -> Iterator[Block]:
        for first, count in _spread(sample, len(store), max_pairs):
            yield Block(first + 1, read(first, count))

    sample.blocks = blocks()
    return sample


def _spread(sample: Sample, n_pairs: int, max_pairs: int) -> Iterator[tuple[int, int]]:
    """Yield where blocks begin (from 0) and how long they are: everything, or blocks spread evenly."""
    n_blocks = -(-min(n_pairs, max_pairs) // BLOCK_PAIRS)
    if n_pairs <= max_pairs:
        sample.how = "all of them"
        starts = [BLOCK_PAIRS * number for number in range(n_blocks)]
    else:
        sample.how = f"{n_blocks:,} blocks of {BLOCK_PAIRS:,}, spread evenly"
        starts = [(n_pairs - BLOCK_PAIRS) * number // max(1, n_blocks - 1) for number in range(n_blocks)]
    for start in starts:
        count = min(BLOCK_PAIRS, n_pairs - start)
        sample.n_read += count
        yield start, count


def _spread_blocks(sample: Sample, source: ParallelFiles, max_pairs: int) -> Iterator[Block]:
    src, tgt = _LineIndex(source.src), _LineIndex(source.tgt)
    sample.lines = src.n_lines, tgt.n_lines
    sample.n_pairs = min(sample.lines)
    for first, count in _spread(sample, sample.n_pairs, max_pairs):
        yield _make_block(sample, source, first, src.read(first, count), tgt.read(first, count))


def _stream_blocks(sample: Sample, source: ParallelFiles, max_pairs: int) -> Iterator[Block]:
    with open_binary(source.src) as src_stream, open_binary(source.tgt) as tgt_stream:
        src, tgt = iter(cast(IO[bytes], src_stream)), iter(cast(IO[bytes], tgt_stream))
        sample.how = f"the first {max_pairs:,}, since the files are compressed"
        while sample.n_read < max_pairs:
            count = min(BLOCK_PAIRS, max_pairs - sample.n_read)
            src_lines, tgt_lines = list(islice(src, count)), list(islice(tgt, count))
            first, n_both = sample.n_read, min(len(src_lines), len(tgt_lines))
            sample.n_read += n_both
            if n_both:
                yield _make_block(sample, source, first, src_lines[:n_both], tgt_lines[:n_both])
            if len(src_lines) < count or len(tgt_lines) < count:
                sample.how = "all of them"
                sample.lines = (
                    first + len(src_lines) + sum(1 for _ in src),
                    first + len(tgt_lines) + sum(1 for _ in tgt),
                )
                break
        else:
            n_src, n_tgt = _count_rest(src_stream), _count_rest(tgt_stream)
            if n_src is not None and n_tgt is not None:
                sample.lines = sample.n_read + n_src, sample.n_read + n_tgt
                if n_src == n_tgt == 0:
                    sample.how = "all of them"
    if sample.lines is not None:
        sample.n_pairs = min(sample.lines)


def _first_blocks(sample: Sample, pairs: Iterator[SentencePair], max_pairs: int) -> Iterator[Block]:
    sample.how = f"the first {max_pairs:,}, since files of this kind can only be read from their beginning"
    while sample.n_read < max_pairs:
        block = Block(sample.n_read + 1, list(islice(pairs, min(BLOCK_PAIRS, max_pairs - sample.n_read))))
        sample.n_read += len(block.pairs)
        if block.pairs:
            yield block
        if len(block.pairs) < BLOCK_PAIRS and sample.n_read < max_pairs:
            break
    if next(pairs, None) is None:
        sample.how, sample.n_pairs = "all of them", sample.n_read


def _make_block(sample: Sample, source: ParallelFiles, first: int, src: list[bytes], tgt: list[bytes]) -> Block:
    """Decode lines, and note what is wrong with them."""
    n_src, n_tgt = (sum(line.endswith(b"\r\n") for line in lines) for lines in (src, tgt))
    sample.crlf = sample.crlf[0] + n_src, sample.crlf[1] + n_tgt
    texts = [
        [_decode(sample, path, first + place, line) for place, line in enumerate(lines)]
        for path, lines in ((source.src, src), (source.tgt, tgt))
    ]
    return Block(first + 1, [SentencePair(*pair) for pair in zip(*texts, strict=True)])


def _decode(sample: Sample, path: Path, number: int, raw: bytes) -> str:
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    if number == 0:
        line = line.removeprefix(_BOM)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        if len(sample.not_utf8) < 10:
            sample.not_utf8.append((str(path), number + 1))
        return line.decode("utf-8", errors="ignore")


class _LineIndex:
    """Where lines stand in a plain file: a mark for each megabyte, and the number of lines before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        before = [0]
        last = b"\n"
        try:
            with path.open("rb") as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    before.append(before[-1] + int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == 10)))
                    last = chunk[-1:]
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
        self.n_lines = before[-1] + (last != b"\n")  # text after the last newline is a line
        self._before = np.array(before)

    def read(self, first: int, count: int) -> list[bytes]:
        """Return some lines with their ends; ``first`` is from 0."""
        chunk = max(
            0, int(np.searchsorted(self._before, first, side="left")) - 1
        )  # the line begins in it, or at its end
        with self._path.open("rb") as stream:
            stream.seek(chunk * _CHUNK_BYTES)
            to_skip = first - int(self._before[chunk])  # of them, the first may be the end of a longer line
            lines = cast(IO[bytes], stream)
            return list(islice(lines, to_skip, to_skip + count))


def _count_rest(stream: object) -> int | None:
    """Count the lines that are left of a compressed file; None: there are too many."""
    rest, n_bytes, n_lines, last = cast(IO[bytes], stream), 0, 0, b"\n"
    while chunk := rest.read(_CHUNK_BYTES):
        n_bytes += len(chunk)
        n_lines += chunk.count(b"\n")
        last = chunk[-1:]
        if n_bytes > _MAX_COUNTED_BYTES:
            return None
    return n_lines + (last != b"\n")
