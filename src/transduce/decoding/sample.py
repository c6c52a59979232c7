"""Sampling: draw translations from the model's distribution, token by token.

The draws of a sentence depend on ``seed`` and on the source ids of this sentence, on nothing else: not on the batch, the
order or the neighbours. So a line that comes twice in a file is translated twice in the same way. Sample i is the same
however many are asked for, which is why samples stay in the order in which they were drawn; the same translation may be
drawn more than once.

The distribution of one step, in this order: the log-probabilities are divided by ``temperature``; of the ``top_k`` most
probable tokens (of equal ones EOS first, then the lower id) the smallest set of the most probable stays that has the share
``top_p`` of their probability; what is left is scaled to 1. PAD, BOS and UNK are never drawn, EOS not before the minimum
length, and at the length limit nothing else is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from transduce.decoding.engine import Engine, FloatArray, IntArray, check_log_probs
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds, length_bounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.rows import share_rows
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, PAD_ID, UNK_ID

__all__ = ["sample_search", "step_distribution", "uniforms"]

_Float64Array = npt.NDArray[np.float64]


def sample_search(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    settings: DecodeSettings,
    n_samples: int,
    bounds: LengthBounds | None = None,
) -> list[list[Hypothesis]]:
    """Draw translations of each source.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        settings: Temperature, ``top_k``, ``top_p``, seed, length limits, and alpha for the score.
        n_samples: Translations drawn of each source. ``n_best`` is not looked at.
        bounds: Minimum and limit of the length of each translation; None: as the settings say.

    Returns:
        For each source, in order, its samples in the order in which they were drawn. Their log-probabilities are the
        model's own, whatever the temperature.

    Raises:
        DecodingError: A length limit cannot be met, or the model returns numbers that are no log-probabilities.
    """
    found: list[list[Hypothesis]] = [[] for _ in sources]
    if not sources:
        return found
    bounds = bounds or length_bounds(engine, sources, settings)
    sentence = np.repeat(np.arange(len(sources)), n_samples)  # of each open sample; those that end leave all arrays
    place = np.arange(len(sentence))  # where it stands among all samples
    draws = np.stack(
        [
            uniforms(settings.seed, source, number, int(bounds.limits.max()) + 1)
            for source in sources
            for number in range(n_samples)
        ]
    )
    ids = np.zeros((len(sentence), 0), dtype=np.int64)
    log_prob = np.zeros(len(sentence))
    done: dict[int, Hypothesis] = {}

    session = engine.start(sources)
    parents, last_ids, row = share_rows(sentence, np.full(len(sentence), BOS_ID))
    while sentence.size:
        following = session.distribution(parents, last_ids)
        check_log_probs(following)
        n_tokens = ids.shape[1]
        row_sentence = np.zeros(len(parents), dtype=np.int64)
        row_sentence[row] = sentence
        allowed = _allowed(following, n_tokens, bounds.take(row_sentence))
        cumulative = step_distribution(allowed, settings).cumsum(axis=1)
        drawn = _draw(cumulative, row, draws[place, n_tokens])
        log_prob = log_prob + following[row, drawn]
        ends = drawn == EOS_ID
        for i in np.flatnonzero(ends):
            total, limit = float(log_prob[i]), int(bounds.limits[sentence[i]])
            score = total / length_penalty(n_tokens + 1, settings.length_alpha)
            done[int(place[i])] = Hypothesis(tuple(ids[i].tolist()), total, score, n_tokens == limit)
        goes_on = ~ends
        sentence, place, log_prob = sentence[goes_on], place[goes_on], log_prob[goes_on]
        ids = np.concatenate([ids, drawn[:, None]], axis=1)[goes_on]
        parents, last_ids, row = share_rows(row[goes_on], drawn[goes_on])
    return [[done[i * n_samples + number] for number in range(n_samples)] for i in range(len(sources))]


def uniforms(seed: int, source: Sequence[int], number: int, n: int) -> _Float64Array:
    """Return the random numbers in [0, 1) that one sample of one sentence uses, one a step.

    They are those of a Philox generator, made from its raw bits, which numpy never changes: the key is a hash of the
    seed and the source ids, and each sample has a stretch of its own.

    Args:
        seed: The user's.
        source: Source ids.
        number: Which sample of the sentence, from 0.
        n: Numbers wanted; more of them leave the first ones as they are.
    """
    digest = hashlib.sha256(" ".join(map(str, [seed, *source])).encode()).digest()
    generator = np.random.Philox(key=int.from_bytes(digest[:16], "little"), counter=number << 64)
    return np.asarray((generator.random_raw(n) >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def step_distribution(log_probs: FloatArray, settings: DecodeSettings) -> _Float64Array:
    """Return what is drawn from: ``[rows, vocab]``, each row sums to 1.

    Args:
        log_probs: ``[rows, vocab]``: of the model, -inf for what must not be drawn.
        settings: Temperature, ``top_k`` and ``top_p``.
    """
    below_best = log_probs.astype(np.float64)
    below_best -= below_best.max(axis=1, keepdims=True)  # before the division: the best stays at 0 at any temperature
    with np.errstate(over="ignore"):  # what becomes -inf is not drawn
        weights = np.exp(below_best / settings.temperature)
    if settings.top_k is not None or settings.top_p is not None:
        weights = _keep_most_probable(weights, settings.top_k, settings.top_p)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def _keep_most_probable(weights: _Float64Array, top_k: int | None, top_p: float | None) -> _Float64Array:
    order = np.argsort(-weights, axis=1, kind="stable")  # EOS has the lowest id of all that may be drawn
    ranked = np.take_along_axis(weights, order, axis=1)
    if top_k is not None:
        ranked[:, top_k:] = 0
    if top_p is not None:
        up_to = ranked.cumsum(axis=1)
        ranked[up_to - ranked >= top_p * up_to[:, -1:]] = 0  # those before it have the share already
    kept = np.zeros_like(weights)
    np.put_along_axis(kept, order, ranked, axis=1)
    return kept


def _allowed(log_probs: FloatArray, n_tokens: int, bounds: LengthBounds) -> FloatArray:
    """Return log-probabilities with -inf for what must not be drawn.

    Args:
        log_probs: ``[rows, vocab]``.
        n_tokens: Tokens that the rows have so far.
        bounds: Those of the sentence of each row.
    """
    allowed = log_probs.copy()
    allowed[:, [PAD_ID, BOS_ID, UNK_ID]] = -np.inf
    allowed[n_tokens < bounds.minima, EOS_ID] = -np.inf
    must_end = bounds.limits == n_tokens
    allowed[must_end] = -np.inf
    allowed[must_end, EOS_ID] = 0.0
    return allowed


def _draw(cumulative: _Float64Array, row: IntArray, draws: _Float64Array) -> IntArray:
    """Draw a token for each sample: where its random number falls in the cumulative distribution of its row."""
    total = cumulative[row, -1]
    points = np.minimum(draws * total, np.nextafter(total, 0))  # a product just below the total may be rounded up to it
    found = [np.searchsorted(cumulative[r], point, side="right") for r, point in zip(row, points, strict=True)]
    return np.array(found, dtype=np.int64)
