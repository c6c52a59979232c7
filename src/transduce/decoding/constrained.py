"""Beam search whose translations contain given phrases, by dynamic beam allocation (Post and Vilar, 2018).

In a plain beam the hypotheses that write a required word early would lose against those that do not, and be gone when it
is too late. So hypotheses compete only with those that have come equally far with the phrases: the slots of a sentence
are shared out among *banks*, one for each number of required tokens that a hypothesis may have, from none to all of
them. And beside its best tokens every hypothesis may always be extended by those that a phrase still needs, however
improbable they are.

How the slots are shared out: each bank gets an equal part, the full bank (all phrases are there) also the remainder.
What a bank has no candidates for goes to the banks below it, and from the lowest to those above. A sentence has one
slot more than ``beam_size`` for each required token, up to :data:`MOST_EXTRA_SLOTS`; so no bank is empty-handed
unless there are very many, and a short beam does not press the phrases to the beginning of the sentence.

- EOS is for hypotheses with all phrases only. A hypothesis that has no room left for what it lacks is given up.
- Length limits below the number of required tokens are raised to it.
- The score is the one of :mod:`transduce.decoding.beam`, and so is everything else: a sentence without phrases gets
  exactly what that search gives.
- If the rules of the engine forbid every translation that has all phrases (a banned word in one of them), the sentence
  is searched without its phrases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine, FloatArray, IntArray, check_log_probs
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.penalties import length_penalty
from transduce.decoding.phrases import PhraseTracker
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

__all__ = ["MOST_EXTRA_SLOTS", "constrained_beam_search", "share_slots"]

MOST_EXTRA_SLOTS = 32
"""A sentence with many required tokens gets at most this many slots on top of ``beam_size``: each is a row of the model."""


_ROWS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class _Open:
    """An open hypothesis. At the start it is one without tokens, of probability 1."""

    ids: tuple[int, ...]
    log_prob: float
    state: int  # of the sentence's tracker
    row: int  # the row that it extends, in the numbering of the engine's latest step

    @property
    def last_id(self) -> int:
        return self.ids[-1] if self.ids else BOS_ID


@dataclass(frozen=True, slots=True)
class _Row:
    """What may follow one open hypothesis."""

    best: tuple[int, ...]
    """The best tokens, control ids left out, best first; of equal ones the lower id comes first."""
    log_probs: FloatArray
    """``[vocab]``."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A hypothesis extended by one token."""

    parent: _Open
    row: int  # of the parent in this step
    token: int
    log_prob: float
    state: int


class _Sentence:
    """One sentence in the search: its rules, its open hypotheses, best first, and its finished ones, best first."""

    def __init__(
        self, number: int, phrases: Sequence[tuple[int, ...]], minimum: int, limit: int, settings: DecodeSettings
    ) -> None:
        self.tracker = PhraseTracker(phrases)
        self.n_required = self.tracker.n_needed(0)
        self.minimum = minimum
        self.limit = max(limit, self.n_required)
        self.n_slots = settings.beam_size + min(self.n_required, MOST_EXTRA_SLOTS)
        self.settings = settings
        self.open = [_Open((), 0.0, 0, number)]
        self.finished: list[Hypothesis] = []

    def take(self, rows: Sequence[_Row], first_row: int) -> None:
        """Do one step: ``rows`` has what may follow each open hypothesis, and the first of them is row ``first_row``."""
        candidates = [
            candidate
            for number, (parent, row) in enumerate(zip(self.open, rows, strict=True), start=first_row)
            for candidate in self._extensions(parent, row, number)
        ]
        candidates.sort(
            key=lambda candidate: -candidate.log_prob
        )  # stable: of equal ones the better parent's comes first
        self.open = []
        for candidate in self._choose(candidates):
            if candidate.token == EOS_ID:
                self._finish(candidate)
            else:
                ids = (*candidate.parent.ids, candidate.token)
                self.open.append(_Open(ids, candidate.log_prob, candidate.state, candidate.row))

    def _extensions(self, parent: _Open, row: _Row, number: int) -> Iterator[_Candidate]:
        """Yield what a hypothesis may become: EOS, its best tokens, and those that its phrases need."""
        tracker, n_tokens = self.tracker, len(parent.ids)
        if tracker.n_needed(parent.state) == 0 and n_tokens >= self.minimum and np.isfinite(row.log_probs[EOS_ID]):
            log_prob = parent.log_prob + float(row.log_probs[EOS_ID])
            yield _Candidate(parent, number, EOS_ID, log_prob, parent.state)
        if n_tokens == self.limit:
            return
        needed = [token for token in tracker.advancing(parent.state) if token not in row.best]
        for token in (*row.best, *needed):
            token_log_prob = float(row.log_probs[token])
            state = tracker.advance(parent.state, token)
            if token_log_prob > -np.inf and n_tokens + 1 + tracker.n_needed(state) <= self.limit:
                yield _Candidate(parent, number, token, parent.log_prob + token_log_prob, state)

    def _choose(self, candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
        """Yield the candidates that get a slot, best first."""
        banks = [self.n_required - self.tracker.n_needed(candidate.state) for candidate in candidates]
        counts = [0] * (self.n_required + 1)
        for bank in banks:
            counts[bank] += 1
        left = share_slots(self.n_slots, counts)
        for candidate, bank in zip(candidates, banks, strict=True):
            if left[bank]:
                left[bank] -= 1
                yield candidate

    def _finish(self, candidate: _Candidate) -> None:
        ids = candidate.parent.ids
        score = candidate.log_prob / length_penalty(len(ids) + 1, self.settings.length_alpha)
        if score > self._worst_kept:
            self.finished.append(Hypothesis(ids, candidate.log_prob, score, at_limit=len(ids) == self.limit))
            self.finished.sort(key=lambda hypothesis: -hypothesis.score)  # stable: the one that finished first
            del self.finished[self.settings.n_best :]

    @property
    def _worst_kept(self) -> float:
        return self.finished[-1].score if len(self.finished) == self.settings.n_best else -np.inf

    @property
    def is_settled(self) -> bool:
        """True when no open hypothesis can get among the finished ones: the bound of ``beam.py``."""
        if not self.open:
            return True
        bound = self.open[0].log_prob / length_penalty(self.limit + 1, self.settings.length_alpha)
        return self._worst_kept >= bound


def constrained_beam_search(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    required: Sequence[Sequence[tuple[int, ...]]],
    minima: IntArray,
    limits: IntArray,
    settings: DecodeSettings,
) -> list[list[Hypothesis]]:
    """Search for the translations with the highest score among those that contain all their phrases.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        required: Target phrases of each sentence, each of at least one token. They may be equal: each stands for itself.
        minima: ``[sentences]``: fewest tokens of a translation, EOS not counted.
        limits: ``[sentences]``: most tokens of a translation, EOS not counted; raised where the phrases need more.
        settings: Beam size, length penalty and ``n_best``.

    Returns:
        For each source, in order, its ``n_best`` best hypotheses, best first, all different. Each contains all phrases
        of its sentence, unless the rules of the engine forbid that. There are fewer than ``n_best`` only where there
        are not more.

    Raises:
        DecodingError: The phrases of a sentence need more tokens than the model has positions for, or the model returns
            numbers that are no log-probabilities.
    """
    _check_phrases(required, engine.max_sentence_tokens)
    found = _search(engine, sources, required, minima, limits, settings)
    failed = [number for number, hypotheses in enumerate(found) if not hypotheses and required[number]]
    if failed:
        # All sentences again, since the rules of an engine may go by the order in which sentences enter. It is rare.
        relaxed = [() if number in failed else phrases for number, phrases in enumerate(required)]
        again = _search(engine, sources, relaxed, minima, limits, settings)
        for number in failed:
            found[number] = again[number]
    return found


def _search(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    required: Sequence[Sequence[tuple[int, ...]]],
    minima: IntArray,
    limits: IntArray,
    settings: DecodeSettings,
) -> list[list[Hypothesis]]:
    if not sources:
        return []
    asked = zip(required, minima.tolist(), limits.tolist(), strict=True)
    sentences = [_Sentence(number, *rules, settings) for number, rules in enumerate(asked)]
    session = engine.start(sources)
    searched = sentences
    while searched:
        rows = [hypothesis for sentence in searched for hypothesis in sentence.open]
        parents = np.array([hypothesis.row for hypothesis in rows], dtype=np.int64)
        last_ids = np.array([hypothesis.last_id for hypothesis in rows], dtype=np.int64)
        log_probs = session.distribution(parents, last_ids)
        check_log_probs(log_probs)
        following = _best_tokens(log_probs, settings.beam_size)
        first_row = 0
        for sentence in searched:
            end = first_row + len(sentence.open)
            sentence.take(following[first_row:end], first_row)
            first_row = end
        searched = [sentence for sentence in searched if not sentence.is_settled]
    return [sentence.finished for sentence in sentences]


def _check_phrases(required: Sequence[Sequence[tuple[int, ...]]], longest: int | None) -> None:
    for phrases in required:
        n_tokens = sum(len(phrase) for phrase in phrases)
        if longest is not None and n_tokens > longest:
            raise DecodingError(
                f"the required phrases of one sentence have {n_tokens} tokens together, but this model has positions "
                f"for {longest}; require fewer"
            )


def _best_tokens(log_probs: FloatArray, k: int) -> list[_Row]:
    """Find the ``k`` best tokens of every row of ``[rows, vocab]``, control ids left out."""
    k = min(k, log_probs.shape[1] - N_CONTROL)
    found: list[_Row] = []
    for first in range(0, len(log_probs), _ROWS_AT_ONCE):  # what is worked with would else be as large as all rows
        some = log_probs[first : first + _ROWS_AT_ONCE]
        words = some[:, N_CONTROL:]
        # The k-th best value of each row first: that is much faster than sorting, and finds all that are equal to it.
        bar = np.partition(words, words.shape[1] - k, axis=1)[:, -k]
        row, token = np.nonzero(words >= bar[:, None])
        order = np.lexsort((token, -words[row, token], row))
        row, token = row[order], token[order] + N_CONTROL
        starts = np.searchsorted(row, np.arange(len(some)))
        found.extend(_Row(tuple(token[at : at + k].tolist()), own) for at, own in zip(starts, some, strict=True))
    return found


def share_slots(n_slots: int, counts: Sequence[int]) -> list[int]:
    """Share out the slots of a sentence among its banks.

    Args:
        n_slots: Slots of the sentence.
        counts: Candidates of each bank, from the empty to the full one.

    Returns:
        Slots for each bank: together ``n_slots``, or as many as there are candidates.

    >>> share_slots(7, [9, 9, 9]), share_slots(7, [9, 9, 0]), share_slots(7, [1, 1, 9]), share_slots(2, [9, 9, 0, 0])
    ([2, 2, 3], [2, 5, 0], [1, 1, 5], [0, 2, 0, 0])
    """
    share, remainder = divmod(n_slots, len(counts))
    slots, spare = [], remainder  # the full bank gets the remainder
    for count in reversed(counts):
        slots.append(min(count, share + spare))
        spare = share + spare - slots[-1]
    for place, count in enumerate(counts[::-1]):  # what the lowest bank has no use for, again from the full bank down
        more = min(count - slots[place], spare)
        slots[place] += more
        spare -= more
    return slots[::-1]
