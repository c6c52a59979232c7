"""Diverse beam search: several beams for one sentence, each of which avoids what the earlier ones have just said.

The hypotheses of a beam mostly differ in a word or two. Here the beam is divided into groups, each a beam search of its
own (``beam.py``) with its own list of finished hypotheses. At every step the groups choose one after the other, and for
this choice a token loses ``diversity`` for each hypothesis of the earlier groups that has just taken it (Vijayakumar et
al. 2016, Hamming diversity). EOS loses nothing. The loss decides only which candidates stay: log-probabilities and scores
remain those of the model.

So the first group is an ordinary search with a beam of ``beam_size / n_groups``, and with a diversity of 0 all groups are
the same search, whose results are returned once. A group keeps as many finished hypotheses as it has open ones, whatever
``n_best``, so that asking for more never changes those at the top.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from transduce.decoding.beams import (
    Beams,
    finish,
    first_beams,
    list_candidates,
    next_beams,
    penalty_table,
)
from transduce.decoding.engine import Engine, Proposals
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds, length_bounds
from transduce.decoding.rows import share_rows
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import N_CONTROL

__all__ = ["diverse_search"]


def diverse_search(
    engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings, bounds: LengthBounds | None = None
) -> list[list[Hypothesis]]:
    """Search for good translations that differ.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS. They are decoded together: the caller cuts the batches.
        settings: Beam size, groups, diversity, length penalty and ``n_best``.
        bounds: Minimum and limit of the length of each translation; None: as the settings say.

    Returns:
        For each source, in order, the ``n_best`` best of all that its groups have finished, best first, all different.
        There are fewer where the groups have found the same.

    Raises:
        DecodingError: A length limit cannot be met, or the model returns numbers that are no log-probabilities.
    """
    if not sources:
        return []
    bounds = bounds or length_bounds(engine, sources, settings)
    width = settings.beam_size // settings.n_groups
    groups = [first_beams(bounds, width) for _ in range(settings.n_groups)]
    finished: list[list[list[Hypothesis]]] = [[[] for _ in sources] for _ in groups]
    penalties = penalty_table(bounds.limits, settings.length_alpha)
    # At most beam_size - width tokens lose anything: behind the best beam_size there is none that could get into a group.
    k = min(settings.beam_size, engine.tgt_vocab_size - N_CONTROL)

    session = engine.start(sources)
    while any(beams.sentence.size for beams in groups):
        filled = [beams.filled() for beams in groups]
        parents, ids, row_of_each = share_rows(
            np.concatenate([beams.parent_row[where] for beams, where in zip(groups, filled, strict=True)]),
            np.concatenate([beams.last_id[where] for beams, where in zip(groups, filled, strict=True)]),
        )
        proposals = session.step(parents, ids, k)
        proposals.check()
        n_taken = np.zeros((len(sources), engine.tgt_vocab_size), dtype=np.int64)
        ends = np.cumsum([len(where.sentences) for where in filled])
        for g, (beams, rows) in enumerate(zip(groups, np.split(row_of_each, ends[:-1]), strict=True)):
            mine = Proposals(proposals.ids[rows], proposals.log_probs[rows], proposals.eos_log_probs[rows])
            candidates = list_candidates(beams, filled[g], mine)
            choose_by = candidates.copy()
            n_of_each = n_taken[beams.sentence[filled[g].sentences][:, None], mine.ids]
            choose_by[(*filled[g], slice(1, None))] -= settings.diversity * n_of_each
            beams, ended = next_beams(beams, filled[g], rows, mine.ids, candidates, choose_by)
            _count(n_taken, beams)
            finish(beams, ended, finished[g], penalties, width)
            groups[g] = beams.keep_promising(penalties)
    return [_merge(lists)[: settings.n_best] for lists in zip(*finished, strict=True)]


def _count(n_taken: npt.NDArray[np.int64], beams: Beams) -> None:
    """Add the tokens that a group has just taken to the counts ``[sentences, vocab]``."""
    sentences, slots = beams.filled()
    np.add.at(n_taken, (beams.sentence[sentences], beams.last_id[sentences, slots]), 1)


def _merge(lists: Sequence[list[Hypothesis]]) -> list[Hypothesis]:
    """Put the lists of the groups together, best first, each hypothesis once; of equal scores the earlier group's."""
    different: dict[tuple[int, ...], Hypothesis] = {}
    for hypothesis in itertools.chain.from_iterable(lists):
        different.setdefault(hypothesis.ids, hypothesis)
    return sorted(different.values(), key=lambda hypothesis: -hypothesis.score)
