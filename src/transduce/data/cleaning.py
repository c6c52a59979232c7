"""Cleaning a corpus of many files on all cores, with the counts of each file."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from transduce.data.binarize import PairChunk, chunked
from transduce.data.parallel import map_on_processes
from transduce.data.sources import PairSource
from transduce.text.clean import Cleaner, DropReason, reason_to_drop
from transduce.text.pairs import SentencePair
from transduce.text.settings import CleanSettings

__all__ = ["Tally", "clean_sources"]

_CHUNK_PAIRS = 5000
"""Judging a pair takes microseconds, so chunks must be large for the work to be worth sending."""


@dataclass
class Tally:
    """What became of the pairs of one source. It grows while the source is read."""

    name: str
    n_read: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)

    @property
    def n_kept(self) -> int:
        """Pairs that were kept."""
        return self.n_read - self.dropped.total()


def clean_sources(
    sources: Sequence[PairSource], cleaner: Cleaner, tallies: Sequence[Tally], *, n_workers: int
) -> Iterator[SentencePair]:
    """Yield the pairs of all sources that are kept, in order.

    What can be said of a pair alone is found out by worker processes; duplicates and overlap, which depend on what came
    before, are decided here.

    Args:
        sources: What to read, each once.
        cleaner: Decides. Its counts are those of all sources together.
        tallies: One for each source, with its counts.
        n_workers: Number of worker processes. Does not change the result.
    """
    sent: deque[tuple[Tally, PairChunk]] = deque()

    def deal() -> Iterator[PairChunk]:
        for source, tally in zip(sources, tallies, strict=True):
            for chunk in chunked(source.read(), _CHUNK_PAIRS):
                sent.append((tally, chunk))
                yield chunk

    for reasons in map_on_processes(_JudgeChunk(cleaner.settings), deal(), n_workers=n_workers):
        tally, chunk = sent.popleft()
        for src, tgt, reason in zip(*chunk, reasons, strict=True):
            pair = SentencePair(src, tgt)
            decision = cleaner.decide(pair, reason)
            tally.n_read += 1
            if decision is None:
                yield pair
            else:
                tally.dropped[decision] += 1


@dataclass(frozen=True)
class _JudgeChunk:
    """What a worker does with a chunk: a reason to drop, or None, for each pair."""

    settings: CleanSettings

    def __call__(self, chunk: PairChunk) -> list[DropReason | None]:
        return [reason_to_drop(SentencePair(src, tgt), self.settings) for src, tgt in zip(*chunk, strict=True)]
