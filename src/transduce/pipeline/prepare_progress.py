"""What ``prepare`` reports while it goes: one frozen record now and then, given to every listener in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from transduce.data.cleaning import SourceCounts
from transduce.data.spool import PairSpool
from transduce.text.pairs import SentencePair

__all__ = ["PhaseTeller", "PrepareListener", "PreparePhase", "PrepareProgress", "WatchedPairs"]

PreparePhase = Literal["reading", "learning", "encoding"]
"""Reading and cleaning an input, learning the vocabulary, encoding a part of the data set."""

_TELL_EVERY_PAIRS = 2000


@dataclass(frozen=True)
class PrepareProgress:
    """How far a phase is with one thing."""

    phase: PreparePhase
    name: str
    """What is read, learned or encoded: an input, the vocabulary, or a part of the data set."""
    n_pairs: int
    """Pairs done so far."""
    n_all_pairs: int | None
    """Pairs in all, where that is known."""
    mb_per_s: float
    """Millions of bytes of text done in a second so far, both sides together."""
    outcome: str = ""
    """What came of it, in words, in the last record about it; empty before."""


PrepareListener = Callable[[PrepareProgress], None]


class PhaseTeller:
    """Makes the records of one phase, which does one thing after another, and hands them to the listeners."""

    def __init__(self, phase: PreparePhase, listeners: Sequence[PrepareListener]) -> None:
        self._phase = phase
        self._listeners = tuple(listeners)
        self.start()

    def start(self) -> None:
        """Begin with a thing: speed is counted from here."""
        self._start_s = time.perf_counter()
        self._mb_per_s = 0.0

    def tell(self, name: str, n_pairs: int, text_bytes: int, *, n_all_pairs: int | None = None) -> None:
        """Tell how far the phase is with the thing of a name."""
        seconds = time.perf_counter() - self._start_s
        self._mb_per_s = text_bytes / 1e6 / seconds if seconds else 0.0
        self._send(PrepareProgress(self._phase, name, n_pairs, n_all_pairs, self._mb_per_s))

    def end(self, name: str, n_pairs: int, outcome: str) -> None:
        """Tell that a thing is done, and what came of it. The next one begins."""
        self._send(PrepareProgress(self._phase, name, n_pairs, n_pairs, self._mb_per_s, outcome))
        self.start()

    def tell_source(self, counts: SourceCounts, is_complete: bool) -> None:
        """Tell how far reading is with a source: a :data:`transduce.data.cleaning.SourceListener`."""
        self.tell(counts.name, counts.n_read, counts.text_bytes)
        if is_complete:
            self.end(counts.name, counts.n_read, counts.describe())

    def _send(self, record: PrepareProgress) -> None:
        for listener in self._listeners:
            listener(record)


class WatchedPairs:
    """Pairs that tell how many of them have been taken, from the beginning each time they are iterated over."""

    def __init__(self, pairs: PairSpool, teller: PhaseTeller, name: str) -> None:
        self._pairs, self._teller, self._name = pairs, teller, name

    def __iter__(self) -> Iterator[SentencePair]:
        self._teller.start()
        n_all_pairs = len(self._pairs)
        text_bytes = 0
        for n_pairs, pair in enumerate(self._pairs):
            if n_pairs % _TELL_EVERY_PAIRS == 0:
                self._teller.tell(self._name, n_pairs, text_bytes, n_all_pairs=n_all_pairs)
            text_bytes += len(pair.src.encode()) + len(pair.tgt.encode())
            yield pair
        self._teller.tell(self._name, n_all_pairs, text_bytes, n_all_pairs=n_all_pairs)
