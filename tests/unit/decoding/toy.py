"""A model small enough to be known completely: the oracle of the search tests, without torch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from transduce.decoding.beam import beam_search
from transduce.decoding.engine import FloatArray, IntArray, Proposals
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

N_STEPS = 7
"""The tables of a toy model repeat after this many steps."""


@dataclass
class ToyEngine:
    """A Markov model: the next token depends on the one before, on the step and on the first source token.

    ``table`` is [sources, steps, vocab, vocab]: log-probabilities of the next token, the last axis.
    """

    table: npt.NDArray[np.float32]
    max_sentence_tokens: int | None = None
    rows_per_step: list[int] = field(default_factory=list)

    @classmethod
    def random(
        cls, seed: int, n_words: int = 5, spread: float = 2.0, max_sentence_tokens: int | None = None
    ) -> ToyEngine:
        """Make a model of ``n_words`` words beside the control ids; a small spread gives flat distributions."""
        vocab = N_CONTROL + n_words
        logits = np.random.default_rng(seed).normal(scale=spread, size=(N_CONTROL + n_words, N_STEPS, vocab, vocab))
        table = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return cls(table.astype(np.float32), max_sentence_tokens)

    @property
    def name(self) -> str:
        return "toy"

    @property
    def tgt_vocab_size(self) -> int:
        return len(self.table[0, 0, 0])

    def start(self, sources: Sequence[Sequence[int]]) -> ToySession:
        session = ToySession(self)
        session.add(sources)
        return session

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        return [self.token_log_probs(source, target) for source, target in zip(sources, targets, strict=True)]

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Target position j looks at source position j, and those beyond the source at EOS."""
        maps = [np.zeros((len(t) + 1, len(s) + 1), dtype=np.float32) for s, t in zip(sources, targets, strict=True)]
        for weights in maps:
            at = np.arange(len(weights))
            weights[at, np.minimum(at, weights.shape[1] - 1)] = 1
        return maps

    def token_log_probs(self, source: Sequence[int], target: Sequence[int]) -> FloatArray:
        previous, following = [BOS_ID, *target], [*target, EOS_ID]
        steps = np.arange(len(following)) % N_STEPS
        return self.table[source[0] if source else 0, steps, previous, following]

    def log_prob(self, source: Sequence[int], target: Sequence[int]) -> float:
        return float(self.token_log_probs(source, target).sum(dtype=np.float64))


class ToySession:
    """Keeps the whole prefix of every row, and holds the search to what engine.py says about rows."""

    def __init__(self, engine: ToyEngine) -> None:
        self.engine = engine
        self.rows: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []  # (number of the sentence, source, prefix)
        self.n_sentences = 0

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        for source in sources:
            self.rows.append((self.n_sentences, tuple(source), ()))
            self.n_sentences += 1

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        assert 1 <= k <= self.engine.tgt_vocab_size - N_CONTROL
        following = self.distribution(parents, ids)
        words = following[:, N_CONTROL:]
        best = np.argsort(-words, axis=1, kind="stable")[:, :k]
        return Proposals(
            ids=(best + N_CONTROL).astype(np.int64),
            log_probs=np.take_along_axis(words, best, axis=1),
            eos_log_probs=following[:, EOS_ID],
        )

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        assert parents.shape == ids.shape and len(parents) > 0
        self.rows = [(*self.rows[p][:2], (*self.rows[p][2], int(token))) for p, token in zip(parents, ids, strict=True)]
        numbers = [number for number, _, _ in self.rows]
        assert numbers == sorted(numbers), "rows of one sentence stand together, sentences in the order of entry"
        assert len(set(self.rows)) == len(self.rows), "no hypothesis is computed twice"
        self.engine.rows_per_step.append(len(self.rows))
        return np.stack(
            [
                self.engine.table[source[0] if source else 0, (len(prefix) - 1) % N_STEPS, prefix[-1]]
                for _, source, prefix in self.rows
            ]
        )


@dataclass
class SearchingToyEngine(ToyEngine):
    """A toy model that searches by itself, and remembers how many sentences it was given each time."""

    given: list[int] = field(default_factory=list)

    def beam_search(
        self, sources: Sequence[Sequence[int]], minima: IntArray, limits: IntArray, settings: DecodeSettings
    ) -> list[list[Hypothesis]]:
        self.given.append(len(sources))
        return beam_search(ToyEngine(self.table), sources, settings, LengthBounds(minima, limits))


@dataclass(frozen=True)
class ToyRules:
    """What a translation keeps to, said once more and one token at a time: the oracle of ``rules.py``."""

    prefix: tuple[int, ...] = ()
    banned: tuple[tuple[int, ...], ...] = ()
    no_repeat: int = 0
    penalty: float = 1.0
    minimum: int = 0
    limit: int = 5

    def sentences(self, engine: ToyEngine, source: Sequence[int]) -> dict[tuple[int, ...], float]:
        """Return every sentence that the rules allow, with its penalized log-probability."""
        found: dict[tuple[int, ...], float] = {}
        self._extend(engine, source, (), 0.0, found)
        return found

    def _extend(
        self,
        engine: ToyEngine,
        source: Sequence[int],
        ids: tuple[int, ...],
        log_prob: float,
        found: dict[tuple[int, ...], float],
    ) -> None:
        following = engine.table[source[0] if source else 0, len(ids) % N_STEPS, [BOS_ID, *ids][-1]].tolist()
        if len(ids) < len(self.prefix):
            token = self.prefix[len(ids)]
            return self._extend(engine, source, (*ids, token), log_prob + following[token], found)
        words = [token for token in range(N_CONTROL, engine.tgt_vocab_size) if self._allows((*ids, token))]
        if len(ids) >= self.minimum or not words:
            found[ids] = log_prob + following[EOS_ID]
        if len(ids) < self.limit:
            for token in words:
                cost = following[token] * (self.penalty if token in ids else 1)
                self._extend(engine, source, (*ids, token), log_prob + cost, found)
        return None

    def _allows(self, ids: tuple[int, ...]) -> bool:
        if any(ids[-len(phrase) :] == phrase for phrase in self.banned):
            return False
        ngrams = [ids[i : i + self.no_repeat] for i in range(len(ids) - self.no_repeat + 1)]
        return self.no_repeat == 0 or not ngrams or ngrams[-1] not in ngrams[:-1]


def exhaustive(
    engine: ToyEngine, source: Sequence[int], *, min_tokens: int, max_tokens: int, alpha: float
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Score every sequence of the allowed lengths; return (score, log-probability, ids), best first."""
    words = range(N_CONTROL, engine.tgt_vocab_size)
    found = []
    for n_tokens in range(min_tokens, max_tokens + 1):
        for ids in itertools.product(words, repeat=n_tokens):
            log_prob = engine.log_prob(source, ids)
            found.append((log_prob / length_penalty(n_tokens + 1, alpha), log_prob, ids))
    return sorted(found, key=lambda item: -item[0])
