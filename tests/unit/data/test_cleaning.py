from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from transduce.data.cleaning import SourceCounts, clean_sources
from transduce.data.inputs import InputVersion
from transduce.text.clean import Cleaner, reason_to_drop
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

    def versions(self) -> tuple[InputVersion, ...]:
        return ()

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        skipped["fuzzy"] += len(self.pairs)
        return iter(self.pairs)


def unheard(counts: SourceCounts, is_complete: bool) -> None:
    """A listener."""


def test_counts_are_those_of_each_source() -> None:
    one = ListSource("one", (SentencePair("a", "b"), SentencePair(" ", "c"), SentencePair("a", "b")))
    two = ListSource("two", (SentencePair("a", "b"), SentencePair("d", "e"), SentencePair("\x07", "\x07x")))
    empty = ListSource("empty", ())
    files = [SourceCounts(source.name) for source in (one, empty, two)]
    cleaner = Cleaner(CleanSettings(drop_duplicates=True))
    kept = list(clean_sources([one, empty, two], cleaner, files, n_workers=1, listener=unheard))
    assert kept == [SentencePair("a", "b"), SentencePair("d", "e")]
    assert [(file.name, file.n_read, file.n_kept) for file in files] == [
        ("one", 3, 1),
        ("empty", 0, 0),
        ("two", 3, 1),
    ]
    assert [dict(file.dropped) for file in files] == [
        {"blank": 1, "duplicate": 1},
        {},
        {"duplicate": 1, "blank": 1},
    ]
    assert [file.skipped["fuzzy"] for file in files] == [3, 0, 3]
    assert [file.text_bytes for file in files] == [6, 0, 7]


def test_the_listener_hears_of_every_chunk_and_of_the_end_of_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.data.cleaning._CHUNK_PAIRS", 2)
    heard: list[tuple[str, int, bool]] = []
    sources = [ListSource(name, (SentencePair("a", "b"),) * n) for name, n in (("one", 3), ("none", 0), ("two", 2))]
    list(
        clean_sources(
            sources,
            Cleaner(CleanSettings()),
            [SourceCounts(source.name) for source in sources],
            n_workers=2,
            listener=lambda counts, is_complete: heard.append((counts.name, counts.n_read, is_complete)),
        )
    )
    assert heard == [
        ("one", 2, False),
        ("one", 3, False),
        ("one", 3, True),
        ("none", 0, True),
        ("two", 2, False),
        ("two", 2, True),
    ]


def test_counts_in_words() -> None:
    counts = SourceCounts("a.po")
    for reason in (None, "overlap", "blank", "blank", None):
        counts.add(reason)
    assert counts.describe() == (
        "5 pairs read, 2 kept; dropped: 2 (a side is blank), 1 (the source is in the dev or test set)"
    )
    counts.skipped["fuzzy"] = 4
    assert counts.describe().endswith("; skipped: 4 (fuzzy)")


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.data.cleaning._CHUNK_PAIRS", 5)
    pairs = tuple(SentencePair("x" * (n % 13), "y" * (n % 7)) for n in range(100))
    settings = CleanSettings(drop_duplicates=True, max_chars=10)

    def clean(n_workers: int) -> tuple[list[SentencePair], SourceCounts]:
        counts = SourceCounts("pairs")
        cleaned = clean_sources(
            [ListSource("p", pairs)], Cleaner(settings), [counts], n_workers=n_workers, listener=unheard
        )
        return list(cleaned), counts

    cleaner = Cleaner(settings)
    assert clean(1) == clean(3)
    assert clean(1)[0] == [pair for pair in pairs if cleaner.decide(pair, reason_to_drop(pair, settings)) is None]
