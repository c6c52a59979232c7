"""Cleaning a corpus of many files on all cores, with the counts of each file."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from transduce.base.log import plural
from transduce.data.binarize import PairChunk, chunked
from transduce.data.parallel import map_on_processes
from transduce.data.sources import PairSource
from transduce.text.clean import DROP_REASONS, Cleaner, DropReason, reason_to_drop
from transduce.text.pairs import SentencePair
from transduce.text.settings import CleanSettings

__all__ = ["SourceCounts", "SourceListener", "clean_sources"]

_CHUNK_PAIRS = 5000
"""Judging a pair takes microseconds, so chunks must be large for the work to be worth sending."""


@dataclass
class SourceCounts:
    """What became of what one source holds. It grows while the source is read.

    >>> counts = SourceCounts("a.po", skipped=Counter(fuzzy=2, obsolete=1))
    >>> for reason in (None, None, "blank"):
    ...     counts.add(reason)
    >>> counts.describe()
    '3 pairs read, 2 kept; dropped: 1 (a side is blank); skipped: 2 (fuzzy), 1 (obsolete)'
    """

    name: str
    n_read: int = 0
    """Pairs."""
    n_kept: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)
    """Pairs that were read and not kept, by reason."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Segments of the file that are no pairs to learn from, by reason: fuzzy or untranslated ones, other languages."""
    text_bytes: int = 0
    """UTF-8 bytes of the pairs that were read, both sides, line ends not counted."""

    def add(self, reason: DropReason | None) -> None:
        """Count a pair that was read: dropped for a reason, or kept."""
        self.n_read += 1
        if reason is None:
            self.n_kept += 1
        else:
            self.dropped[reason] += 1

    def describe(self) -> str:
        """Return the counts in words."""
        text = f"{plural(self.n_read, 'pair')} read, {self.n_kept:,} kept"
        dropped = [
            f"{self.dropped[reason]:,} ({words})" for reason, words in DROP_REASONS.items() if self.dropped[reason]
        ]
        skipped = [f"{count:,} ({reason})" for reason, count in self.skipped.most_common()]
        text += f"; dropped: {', '.join(dropped)}" if dropped else ""
        return text + (f"; skipped: {', '.join(skipped)}" if skipped else "")


SourceListener = Callable[[SourceCounts, bool], None]
"""Is given the counts of the source that is being read, and whether it has been read to its end."""


def clean_sources(
    sources: Sequence[PairSource],
    cleaner: Cleaner,
    counts: Sequence[SourceCounts],
    *,
    n_workers: int,
    listener: SourceListener,
) -> Iterator[SentencePair]:
    """Yield the pairs of all sources that are kept, in order.

    What can be said of a pair alone is found out by worker processes; duplicates and overlap, which depend on what came
    before, are decided here.

    Args:
        sources: What to read, each once.
        cleaner: Decides.
        counts: One for each source, to be filled.
        n_workers: Number of worker processes. Does not change the result.
        listener: Is called after every few thousand pairs and at the end of each source.
    """
    sent: deque[tuple[SourceCounts, PairChunk]] = deque()

    def deal() -> Iterator[PairChunk]:
        for source, count in zip(sources, counts, strict=True):
            for chunk in chunked(source.read(count.skipped), _CHUNK_PAIRS):
                sent.append((count, chunk))
                yield chunk
            sent.append((count, _END))
            yield _END

    for reasons, n_bytes in map_on_processes(_JudgeChunk(cleaner.settings), deal(), n_workers=n_workers):
        count, chunk = sent.popleft()
        count.text_bytes += n_bytes
        for src, tgt, reason in zip(*chunk, reasons, strict=True):
            pair = SentencePair(src, tgt)
            decision = cleaner.decide(pair, reason)
            count.add(decision)
            if decision is None:
                yield pair
        listener(count, chunk is _END)


_END: PairChunk = ([], [])
"""Follows the last chunk of a source through the workers, so that its end is known in its turn."""


@dataclass(frozen=True)
class _JudgeChunk:
    """What a worker does with a chunk: a reason to drop, or None, for each pair; and the bytes of the text."""

    settings: CleanSettings

    def __call__(self, chunk: PairChunk) -> tuple[list[DropReason | None], int]:
        srcs, tgts = chunk
        reasons = [reason_to_drop(SentencePair(src, tgt), self.settings) for src, tgt in zip(srcs, tgts, strict=True)]
        return reasons, sum(len("".join(side).encode("utf-8", "surrogatepass")) for side in chunk)
