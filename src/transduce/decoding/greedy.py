"""Greedy search: take the most probable token, again and again. Read this first, then ``beam.py``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transduce.decoding.engine import Engine
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds, length_bounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID

__all__ = ["greedy_search"]


def greedy_search(
    engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings, bounds: LengthBounds | None = None
) -> list[Hypothesis]:
    """Translate each source by its most probable next token at every step; of equal ones the lower id.

    Gives exactly what beam search gives with a beam of 1, in less code and time. ``beam_size`` and ``n_best`` are not
    looked at; the length limits are.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        settings: The length limits, and alpha for the score.
        bounds: Minimum and limit of the length of each translation; None: as the settings say.

    Returns:
        One finished hypothesis for each source, in order.

    Raises:
        DecodingError: A length limit cannot be met, or the model returns numbers that are no log-probabilities.
    """
    if not sources:
        return []
    minima, limits = bounds or length_bounds(engine, sources, settings)
    session = engine.start(sources)
    tokens: list[list[int]] = [[] for _ in sources]
    log_probs = [0.0] * len(sources)

    open_sentences = list(range(len(sources)))  # one row each
    parents = np.arange(len(sources))
    last_ids = np.full(len(sources), BOS_ID)
    while open_sentences:
        proposals = session.step(parents, last_ids, k=1)
        proposals.check()
        still_open, parents_next = [], []
        for row, sentence in enumerate(open_sentences):
            n_tokens = len(tokens[sentence])
            token_log_prob, eos_log_prob = proposals.log_probs[row, 0], proposals.eos_log_probs[row]
            may_end, must_end = n_tokens >= minima[sentence], n_tokens == limits[sentence]
            if must_end or (may_end and eos_log_prob >= token_log_prob):
                log_probs[sentence] += float(eos_log_prob)
            else:
                log_probs[sentence] += float(token_log_prob)
                tokens[sentence].append(int(proposals.ids[row, 0]))
                still_open.append(sentence)
                parents_next.append(row)
        open_sentences, parents = still_open, np.array(parents_next, dtype=np.int64)
        last_ids = np.array([tokens[sentence][-1] for sentence in open_sentences], dtype=np.int64)

    return [
        Hypothesis(
            ids=tuple(ids),
            log_prob=log_prob,
            score=log_prob / length_penalty(len(ids) + 1, settings.length_alpha),
            at_limit=len(ids) == limit,
        )
        for ids, log_prob, limit in zip(tokens, log_probs, limits.tolist(), strict=True)
    ]
