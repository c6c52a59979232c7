"""Beam search: at every step keep the best few hypotheses of each sentence.

One step of one sentence, in words. Its open hypotheses are all equally long. Each is extended by every token and by EOS;
of all these candidates the ``beam_size`` most probable stay. Those that end with EOS are finished and leave the beam, the
others are the open hypotheses of the next step. So EOS counts only when it is among the best ``beam_size`` candidates:
with a beam of 1 it must be the most probable token, as in greedy search.

A sentence is settled as soon as no open hypothesis can enter the list of its best finished ones. That is exact, and it
depends on nothing but the sentence: log-probabilities only fall, and the length penalty is largest at the length limit, so
no descendant of an open hypothesis can score more than ``log P / penalty(limit)``. More results (``n_best``) make the
search go on longer, but never change those at the top.

Equal candidates: the one with the better (lower) parent comes first, then EOS, then the lower id. Equal scores: the
hypothesis that finished first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transduce.decoding.engine import Engine, IntArray, Proposals
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import target_limits
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL

__all__ = ["beam_search"]

_Float64Array = npt.NDArray[np.float64]


@dataclass
class _Beams:
    """The sentences still searched. ``b`` sentences, ``w`` slots each (the beam size), ``t`` tokens so far.

    A slot with log-probability -inf is empty: at the start all but one are, and later those whose hypothesis has ended.
    """

    sentence: IntArray  # [b] int64: which source this is
    limit: IntArray  # [b] int64: most tokens of a hypothesis, EOS not counted
    ids: IntArray  # [b, w, t] int64: the tokens of each slot, BOS not among them
    log_prob: _Float64Array  # [b, w] float64: natural, the best slot first
    last_id: IntArray  # [b, w] int64: the latest token, BOS at the start
    parent_row: IntArray  # [b, w] int64: the row that the slot extends, in the numbering of the engine's latest step
    worst_kept: _Float64Array  # [b] float64: score of the n_best-th finished hypothesis, -inf while there are fewer

    def keep(self, which: npt.NDArray[np.bool_]) -> _Beams:
        """Return the sentences for which ``which`` [b] is True."""
        return _Beams(
            sentence=self.sentence[which],
            limit=self.limit[which],
            ids=self.ids[which],
            log_prob=self.log_prob[which],
            last_id=self.last_id[which],
            parent_row=self.parent_row[which],
            worst_kept=self.worst_kept[which],
        )


def beam_search(engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings) -> list[list[Hypothesis]]:
    """Search for the translations with the highest score, log P / length penalty. Paper: section 6.1.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        settings: Beam size, length penalty, limits and ``n_best``.

    Returns:
        For each source, in order, its ``n_best`` best hypotheses, best first, all different. There are fewer only where
        the length limits leave fewer (a vocabulary of 6 tokens has 7 translations of at most one token).

    Raises:
        DecodingError: A length limit cannot be met, or the model returns numbers that are no log-probabilities.
    """
    finished: list[list[Hypothesis]] = [[] for _ in sources]
    if not sources:
        return finished
    k = min(
        settings.beam_size, engine.tgt_vocab_size - N_CONTROL
    )  # one row can fill the whole beam, if it has so many tokens
    beams = _first_beams(target_limits(engine, sources, settings), settings.beam_size)
    penalties = np.array([length_penalty(n, settings.length_alpha) for n in range(beams.limit.max() + 2)])

    session = engine.start(sources)
    while beams.sentence.size:
        sentences, slots = np.nonzero(
            np.isfinite(beams.log_prob)
        )  # the filled slots, sentence by sentence: one row each
        proposals = session.step(beams.parent_row[sentences, slots], beams.last_id[sentences, slots], k)
        proposals.check()
        candidates = _candidates(beams, proposals, (sentences, slots), settings.min_tokens)
        beams, ended = _next_beams(beams, proposals, (sentences, slots), candidates)
        _finish(beams, ended, finished, penalties, settings.n_best)
        # The bound of the module docstring. A beam without open hypotheses has the bound -inf, and is settled too.
        bound = beams.log_prob.max(axis=1) / penalties[beams.limit + 1]
        beams = beams.keep(beams.worst_kept < bound)
    return finished


def _first_beams(limits: IntArray, beam_size: int) -> _Beams:
    """One open hypothesis a sentence: no tokens yet, probability 1."""
    b = len(limits)
    log_prob = np.full((b, beam_size), -np.inf)
    log_prob[:, 0] = 0.0
    return _Beams(
        sentence=np.arange(b),
        limit=limits,
        ids=np.zeros((b, beam_size, 0), dtype=np.int64),
        log_prob=log_prob,
        last_id=np.full((b, beam_size), BOS_ID),
        parent_row=np.repeat(np.arange(b)[:, None], beam_size, axis=1),
        worst_kept=np.full(b, -np.inf),
    )


def _candidates(
    beams: _Beams, proposals: Proposals, filled: tuple[IntArray, IntArray], min_tokens: int
) -> _Float64Array:
    """Return the log-probability of every candidate, ``[b, w, 1 + k]``: EOS first, then the tokens, best first.

    What must not be is -inf: empty slots, EOS before the minimum length, tokens after the limit.
    """
    b, w, n_tokens = beams.ids.shape
    candidates = np.full((b, w, 1 + proposals.ids.shape[1]), -np.inf)
    candidates[(*filled, 0)] = proposals.eos_log_probs
    candidates[(*filled, slice(1, None))] = proposals.log_probs
    candidates += beams.log_prob[:, :, None]
    if n_tokens < min_tokens:
        candidates[:, :, 0] = -np.inf
    candidates[n_tokens == beams.limit, :, 1:] = -np.inf
    return candidates


def _next_beams(
    beams: _Beams, proposals: Proposals, filled: tuple[IntArray, IntArray], candidates: _Float64Array
) -> tuple[_Beams, _Float64Array]:
    """Keep the best ``w`` candidates of each sentence.

    Returns:
        The new beams, in which the slots of ended hypotheses are empty but still hold their ids, EOS as the last; and
        ``[b, w]`` the log-probability of the hypothesis that ended in each slot, -inf where none did.
    """
    b, w, width = candidates.shape
    flat = candidates.reshape(b, w * width)
    best = np.argsort(-flat, axis=1, kind="stable")[:, :w]  # stable: this is the order of equal candidates
    log_prob = np.take_along_axis(flat, best, axis=1)
    parent, column = np.divmod(best, width)

    row = np.zeros((b, w), dtype=np.int64)
    row[filled] = np.arange(len(proposals.ids))
    ids = np.full((b, w, width), EOS_ID)
    ids[(*filled, slice(1, None))] = proposals.ids
    last_id = np.take_along_axis(ids.reshape(b, w * width), best, axis=1)

    parent_ids = np.take_along_axis(beams.ids, parent[:, :, None], axis=1)
    ends = column == 0
    after = _Beams(
        sentence=beams.sentence,
        limit=beams.limit,
        ids=np.concatenate([parent_ids, last_id[:, :, None]], axis=2),
        log_prob=np.where(ends, -np.inf, log_prob),
        last_id=last_id,
        parent_row=np.take_along_axis(row, parent, axis=1),
        worst_kept=beams.worst_kept,
    )
    return after, np.where(ends, log_prob, -np.inf)


def _finish(
    beams: _Beams, ended: _Float64Array, finished: list[list[Hypothesis]], penalties: _Float64Array, n_best: int
) -> None:
    """Put the hypotheses that have just ended among the ``n_best`` best of their sentences."""
    penalty = penalties[beams.ids.shape[2]]  # EOS is among the ids by now, and counts
    scores = ended / penalty
    for i, slot in np.argwhere(scores > beams.worst_kept[:, None]):
        kept = finished[beams.sentence[i]]
        ids = tuple(beams.ids[i, slot, :-1].tolist())
        kept.append(Hypothesis(ids, float(ended[i, slot]), float(scores[i, slot])))
        kept.sort(key=lambda hypothesis: -hypothesis.score)  # stable: of equal scores the one that finished first
        del kept[n_best:]
        if len(kept) == n_best:
            beams.worst_kept[i] = kept[-1].score
