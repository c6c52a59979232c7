"""How likely a target token is as the translation of a source token: IBM model 1, learned from a token store.

Model 1 (Brown et al. 1993) lets every target token be produced by one source token, any of them alike:
``P(t | source) = sum over its tokens s of P(t | s) / their number``. Expectation maximization finds ``P(t | s)``: each target
token is divided among the source tokens by what the table says now, and the table is what each of them got. EOS ends every
source, and so stands for what no source token explains (the empty word of the paper). A token that stands twice in a
source counts once.

The table is sparse and never sorted by pairs: it is gone through source token by source token. Of one source token the
whole row fits the cache, the places of the targets that it may explain are ranges, and what is summed over the source
tokens lies in one number for each target token of the corpus. So a million pairs of 20 tokens, about half a billion terms
in each iteration, take some minutes of one core and two gigabytes of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.data.store import TokenStore
from transduce.tokenizer.protocol import EOS_ID

__all__ = ["LexicalTable", "learn_lexical"]

N_ITERATIONS = 5
"""Model 1 has one optimum, and is near enough to it after a few."""
MAX_PAIRS = 1_000_000
"""Pairs that are learned from, evenly spaced where a store has more: memory and time grow with them, and a table hardly."""
MAX_ROW = 1000
"""Target tokens that a row of the table keeps, the most probable ones."""
MIN_PROBABILITY = 1e-6
"""Less probable ones are dropped after each iteration."""

_CHUNK = 1 << 16
"""Sentences of one source token whose target tokens are in memory at once."""
_NOTHING = np.float32(1e-30)
"""In place of 0 where no source token explains a target token any more: its shares are then 0 and not NaN."""

_Int64 = npt.NDArray[np.int64]
_Float32 = npt.NDArray[np.float32]


class LexicalTable(NamedTuple):
    """``P(target token | source token)``, in rows by source id; the row of EOS is that of the empty word."""

    starts: _Int64
    """``[src_vocab_size + 1]``: row ``i`` is what stands at ``starts[i]`` to ``starts[i + 1]`` below."""
    ids: npt.NDArray[np.int32]
    """Target ids, in each row the most probable first, of equal ones the lower."""
    probabilities: _Float32
    """Their probabilities. A row sums to 1; it is empty where the source token does not occur."""


def learn_lexical(
    store: TokenStore,
    src_vocab_size: int,
    tgt_vocab_size: int,
    *,
    n_iterations: int = N_ITERATIONS,
    max_pairs: int = MAX_PAIRS,
    max_row: int = MAX_ROW,
    progress: Callable[[int], None] = lambda n_iterations: None,
) -> LexicalTable:
    """Learn the table from the pairs of a store.

    Args:
        store: The training data.
        src_vocab_size: Size of the source vocabulary, control ids included.
        tgt_vocab_size: Size of the target vocabulary.
        n_iterations: Of expectation maximization, from equal probabilities.
        max_pairs: Pairs to learn from.
        max_row: Target tokens kept for each source token.
        progress: Told the number of iterations done so far.
    """
    corpus = _read_corpus(store, src_vocab_size, max_pairs)
    # What all source tokens of a sentence say together about a target token of it; at first each says 1.
    explained = np.repeat(corpus.n_types, corpus.tgt_lengths).astype(np.float32)
    rows = [_Row.empty() for _ in range(src_vocab_size)]
    table = np.empty(tgt_vocab_size, dtype=np.float32)  # the row of one source token, by target id
    for iteration in range(n_iterations):
        explained_next = np.zeros_like(explained)
        for token in corpus.tokens():
            if iteration:
                rows[token].spread(table)
            else:
                table[:] = 1
            counts = np.zeros(tgt_vocab_size)
            for places in corpus.places(token):
                ids = corpus.tgt_ids.take(places)
                counts += np.bincount(ids, table.take(ids) / explained.take(places), minlength=tgt_vocab_size)
            rows[token] = _Row.of_counts(counts, max_row)
            rows[token].spread(table)
            for places in corpus.places(token):  # each once, since a source token counts once
                explained_next[places] += table.take(corpus.tgt_ids.take(places))
        explained = np.maximum(explained_next, _NOTHING)
        progress(iteration + 1)
    return LexicalTable(
        starts=np.cumsum([0, *(len(row.ids) for row in rows)]),
        ids=np.concatenate([row.ids for row in rows]),
        probabilities=np.concatenate([row.probabilities for row in rows]),
    )


class _Row(NamedTuple):
    """What one source token may be translated with, the most probable first."""

    ids: npt.NDArray[np.int32]
    probabilities: _Float32

    @staticmethod
    def empty() -> _Row:
        return _Row(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))

    @staticmethod
    def of_counts(counts: npt.NDArray[np.float64], longest: int) -> _Row:
        """Divide expected counts by their sum, and keep those that matter."""
        total = counts.sum()
        if total == 0:  # its sentences have empty targets
            return _Row.empty()
        ids = np.flatnonzero(counts > MIN_PROBABILITY * total)
        if len(ids) > longest:  # sorting all of them would take longer than all the rest
            ids = ids[counts[ids] >= np.partition(counts[ids], -longest)[-longest]]
        ids = ids[np.argsort(-counts[ids], kind="stable")[:longest]]
        kept = counts[ids]
        return _Row(ids.astype(np.int32), (kept / kept.sum()).astype(np.float32))

    def spread(self, table: _Float32) -> None:
        """Write the probability of every target id into ``[tgt_vocab_size]``."""
        table[:] = 0
        table[self.ids] = self.probabilities


@dataclass(frozen=True)
class _Corpus:
    """The pairs, by source token."""

    tgt_ids: _Int64  # [target tokens]: in the type that numpy counts in, three times faster
    tgt_starts: _Int64  # [pairs]: where the target of each begins
    tgt_lengths: _Int64  # [pairs]
    n_types: _Int64  # [pairs]: different tokens of the source, EOS among them
    starts: _Int64  # [src_vocab_size + 1]: the sentences of source token i stand at starts[i]:starts[i + 1] below
    sentences: npt.NDArray[np.int32]

    def tokens(self) -> Iterator[int]:
        """Yield the source tokens that occur."""
        yield from np.flatnonzero(np.diff(self.starts)).tolist()

    def places(self, token: int) -> Iterator[_Int64]:
        """Yield, in parts, the places of all target tokens of the sentences with a source token; none comes twice."""
        end = int(self.starts[token + 1])
        for start in range(int(self.starts[token]), end, _CHUNK):
            some = self.sentences[start : min(start + _CHUNK, end)]
            yield _ranges(self.tgt_starts[some], self.tgt_lengths[some])


def _read_corpus(store: TokenStore, src_vocab_size: int, max_pairs: int) -> _Corpus:
    n = min(len(store), max_pairs)
    chosen = np.arange(n) * len(store) // max(n, 1)
    src_lengths, tgt_lengths = store.src_lengths[chosen].astype(np.int64), store.tgt_lengths[chosen].astype(np.int64)
    src_ids = store.src_ids[_ranges(store.src_offsets[chosen], src_lengths)].astype(np.int64)
    tgt_ids = store.tgt_ids[_ranges(store.tgt_offsets[chosen], tgt_lengths)].astype(np.int64)
    with_sentence = src_ids * n + np.repeat(np.arange(n), src_lengths)
    ordered = np.unique(np.concatenate([with_sentence, EOS_ID * n + np.arange(n)]))
    tokens, sentences = np.divmod(ordered, max(n, 1))
    return _Corpus(
        tgt_ids=tgt_ids,
        tgt_starts=np.cumsum(tgt_lengths) - tgt_lengths,
        tgt_lengths=tgt_lengths,
        n_types=np.bincount(sentences, minlength=n),
        starts=np.searchsorted(tokens, np.arange(src_vocab_size + 1)),
        sentences=sentences.astype(np.int32),
    )


def _ranges(starts: npt.NDArray[Any], lengths: _Int64) -> _Int64:
    """Return the numbers of all ranges that begin at ``starts`` and have these lengths, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
