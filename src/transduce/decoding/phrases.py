"""How far a translation has come with the phrases that it must contain.

A phrase is a run of tokens without a gap, and no token belongs to two phrases: one that is required twice must come
twice. Where a phrase begins is not always known while the tokens come. After ``a b``, with ``a b`` and ``b c`` required,
``b`` may be the end of the first phrase or the beginning of the second; after ``a a``, with ``a a b`` required, a third
``a`` breaks the phrase and yet leaves two tokens of it. So all readings are followed at once, as a nondeterministic
automaton does, and each set of readings that occurs becomes one state. Few occur, and each is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["PhraseTracker"]


class _Reading(NamedTuple):
    """One way to divide the tokens so far among the phrases."""

    missing: tuple[int, ...]
    """How often each phrase must still come; the one in progress is counted until its last token."""
    phrase: int
    """The phrase in progress; -1: none."""
    n_read: int
    """Tokens of it that have been read."""


class PhraseTracker:
    """The automaton of the phrases of one sentence. Its states are numbers, and 0 is the first.

    Args:
        phrases: Target phrases, each of at least one token.

    >>> tracker = PhraseTracker([(7, 8), (8,)])
    >>> tracker.n_needed(0), tracker.advancing(0)
    (3, (7, 8))
    >>> state, needed = 0, []
    >>> for token in (7, 8, 9, 8):
    ...     state = tracker.advance(state, token)
    ...     needed.append(tracker.n_needed(state))
    >>> needed  # after the second token the 8 is read as the end of (7, 8): that leaves one token to come
    [2, 1, 1, 0]
    """

    def __init__(self, phrases: Iterable[Sequence[int]]) -> None:
        counts = Counter(tuple(phrase) for phrase in phrases)
        self._phrases = tuple(counts)
        self._tokens = sorted({token for phrase in self._phrases for token in phrase})
        self._readings: list[frozenset[_Reading]] = []
        self._numbers: dict[frozenset[_Reading], int] = {}
        self._needed: list[int] = []
        self._steps: list[dict[int, int] | None] = []  # None until somebody asks; other tokens are under -1
        self._advancing: list[tuple[int, ...]] = []
        self._number(frozenset([_Reading(tuple(counts.values()), -1, 0)]))

    def n_needed(self, state: int) -> int:
        """Return the fewest tokens after which all phrases can be there; 0: they are."""
        return self._needed[state]

    def advance(self, state: int, token: int) -> int:
        """Return the state after one more token."""
        steps = self._steps[state]
        if steps is None:
            steps = self._work_out(state)
        return steps[token] if token in steps else steps[-1]

    def advancing(self, state: int) -> tuple[int, ...]:
        """Return the tokens that make :meth:`n_needed` smaller, in ascending order. There are some unless it is 0."""
        if self._steps[state] is None:
            self._work_out(state)
        return self._advancing[state]

    def _work_out(self, state: int) -> dict[int, int]:
        readings = self._readings[state]
        steps = {token: self._number(self._follow(readings, token)) for token in (*self._tokens, -1)}
        self._steps[state] = steps
        self._advancing[state] = tuple(t for t in self._tokens if self._needed[steps[t]] < self._needed[state])
        return steps

    def _number(self, readings: frozenset[_Reading]) -> int:
        """Return the number of a state, a new one if it has not occurred."""
        number = self._numbers.get(readings)
        if number is None:
            number = self._numbers[readings] = len(self._readings)
            self._readings.append(readings)
            self._needed.append(min(self._tokens_needed(reading) for reading in readings))
            self._steps.append(None)
            self._advancing.append(())
        return number

    def _tokens_needed(self, reading: _Reading) -> int:
        lengths = map(len, self._phrases)
        return sum(n * length for n, length in zip(reading.missing, lengths, strict=True)) - reading.n_read

    def _follow(self, readings: frozenset[_Reading], token: int) -> frozenset[_Reading]:
        found = set()
        for reading in readings:
            if reading.phrase < 0:
                found.add(reading)  # the token belongs to no phrase, or
                starting = [number for number, missing in enumerate(reading.missing) if missing]
            else:
                starting = [reading.phrase]
            for number in starting:
                if self._phrases[number][reading.n_read] == token:
                    found.add(self._read(reading.missing, number, reading.n_read + 1))
        return frozenset(reading for reading in found if not self._is_beaten(reading, found))

    def _read(self, missing: tuple[int, ...], phrase: int, n_read: int) -> _Reading:
        if n_read < len(self._phrases[phrase]):
            return _Reading(missing, phrase, n_read)
        return _Reading(_with_one_less(missing, phrase), -1, 0)

    def _is_beaten(self, reading: _Reading, others: Iterable[_Reading]) -> bool:
        """Tell whether some other reading will have all phrases whenever this one has, so that this one can be dropped."""
        finished = reading.missing if reading.phrase < 0 else _with_one_less(reading.missing, reading.phrase)
        for other in others:
            if other.phrase < 0 and other != reading and _is_at_most(other.missing, finished):
                return True
            if other[1:] == reading[1:] and other != reading and _is_at_most(other.missing, reading.missing):
                return True
        return False


def _with_one_less(missing: tuple[int, ...], phrase: int) -> tuple[int, ...]:
    return (*missing[:phrase], missing[phrase] - 1, *missing[phrase + 1 :])


def _is_at_most(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))
