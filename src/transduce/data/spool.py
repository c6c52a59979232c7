"""Cleaned pairs on disk between two passes: read from the user's files once, and then as often as is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from transduce.base.errors import DataError
from transduce.text.pairs import SentencePair

__all__ = ["PairSpool", "write_pairs"]


class PairSpool:
    """Pairs in two text files, to be iterated over again and again.

    Args:
        src: One source sentence a line, ended by LF.
        tgt: The target sentences.
        n_pairs: The number of pairs in the files.
        left_out: Positions (from 0) of pairs that are passed over.
    """

    def __init__(self, src: Path, tgt: Path, n_pairs: int, left_out: Collection[int] = ()) -> None:
        self._src, self._tgt = src, tgt
        self._n_pairs = n_pairs
        self._left_out = frozenset(left_out)

    def __len__(self) -> int:
        return self._n_pairs - len(self._left_out)

    def __iter__(self) -> Iterator[SentencePair]:
        for position, pair in enumerate(self._read()):
            if position not in self._left_out:
                yield pair

    def without(self, positions: Collection[int]) -> PairSpool:
        """Return the same pairs but those at some positions, in the same order."""
        return PairSpool(self._src, self._tgt, self._n_pairs, self._left_out | frozenset(positions))

    def at(self, positions: Collection[int]) -> Iterator[SentencePair]:
        """Yield the pairs at some positions, in the order of the corpus."""
        chosen = frozenset(positions)
        last = max(chosen, default=-1)
        return (pair for position, pair in enumerate(islice(self._read(), last + 1)) if position in chosen)

    def _read(self) -> Iterator[SentencePair]:
        # newline="\n": other readings of CR and the like would break lines where there are none.
        with (
            self._src.open(encoding="utf-8", newline="\n") as src_lines,
            self._tgt.open(encoding="utf-8", newline="\n") as tgt_lines,
        ):
            for src, tgt in zip(src_lines, tgt_lines, strict=True):
                yield SentencePair(src[:-1], tgt[:-1])


def write_pairs(pairs: Iterable[SentencePair], src: Path, tgt: Path) -> PairSpool:
    """Write pairs as two text files, one sentence a line, and return them for reading.

    Raises:
        DataError: The disk is full, or the files cannot be written.

    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp())
    >>> spool = write_pairs([SentencePair("a", "b"), SentencePair("c", "d")], directory / "src.txt", directory / "tgt.txt")
    >>> list(spool.without([0]))
    [SentencePair(src='c', tgt='d')]
    """
    n_pairs = 0
    try:
        with (
            src.open("w", encoding="utf-8", newline="\n") as src_file,
            tgt.open("w", encoding="utf-8", newline="\n") as tgt_file,
        ):
            for pair in pairs:
                src_file.write(pair.src + "\n")
                tgt_file.write(pair.tgt + "\n")
                n_pairs += 1
    except OSError as error:
        raise DataError(f"{src.parent}: cannot be written ({error.strerror or error})") from None
    return PairSpool(src, tgt, n_pairs)
