"""Beam search: at every step keep the best few hypotheses of each sentence.

One step of one sentence, in words. Its open hypotheses are all equally long. Each is extended by every token and by EOS;
of all these candidates the ``beam_size`` most probable stay. Those that end with EOS are finished and leave the beam, the
others are the open hypotheses of the next step. So EOS counts only when it is among the best ``beam_size`` candidates:
with a beam of 1 it must be the most probable token, as in greedy search. At the length limit EOS is the only candidate.

A sentence is settled as soon as no open hypothesis can enter the list of its best finished ones. That is exact, and it
depends on nothing but the sentence: log-probabilities only fall, and the length penalty is largest at the length limit, so
no descendant of an open hypothesis can score more than ``log P / penalty(limit)``. More results (``n_best``) make the
search go on longer, but never change those at the top.

Equal candidates: the one with the better (lower) parent comes first, then EOS, then the lower id. Equal scores: the
hypothesis that finished first. What has log-probability -inf is no candidate: a rule forbids it (``rules.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from transduce.decoding.beams import Beams, finish, first_beams, list_candidates, next_beams, penalty_table
from transduce.decoding.engine import Engine
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds, length_bounds
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import N_CONTROL

__all__ = ["beam_search", "beam_steps"]


def beam_search(
    engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings, bounds: LengthBounds | None = None
) -> list[list[Hypothesis]]:
    """Search for the translations with the highest score, log P / length penalty. Paper: section 6.1.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        settings: Beam size, length penalty, limits and ``n_best``.
        bounds: Minimum and limit of the length of each translation; None: as the settings say.

    Returns:
        For each source, in order, its ``n_best`` best hypotheses, best first, all different. There are fewer only where
        the length limits leave fewer (a vocabulary of 6 tokens has 7 translations of at most one token).

    Raises:
        DecodingError: A length limit cannot be met, or the model returns numbers that are no log-probabilities.
    """
    finished: list[list[Hypothesis]] = [[] for _ in sources]
    for _ in beam_steps(engine, sources, settings, finished, bounds):
        pass
    return finished


def beam_steps(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    settings: DecodeSettings,
    finished: list[list[Hypothesis]],
    bounds: LengthBounds | None = None,
) -> Iterator[Beams]:
    """Run the search of :func:`beam_search` step by step, for whoever wants to look on.

    Args:
        engine: As there.
        sources: As there.
        settings: As there.
        finished: An empty list for each source, which the search fills.
        bounds: As there.

    Yields:
        After each step the sentences that are not settled, with their open hypotheses.
    """
    if not sources:
        return
    bounds = bounds or length_bounds(engine, sources, settings)
    # One row can fill the whole beam, if it has so many tokens.
    k = min(settings.beam_size, engine.tgt_vocab_size - N_CONTROL)
    beams = first_beams(bounds, settings.beam_size)
    penalties = penalty_table(bounds.limits, settings.length_alpha)

    session = engine.start(sources)
    while beams.sentence.size:
        filled = beams.filled()  # one row each
        proposals = session.step(beams.parent_row[filled], beams.last_id[filled], k)
        proposals.check()
        candidates = list_candidates(beams, filled, proposals)
        rows = np.arange(len(proposals.ids))
        beams, ended = next_beams(beams, filled, rows, proposals.ids, candidates, choose_by=candidates)
        finish(beams, ended, finished, penalties, settings.n_best)
        beams = beams.keep_promising(penalties)
        yield beams
