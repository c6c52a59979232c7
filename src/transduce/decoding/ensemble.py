"""Several models that vote together on every token, as one engine.

The ensemble's probability of a token is the weighted arithmetic mean of the models' probabilities. That is a probability
distribution again, so log-probabilities of an ensemble are those of a model, and can be compared and scored as such; the
mean of log-probabilities (the geometric mean) would have to be normalized first, and one model that gives a token almost
no chance would forbid it to all. fairseq and OpenNMT-py average probabilities too. Paper: Table 2 names the ensembles of
earlier work; the paper itself uses single models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import cast

import numpy as np

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine, FloatArray, IntArray, Proposals, Session
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL

__all__ = ["EnsembleEngine"]


class EnsembleEngine:
    """An :class:`~transduce.decoding.engine.Engine` that is the weighted mean of several.

    Args:
        engines: The models. They share their vocabularies: who opens the bundles checks that by content, since ids do not
            show it.
        weights: One for each model, of any sum; only their ratios count. A model of weight 0, or of one that is nothing
            beside the others, is left out. None: all equal.

    Raises:
        DecodingError: There is no model, the weights are no weights, or the target vocabularies differ in size.
    """

    def __init__(self, engines: Sequence[Engine], weights: Sequence[float] | None = None) -> None:
        weights = [1.0] * len(engines) if weights is None else weights
        _check(engines, weights)
        largest = max(weights)
        relative = [weight / largest for weight in weights]  # first, since the sum of huge weights is no number
        self.engines = [engine for engine, weight in zip(engines, relative, strict=True) if weight > 0]
        self.weights = [weight / math.fsum(relative) for weight in relative if weight > 0]
        """Of the models in :attr:`engines`; they sum to 1."""

    @property
    def name(self) -> str:
        """The names of the models' engines; the weights are not told."""
        return " + ".join(engine.name for engine in self.engines)

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary that all models share, control ids included."""
        return self.engines[0].tgt_vocab_size

    @property
    def max_sentence_tokens(self) -> int | None:
        """The longest source or target in tokens, EOS not counted, that every model has positions for; None: any length."""
        longest = [engine.max_sentence_tokens for engine in self.engines]
        return min((limit for limit in longest if limit is not None), default=None)

    def start(self, sources: Sequence[Sequence[int]]) -> EnsembleSession:
        """Let every model encode the sentences, and begin a search over them, with one row for each, in order."""
        return EnsembleSession(self, [engine.start(sources) for engine in self.engines])

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the log-probability of every token of given targets, EOS last, under the mean of the models."""
        of_models = [engine.score(sources, targets) for engine in self.engines]
        return [self.mean(list(token_log_probs)) for token_log_probs in zip(*of_models, strict=True)]

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Return where one decoder layer looks in the source, as the weighted mean of the models' layers of that number.

        Args:
            sources: As in :meth:`start`.
            targets: As in :meth:`score`.
            layer: Counted in each model by itself; from the end, if negative, which fits models of different depth.
        """
        of_models = [engine.cross_attention(sources, targets, layer) for engine in self.engines]
        return [
            sum((weight * own for weight, own in zip(self.weights, maps, strict=True)), np.zeros_like(maps[0]))
            for maps in zip(*of_models, strict=True)
        ]

    def mean(self, log_probs: Sequence[FloatArray]) -> FloatArray:
        """Return the logarithm of the weighted mean of probabilities.

        Args:
            log_probs: For each model natural log-probabilities, all of one shape. Minus infinity is a probability of 0.
        """
        if len(log_probs) == 1:
            return log_probs[0]
        weighted = [own + np.float32(math.log(weight)) for own, weight in zip(log_probs, self.weights, strict=True)]
        # Taken relative to the largest, so that what is tiny in all models keeps its digits instead of becoming 0.
        largest = reduce(np.maximum, weighted)
        anchor = np.where(np.isneginf(largest), np.float32(0), largest)
        total = sum((np.exp(own - anchor) for own in weighted), np.zeros_like(anchor))
        with np.errstate(divide="ignore"):  # log 0, where all models say 0
            mean = anchor + np.log(total)
        return cast("FloatArray", np.minimum(mean, np.float32(0)))  # rounding may lift a certain token above 0


class EnsembleSession:
    """One search over several models: their sessions go through the same steps.

    Args:
        ensemble: The models and their weights.
        sessions: A session of each.
    """

    def __init__(self, ensemble: EnsembleEngine, sessions: Sequence[Session]) -> None:
        self._ensemble = ensemble
        self._sessions = sessions

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, numbered after the rows of the latest step, in order."""
        for session in self._sessions:
            session.add(sources)

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose what may follow.

        The best k of the mean may be among the best k of no model, so every model gives its whole distribution.
        """
        log_probs = self.distribution(parents, ids)
        words = log_probs[:, N_CONTROL:]
        best = _best(words, k)
        return Proposals(
            ids=best.astype(np.int64) + N_CONTROL,
            log_probs=np.take_along_axis(words, best, axis=1),
            eos_log_probs=log_probs[:, EOS_ID],
        )

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the mean probability of everything that may follow."""
        return self._ensemble.mean([session.distribution(parents, ids) for session in self._sessions])


def _best(log_probs: FloatArray, k: int) -> IntArray:
    """Return the columns of the k largest of each row, the largest first; of equal ones the lower column."""
    n_columns = log_probs.shape[1]
    worst_kept = np.partition(log_probs, n_columns - k, axis=1)[:, n_columns - k, None]
    best = np.empty((len(log_probs), k), dtype=np.int64)
    for row, values in enumerate(log_probs):
        columns = np.flatnonzero(values >= worst_kept[row])  # k, and those equal to the last of them
        best[row] = columns[np.argsort(-values[columns], kind="stable")[:k]]
    return best


def _check(engines: Sequence[Engine], weights: Sequence[float]) -> None:
    if not engines:
        raise DecodingError("an ensemble needs at least one model")
    if len(weights) != len(engines):
        raise DecodingError(f"{len(engines)} models vote, but {len(weights)} weights are given; give one for each")
    for weight in weights:
        if not (math.isfinite(weight) and weight >= 0):
            raise DecodingError(f"{weight} is no weight of a model in an ensemble; give a number of at least 0")
    if not any(weights):
        raise DecodingError("all models of the ensemble have the weight 0; give one of them more")
    sizes = [engine.tgt_vocab_size for engine in engines]
    if len(set(sizes)) > 1:
        raise DecodingError(
            f"models with target vocabularies of {' and '.join(map(str, sizes))} entries cannot vote together; "
            "train them with one vocabulary"
        )
