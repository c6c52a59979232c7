"""Rules that a translation keeps to, laid over any engine: the searches see log-probabilities and know nothing of them.

What a rule forbids has log-probability -inf; what is left is not scaled up, so the log-probabilities stay those of whole
sentences under the model (those of trees, whose words are known, are in ``trees.py``). The rules, for each hypothesis:

- The target prefix is forced, token by token, with the model's own log-probabilities. No other rule touches it, but they
  all count its tokens. EOS comes after it.
- A banned phrase: its last token is forbidden where the others have just been written.
- No repeated n-grams: a token is forbidden that would complete an n-gram of the translation once more.
- Repetition penalty: the log-probabilities of tokens that the translation already has are multiplied by it (Keskar et al.
  2019 do so with logits, whose sign is arbitrary; a log-probability is never positive, so this can only lower it).
- The minimum length: EOS is forbidden before it.

A rule never forbids everything: where no token is left, EOS is allowed, even before the minimum length. And at the length
limit the search ends, even in the middle of things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transduce.decoding.around import EngineAround
from transduce.decoding.engine import Engine, FloatArray, IntArray, Proposals, Session
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

__all__ = ["RuledEngine", "RuledSession", "SentenceRules", "best_proposals"]

_NOTHING = -1
"""Stands in the history of a row where it has no token."""


@dataclass(frozen=True, slots=True)
class SentenceRules:
    """What one translation keeps to. All ids are target ids without control ids."""

    prefix: tuple[int, ...] = ()
    """It begins with these."""
    banned: tuple[tuple[int, ...], ...] = ()
    """It contains none of these, none of them empty; unless one stands in the prefix."""
    minimum: int = 0
    """It has at least this many tokens."""


class RuledEngine(EngineAround):
    """An engine whose sessions keep to rules. It is made for one batch.

    Args:
        engine: The model.
        rules: Those of the sentences, in the order in which they enter the sessions.
        no_repeat_ngram_size: No n-gram of so many tokens comes twice; 0: any may.
        repetition_penalty: At least 1; 1: none.
    """

    def __init__(
        self, engine: Engine, rules: Sequence[SentenceRules], no_repeat_ngram_size: int, repetition_penalty: float
    ) -> None:
        self.engine = engine
        self.no_repeat_ngram_size = no_repeat_ngram_size
        self.repetition_penalty = repetition_penalty
        self.minima = np.array([rule.minimum for rule in rules], dtype=np.int64)
        self.prefix_lengths = np.array([len(rule.prefix) for rule in rules], dtype=np.int64)
        self.prefixes = np.full((len(rules), self.prefix_lengths.max(initial=0)), _NOTHING)
        for row, rule in zip(self.prefixes, rules, strict=True):
            row[: len(rule.prefix)] = rule.prefix
        self.banned = [
            _Phrases(rules, n_tokens) for n_tokens in sorted({len(phrase) for rule in rules for phrase in rule.banned})
        ]

    def start(self, sources: Sequence[Sequence[int]]) -> RuledSession:
        """Begin a search over sentences: the first of those that there are rules for."""
        return RuledSession(self, self.engine.start(sources), len(sources))


class RuledSession:
    """A session that remembers what each of its rows has written."""

    def __init__(self, engine: RuledEngine, session: Session, n_sentences: int) -> None:
        self._engine = engine
        self._session = session
        self._n_sentences = n_sentences
        self._sentence = np.arange(n_sentences)  # [rows]: which sentence each row of the latest step belongs to
        self._history = np.zeros((n_sentences, 0), dtype=np.int64)  # [rows, steps]: the latest token last

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: the next of those that there are rules for."""
        self._session.add(sources)
        new = np.arange(self._n_sentences, self._n_sentences + len(sources))
        nothing = np.full((len(sources), self._history.shape[1]), _NOTHING)
        self._sentence = np.concatenate([self._sentence, new])
        self._history = np.concatenate([self._history, nothing])
        self._n_sentences += len(sources)

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose the best that the rules allow."""
        self._advance(parents, ids)
        if (self._forced() != _NOTHING).any():
            return best_proposals(self._ruled_distribution(parents, ids), k)
        n_words = self._engine.tgt_vocab_size - N_CONTROL
        forbidden, repeated = self._forbidden(), self._repeated()
        # The best k after the rules are among the best k + n before, if the rules lower no more than n.
        n_lowered = int((forbidden | repeated).sum(axis=1).max())
        proposals = self._session.step(parents, ids, min(k + n_lowered, n_words))
        log_probs = proposals.log_probs.copy()
        log_probs[np.take_along_axis(repeated, proposals.ids, axis=1)] *= np.float32(self._engine.repetition_penalty)
        log_probs[np.take_along_axis(forbidden, proposals.ids, axis=1)] = -np.inf
        order = np.lexsort((proposals.ids, -log_probs), axis=-1)[:, :k]
        best = np.take_along_axis(log_probs, order, axis=-1)
        return Proposals(
            ids=np.take_along_axis(proposals.ids, order, axis=-1),
            log_probs=best,
            eos_log_probs=np.where(self._too_short() & np.isfinite(best[:, 0]), -np.inf, proposals.eos_log_probs),
        )

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the log-probabilities of all ids, control ids but EOS forbidden."""
        self._advance(parents, ids)
        return self._ruled_distribution(parents, ids)

    def _advance(self, parents: IntArray, ids: IntArray) -> None:
        """Bring the history of the rows up to date."""
        latest = np.where(ids == BOS_ID, _NOTHING, ids)
        self._sentence = self._sentence[parents]
        self._history = np.concatenate([self._history[parents], latest[:, None]], axis=1)

    def _ruled_distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        own = self._session.distribution(parents, ids)
        log_probs = own.copy()
        repeated = self._repeated()
        log_probs[repeated] *= np.float32(self._engine.repetition_penalty)
        log_probs[self._forbidden()] = -np.inf
        log_probs[:, [i for i in range(N_CONTROL) if i != EOS_ID]] = -np.inf
        token_left = np.isfinite(log_probs[:, N_CONTROL:]).any(axis=1)
        log_probs[self._too_short() & token_left, EOS_ID] = -np.inf
        forced = self._forced()
        rows = np.flatnonzero(forced != _NOTHING)
        log_probs[rows] = -np.inf
        log_probs[rows, forced[rows]] = own[rows, forced[rows]]
        return log_probs

    @property
    def _n_tokens(self) -> IntArray:
        """``[rows]``: tokens that each row has written."""
        return np.asarray((self._history != _NOTHING).sum(axis=1))

    def _too_short(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self._n_tokens < self._engine.minima[self._sentence])

    def _forced(self) -> IntArray:
        """Return the next token of the prefix of each row, _NOTHING where it is done."""
        forced = np.full(len(self._sentence), _NOTHING)
        n_tokens = self._n_tokens
        rows = np.flatnonzero(n_tokens < self._engine.prefix_lengths[self._sentence])
        forced[rows] = self._engine.prefixes[self._sentence[rows], n_tokens[rows]]
        return forced

    def _repeated(self) -> npt.NDArray[np.bool_]:
        """Return ``[rows, vocab]``: True for the tokens that a row has written, if there is a penalty for them."""
        repeated = self._no_ids()
        if self._engine.repetition_penalty > 1:
            rows, steps = np.nonzero(self._history != _NOTHING)
            repeated[rows, self._history[rows, steps]] = True
        return repeated

    def _forbidden(self) -> npt.NDArray[np.bool_]:
        """Return ``[rows, vocab]``: True for the tokens that would complete a banned phrase or a repeated n-gram."""
        forbidden = self._no_ids()
        for phrases in self._engine.banned:
            forbidden[phrases.completions(self._sentence, self._history)] = True
        n = self._engine.no_repeat_ngram_size
        if 0 < n <= self._history.shape[1]:
            ngrams = np.lib.stride_tricks.sliding_window_view(self._history, n, axis=1)  # [rows, places, n]
            begun = self._history[:, None, self._history.shape[1] - (n - 1) :]
            rows, places = np.nonzero((ngrams[:, :, :-1] == begun).all(axis=2) & (ngrams[:, :, 0] != _NOTHING))
            forbidden[rows, ngrams[rows, places, -1]] = True
        return forbidden

    def _no_ids(self) -> npt.NDArray[np.bool_]:
        return np.zeros((len(self._sentence), self._engine.tgt_vocab_size), dtype=bool)


class _Phrases:
    """The banned phrases of one length of all sentences, those of one sentence one after the other."""

    def __init__(self, rules: Sequence[SentenceRules], n_tokens: int) -> None:
        of_each = [[phrase for phrase in rule.banned if len(phrase) == n_tokens] for rule in rules]
        self.ids = np.array(
            [phrase for phrases in of_each for phrase in phrases], dtype=np.int64
        )  # [phrases, n_tokens]
        self.counts = np.array([len(phrases) for phrases in of_each], dtype=np.int64)  # [sentences]
        self.starts = np.cumsum(self.counts) - self.counts  # [sentences]

    def completions(self, sentence: IntArray, history: IntArray) -> tuple[IntArray, IntArray]:
        """Return rows and tokens: each token would complete a phrase of the row.

        Args:
            sentence: ``[rows]``: that of each row.
            history: ``[rows, steps]``: the latest token last.
        """
        n_before = self.ids.shape[1] - 1
        if n_before > history.shape[1]:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        counts = self.counts[sentence]
        rows = np.repeat(np.arange(len(sentence)), counts)  # each row with each phrase of its sentence
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        phrases = self.ids[self.starts[sentence[rows]] + place]
        before = history[rows, history.shape[1] - n_before :]
        begun = (phrases[:, :-1] == before).all(axis=1)
        return rows[begun], phrases[begun, -1]


def best_proposals(log_probs: FloatArray, k: int) -> Proposals:
    """Return the best k tokens of whole distributions ``[rows, vocab]``; of equal ones the lower id comes first."""
    words = log_probs[:, N_CONTROL:]
    best = np.argsort(-words, axis=1, kind="stable")[:, :k]
    return Proposals(
        ids=best.astype(np.int64) + N_CONTROL,
        log_probs=np.take_along_axis(words, best, axis=1),
        eos_log_probs=log_probs[:, EOS_ID],
    )
