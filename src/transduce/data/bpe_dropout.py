"""BPE-dropout: the pairs of a step, cut into pieces anew with some merges left out.

How a pair is cut depends on the seed, the epoch and the number of the pair in the store alone: a resumed run, or one on
other devices, cuts it in the same way. Plans know the stored lengths, which are those with no merge left out: so a
global batch holds the same pairs whether or not merges are left out, and more tokens when they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.data.batching import IntArray
from transduce.data.store import IdArray, LengthArray, TokenStore
from transduce.tokenizer.merging import Merger
from transduce.tokenizer.protocol import TokenizerPair
from transduce.tokenizer.subword import split_chunks
from transduce.tokenizer.trees import TreeTokenizer

__all__ = ["BpeDropout", "DroppedPairs"]

_U64 = npt.NDArray[np.uint64]
_TAG = 0x42504544  # sets the random numbers apart from those that shuffle the pairs
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class DroppedPairs:
    """Some pairs with their new pieces, laid out as in a :class:`transduce.data.store.TokenStore`. Without BOS and EOS."""

    src_ids: IdArray
    src_offsets: npt.NDArray[np.int64]
    tgt_ids: IdArray
    tgt_offsets: npt.NDArray[np.int64]

    @property
    def src_lengths(self) -> LengthArray:
        """``[n]`` int32."""
        return np.diff(self.src_offsets).astype(np.int32)

    @property
    def tgt_lengths(self) -> LengthArray:
        """``[n]`` int32."""
        return np.diff(self.tgt_offsets).astype(np.int32)

    @property
    def n_tgt_tokens(self) -> int:
        """Real target tokens, EOS included."""
        return len(self.tgt_ids) + len(self.tgt_offsets) - 1


@final
class BpeDropout:
    """Cuts the pairs of a store into pieces anew.

    Args:
        store: The pairs.
        tokenizers: The tokenizers that made its ids, of kind ``bpe``; a target side of trees keeps its ids.
        p: Probability that a possible merge is left out in a round.
        seed: Fixes, with the epoch, what is left out.
        max_pair_tokens: A sentence that would get longer than this keeps the pieces that are stored.

    Raises:
        TokenizerError: A tokenizer is of another kind.
    """

    def __init__(
        self, store: TokenStore, tokenizers: TokenizerPair, *, p: float, seed: int, max_pair_tokens: int
    ) -> None:
        self._store = store
        self._seed = seed
        self._max_tokens = max_pair_tokens
        src = Merger(tokenizers.src)
        self._mergers = src, _tgt_merger(src, tokenizers)
        powers = [p]
        while powers[-1] * p > 0.5**53:
            powers.append(powers[-1] * p)
        # Ascending: a number between 0 and 1 passes over as many merges as there are powers above it.
        self._powers = np.array(powers[::-1])

    def resegment(self, pairs: IntArray, *, epoch: int) -> DroppedPairs:
        """Return some pairs with the pieces that they have in an epoch, in the order of ``pairs``.

        Args:
            pairs: ``[n]``: indexes of pairs in the store.
            epoch: Number of the pass, from 0.

        Raises:
            DataError: The ids of a sentence are not those of a text.
        """
        store = self._store
        seeds = np.random.SeedSequence([self._seed % (1 << 64), epoch, _TAG]).generate_state(2, np.uint64)
        return DroppedPairs(
            *self._resegment_side(self._mergers[0], store.src_ids, store.src_offsets, pairs, seeds[0]),
            *self._resegment_side(self._mergers[1], store.tgt_ids, store.tgt_offsets, pairs, seeds[1]),
        )

    def _resegment_side(
        self, merger: Merger | None, ids: IdArray, offsets: npt.NDArray[np.int64], pairs: IntArray, seed: np.uint64
    ) -> tuple[IdArray, npt.NDArray[np.int64]]:
        if merger is None:
            stored = [ids[offsets[pair] : offsets[pair + 1]] for pair in pairs]
            return np.concatenate([ids[:0], *stored]), np.cumsum([0, *map(len, stored)])
        sentences = [ids[offsets[pair] : offsets[pair + 1]].tolist() for pair in pairs]
        texts = [merger.spell(sentence) for sentence in sentences]
        rounds = self._draw(pairs, np.array([len(text) for text in texts], dtype=np.int64), seed)
        new: list[int] = []
        ends = [0]
        for sentence, text in zip(sentences, texts, strict=True):
            pieces = rounds.merge(merger, self._decode(text))
            new += pieces if len(pieces) <= self._max_tokens else sentence
            ends.append(len(new))
        dtype: np.dtype[Any] = ids.dtype
        return np.array(new, dtype=dtype), np.array(ends, dtype=np.int64)

    def _decode(self, spelled: bytes) -> str:
        try:
            return spelled.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self._store.directory}: the ids of a sentence do not spell a text ({error}); run prepare again"
            ) from None

    def _draw(self, pairs: IntArray, n_bytes: IntArray, seed: np.uint64) -> _Rounds:
        """Draw a number for each byte of each sentence: how many merges a round passes over."""
        starts = np.cumsum(n_bytes) - n_bytes
        counters = np.arange(int(n_bytes.sum())) - np.repeat(starts, n_bytes)
        keys = np.repeat(_mix(seed + pairs.astype(np.uint64) * _GOLDEN), n_bytes)
        uniform = (_mix(keys + counters.astype(np.uint64) * _GOLDEN) >> np.uint64(11)) * 0.5**53
        dropped = np.flatnonzero(uniform < self._powers[-1])
        skipped = np.zeros(len(uniform) + 1, dtype=np.uint8)
        n_skipped = len(self._powers) - np.searchsorted(self._powers, uniform[dropped], side="right")
        skipped[dropped] = np.minimum(n_skipped, 255)
        return _Rounds(skipped.tobytes(), [*dropped.tolist(), len(uniform)])


def _tgt_merger(src: Merger, tokenizers: TokenizerPair) -> Merger | None:
    """Return what cuts the target side; None for trees, whose brackets are not made of pieces."""
    if isinstance(tokenizers.tgt, TreeTokenizer):
        return None
    return src if tokenizers.is_one else Merger(tokenizers.tgt)


@final
class _Rounds:
    """The rounds of merging of some sentences, one after another.

    Args:
        skipped: For each round, how many merges it passes over.
        dropped: The rounds that pass over any, and as the last a number behind the end.
    """

    def __init__(self, skipped: bytes, dropped: list[int]) -> None:
        self._skipped = skipped
        self._dropped = iter(dropped)
        self._next_dropped = next(self._dropped)
        self._start = 0

    def merge(self, merger: Merger, text: str) -> list[int]:
        """Return the pieces of the next sentence, given as a prepared text."""
        pieces: list[int] = []
        start, next_dropped = self._start, self._next_dropped
        for chunk in split_chunks(text):
            for word in merger.words(chunk):
                while next_dropped < start:
                    next_dropped = next(self._dropped)
                if next_dropped >= start + word.n_merges:  # the usual case: nothing is left out of this word
                    pieces += word.ids
                else:
                    pieces += merger.merge(word.start, self._skipped, start)
                start += word.n_bytes
        self._start, self._next_dropped = start, next_dropped
        return pieces


def _mix(values: _U64) -> _U64:
    """Scramble 64-bit numbers. Counters through it are the SplitMix64 generator of Guy Steele and others (2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
