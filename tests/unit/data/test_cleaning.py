from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from transduce.data.cleaning import Tally, clean_sources
from transduce.text.clean import Cleaner
from transduce.text.pairs import SentencePair
from transduce.text.settings import CleanSettings


@dataclass(frozen=True)
class ListSource:
    name: str
    pairs: tuple[SentencePair, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    def check(self) -> None:
        """Nothing to check."""

    def read(self) -> Iterator[SentencePair]:
        return iter(self.pairs)


def test_counts_are_those_of_each_source() -> None:
    one = ListSource("one", (SentencePair("a", "b"), SentencePair(" ", "c"), SentencePair("a", "b")))
    two = ListSource("two", (SentencePair("a", "b"), SentencePair("d", "e"), SentencePair("\x07", "\x07x")))
    empty = ListSource("empty", ())
    tallies = [Tally(source.name) for source in (one, empty, two)]
    cleaner = Cleaner(CleanSettings(drop_duplicates=True))
    kept = list(clean_sources([one, empty, two], cleaner, tallies, n_workers=1))
    assert kept == [SentencePair("a", "b"), SentencePair("d", "e")]
    assert [(tally.name, tally.n_read, tally.n_kept) for tally in tallies] == [
        ("one", 3, 1),
        ("empty", 0, 0),
        ("two", 3, 1),
    ]
    assert [dict(tally.dropped) for tally in tallies] == [
        {"blank": 1, "duplicate": 1},
        {},
        {"duplicate": 1, "blank": 1},
    ]
    assert cleaner.n_read == 6


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.data.cleaning._CHUNK_PAIRS", 5)
    pairs = tuple(SentencePair("x" * (n % 13), "y" * (n % 7)) for n in range(100))
    settings = CleanSettings(drop_duplicates=True, max_chars=10)

    def clean(n_workers: int) -> tuple[list[SentencePair], Tally]:
        tally = Tally("pairs")
        return list(clean_sources([ListSource("p", pairs)], Cleaner(settings), [tally], n_workers=n_workers)), tally

    assert clean(1) == clean(3)
    assert clean(1) == (list(Cleaner(settings).keep(pairs)), clean(1)[1])
