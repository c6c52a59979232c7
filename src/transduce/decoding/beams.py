"""The open hypotheses of a beam search, and one step of them: what ``beam.py`` and ``diverse.py`` are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.decoding.engine import IntArray, Proposals
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.tokenizer.protocol import BOS_ID, EOS_ID

__all__ = ["Beams", "Filled", "finish", "first_beams", "list_candidates", "next_beams", "penalty_table"]

Float64Array = npt.NDArray[np.float64]


class Filled(NamedTuple):
    """The slots that hold an open hypothesis, sentence by sentence."""

    sentences: IntArray
    """``[filled]``: index into the sentences of the beams."""
    slots: IntArray
    """``[filled]``: slot of that sentence."""


@dataclass
class Beams:
    """The sentences still searched. ``b`` sentences, ``w`` slots each (the beam size), ``t`` tokens so far.

    A slot with log-probability -inf is empty: at the start all but one are, and later those whose hypothesis has ended.
    """

    sentence: IntArray  # [b] int64: which source this is
    minimum: IntArray  # [b] int64: fewest tokens of a hypothesis, EOS not counted
    limit: IntArray  # [b] int64: most tokens of a hypothesis, EOS not counted
    ids: IntArray  # [b, w, t] int64: the tokens of each slot, BOS not among them
    log_prob: Float64Array  # [b, w] float64: natural, the best slot first
    last_id: IntArray  # [b, w] int64: the latest token, BOS at the start
    parent_row: IntArray  # [b, w] int64: the row that the slot extends, in the numbering of the engine's latest step
    worst_kept: Float64Array  # [b] float64: score of the n_best-th finished hypothesis, -inf while there are fewer

    def filled(self) -> Filled:
        """Return the slots that hold an open hypothesis."""
        return Filled(*np.nonzero(np.isfinite(self.log_prob)))

    def keep_promising(self, penalties: Float64Array) -> Beams:
        """Return the sentences of which an open hypothesis can still enter the list of the best finished ones.

        Log-probabilities only fall, and the length penalty is largest at the limit. A sentence without open hypotheses
        has the bound -inf, and goes too.
        """
        which = self.worst_kept < self.log_prob.max(axis=1) / penalties[self.limit + 1]
        return Beams(
            sentence=self.sentence[which],
            minimum=self.minimum[which],
            limit=self.limit[which],
            ids=self.ids[which],
            log_prob=self.log_prob[which],
            last_id=self.last_id[which],
            parent_row=self.parent_row[which],
            worst_kept=self.worst_kept[which],
        )


def first_beams(bounds: LengthBounds, width: int) -> Beams:
    """One open hypothesis a sentence: no tokens yet, probability 1."""
    b = len(bounds.limits)
    log_prob = np.full((b, width), -np.inf)
    log_prob[:, 0] = 0.0
    return Beams(
        sentence=np.arange(b),
        minimum=bounds.minima,
        limit=bounds.limits,
        ids=np.zeros((b, width, 0), dtype=np.int64),
        log_prob=log_prob,
        last_id=np.full((b, width), BOS_ID),
        parent_row=np.repeat(np.arange(b)[:, None], width, axis=1),
        worst_kept=np.full(b, -np.inf),
    )


def penalty_table(limits: IntArray, alpha: float) -> Float64Array:
    """Return the length penalty of every number of tokens that a hypothesis can have, EOS counted."""
    return np.array([length_penalty(n, alpha) for n in range(limits.max(initial=0) + 2)])


def list_candidates(beams: Beams, filled: Filled, proposals: Proposals) -> Float64Array:
    """Return the log-probability of every candidate, ``[b, w, 1 + k]``: EOS first, then the tokens, best first.

    What must not be is -inf: empty slots, EOS before the minimum length, tokens after the limit, what a rule forbids.

    Args:
        beams: The open hypotheses.
        filled: Where they are.
        proposals: What may follow each of them, in the same order.
    """
    b, w, n_tokens = beams.ids.shape
    candidates = np.full((b, w, 1 + proposals.ids.shape[1]), -np.inf)
    candidates[(*filled, 0)] = proposals.eos_log_probs
    candidates[(*filled, slice(1, None))] = proposals.log_probs
    candidates += beams.log_prob[:, :, None]
    candidates[n_tokens < beams.minimum, :, 0] = -np.inf
    candidates[n_tokens == beams.limit, :, 1:] = -np.inf
    return candidates


def next_beams(
    beams: Beams, filled: Filled, rows: IntArray, ids: IntArray, candidates: Float64Array, choose_by: Float64Array
) -> tuple[Beams, Float64Array]:
    """Keep the best ``w`` candidates of each sentence.

    Args:
        beams: The open hypotheses.
        filled: Where they are.
        rows: ``[filled]``: the number of each among the rows of the engine's latest step.
        ids: ``[filled, k]``: the tokens that may follow each.
        candidates: ``[b, w, 1 + k]``: log-probabilities.
        choose_by: ``[b, w, 1 + k]``: what makes a candidate the best, -inf for those that must not be; in a plain
            search the log-probabilities.

    Returns:
        The new beams, in which the slots of ended hypotheses are empty but still hold their ids, EOS as the last; and
        ``[b, w]`` the log-probability of the hypothesis that ended in each slot, -inf where none did.
    """
    b, w, width = candidates.shape
    best = np.argsort(-choose_by.reshape(b, w * width), axis=1, kind="stable")[:, :w]  # stable: order of equal ones
    log_prob = np.take_along_axis(candidates.reshape(b, w * width), best, axis=1)
    parent, column = np.divmod(best, width)

    row = np.zeros((b, w), dtype=np.int64)
    row[filled] = rows
    all_ids = np.full((b, w, width), EOS_ID)
    all_ids[(*filled, slice(1, None))] = ids
    last_id = np.take_along_axis(all_ids.reshape(b, w * width), best, axis=1)

    parent_ids = np.take_along_axis(beams.ids, parent[:, :, None], axis=1)
    ends = column == 0
    after = Beams(
        sentence=beams.sentence,
        minimum=beams.minimum,
        limit=beams.limit,
        ids=np.concatenate([parent_ids, last_id[:, :, None]], axis=2),
        log_prob=np.where(ends, -np.inf, log_prob),
        last_id=last_id,
        parent_row=np.take_along_axis(row, parent, axis=1),
        worst_kept=beams.worst_kept,
    )
    return after, np.where(ends, log_prob, -np.inf)


def finish(
    beams: Beams, ended: Float64Array, finished: list[list[Hypothesis]], penalties: Float64Array, n_best: int
) -> None:
    """Put the hypotheses that have just ended among the ``n_best`` best of their sentences.

    Args:
        beams: As :func:`next_beams` returns them; ``worst_kept`` is brought up to date.
        ended: As :func:`next_beams` returns it.
        finished: The lists of all sentences, best first.
        penalties: The length penalty of each number of tokens.
        n_best: The longest that a list may be.
    """
    n_tokens = beams.ids.shape[2]  # EOS is among the ids by now, and counts
    scores = ended / penalties[n_tokens]
    for i, slot in np.argwhere(scores > beams.worst_kept[:, None]):
        kept = finished[beams.sentence[i]]
        ids = tuple(beams.ids[i, slot, :-1].tolist())
        at_limit = n_tokens - 1 == int(beams.limit[i])
        kept.append(Hypothesis(ids, float(ended[i, slot]), float(scores[i, slot]), at_limit))
        kept.sort(key=lambda hypothesis: -hypothesis.score)  # stable: of equal scores the one that finished first
        del kept[n_best:]
        if len(kept) == n_best:
            beams.worst_kept[i] = kept[-1].score
