"""The ways in which a word can be put together by byte-pair merges when some of them are left out (BPE-dropout).

Merging a word is a walk: from its bytes, one merge after another, each the first in the order in which merges were
learned. When each possible merge is left out with a probability p in each round, the round takes the first one of those
that are left: the second with probability p (1 - p), the third with p^2 (1 - p), and when all are left out the word
stays as it is. So a round needs one random number, how many merges are passed over, and the words that a corpus repeats
are walked along paths that are known already.

Ivan Provilkov and others, "BPE-dropout: simple and effective subword regularization" (arXiv 1910.13267, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

from transduce.base.errors import TokenizerError
from transduce.tokenizer.bytes import symbols_to_bytes
from transduce.tokenizer.protocol import N_CONTROL, Tokenizer
from transduce.tokenizer.subword import SubwordTokenizer, chunk_text, pre_tokenizer
from transduce.tokenizer.tree_source import TreeSourceTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary

__all__ = ["MergeState", "Merger", "WordMerges"]

_MAX_STATES = 1 << 18  # about 100 MB; a corpus with more begins its collection again now and then


@final
class MergeState:
    """A word, or the part of the way to its pieces that has been gone.

    Args:
        ids: The pieces so far.
        places: Where the next merges are possible, those learned first in front, and of equal ones the leftmost.
    """

    __slots__ = ("ids", "next", "places")

    def __init__(self, ids: tuple[int, ...], places: list[int]) -> None:
        self.ids = ids
        self.places = places
        self.next: list[MergeState | None] = [None] * len(places)


@final
class WordMerges:
    """A word and its pieces when no merge is left out.

    Args:
        start: Its bytes.
        ids: Its pieces.
        n_merges: The merges that lead there.
    """

    __slots__ = ("ids", "n_bytes", "n_merges", "start")

    def __init__(self, start: MergeState, ids: tuple[int, ...], n_merges: int) -> None:
        self.start = start
        self.ids = ids
        self.n_bytes = len(start.ids)
        self.n_merges = n_merges


@final
class Merger:
    """Puts words together from bytes, with the merges of a tokenizer.

    Args:
        tokenizer: A tokenizer of kind ``bpe``, or that of the sentences of a parser with such words.

    Attributes:
        tokenizer: That tokenizer.

    Raises:
        TokenizerError: It is of another kind.

    >>> merger = Merger(SubwordTokenizer(BpeVocabulary((("h", "e"), ("t", "he")))))
    >>> (word,) = merger.words("the")
    >>> [merger.tokenizer.pieces(merger.merge(word.start, skipped)) for skipped in ((0, 0, 0), (0, 1), (1,))]
    [['▁', 'the'], ['▁', 't', 'he'], ['▁', 't', 'h', 'e']]
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        first_piece = N_CONTROL
        if isinstance(tokenizer, TreeSourceTokenizer):
            first_piece, tokenizer = tokenizer.first_piece, tokenizer.words
        if not isinstance(tokenizer, SubwordTokenizer) or not isinstance(tokenizer.vocabulary, BpeVocabulary):
            kind = tokenizer.vocabulary.kind if isinstance(tokenizer, SubwordTokenizer) else type(tokenizer).__name__
            raise TokenizerError(
                f"BPE-dropout (train.p_bpe_dropout) leaves out merges of a tokenizer of kind 'bpe', and this one is {kind!r}; "
                'prepare the data with tokenizer.kind = "bpe", or leave train.p_bpe_dropout out'
            )
        id_of = {symbol: index for index, symbol in enumerate(tokenizer.vocabulary.symbols(), start=first_piece)}
        self._piece_bytes = (b"",) * first_piece + tuple(symbols_to_bytes(symbol) for symbol in id_of)
        self._id_of = id_of
        self._merges = {
            (id_of[left], id_of[right]): (rank, id_of[left + right])
            for rank, (left, right) in enumerate(tokenizer.vocabulary.merges)
        }
        self._cut = pre_tokenizer(tokenizer.split)
        self._states: dict[tuple[int, ...], MergeState] = {}
        self._words: dict[str, tuple[WordMerges, ...]] = {}

    def spell(self, ids: Sequence[int]) -> bytes:
        """Return the bytes of pieces; control ids have none."""
        return b"".join([self._piece_bytes[index] for index in ids])

    def words(self, chunk: str) -> tuple[WordMerges, ...]:
        """Return the words of a chunk of a text, as :func:`transduce.tokenizer.subword.split_chunks` makes it."""
        found = self._words.get(chunk)
        if found is None:
            symbols = [word for word, _ in self._cut.pre_tokenize_str(chunk_text(chunk))]
            found = self._words[chunk] = tuple(self._word(word) for word in symbols)
        return found

    def merge(self, state: MergeState, skipped: Sequence[int], start: int = 0) -> tuple[int, ...]:
        """Return the pieces that a word ends in.

        Args:
            state: The word, or part of the way.
            skipped: For each round, how many of the possible merges are passed over: the word ends where that is all.
            start: The place of the first round in ``skipped``. As many as the word has bytes are enough.
        """
        place = start
        while (n_skipped := skipped[place]) < len(state.next):
            state = state.next[n_skipped] or self._advance(state, n_skipped)
            place += 1
        return state.ids

    def _word(self, symbols: str) -> WordMerges:
        spelled = ids = tuple(self._id_of[symbol] for symbol in symbols)
        while places := self._places(ids):  # the states of this path are not kept: most of them are never asked for
            ids = self._join(ids, places[0])
        return WordMerges(self._state(spelled), ids, len(spelled) - len(ids))

    def _advance(self, state: MergeState, choice: int) -> MergeState:
        following = state.next[choice] = self._state(self._join(state.ids, state.places[choice]))
        return following

    def _state(self, ids: tuple[int, ...]) -> MergeState:
        found = self._states.get(ids)
        if found is None:
            if len(self._states) >= _MAX_STATES:  # words too hold on to states, and so do states to those that follow
                self._states, self._words = {}, {}
            found = self._states[ids] = MergeState(ids, self._places(ids))
        return found

    def _places(self, ids: tuple[int, ...]) -> list[int]:
        """Return where merges are possible, those learned first in front."""
        merges = ((self._merges.get(pair), place) for place, pair in enumerate(pairwise(ids)))
        return [place for _, place in sorted((merge[0], place) for merge, place in merges if merge is not None)]

    def _join(self, ids: tuple[int, ...], place: int) -> tuple[int, ...]:
        _, merged = self._merges[ids[place], ids[place + 1]]
        return (*ids[:place], merged, *ids[place + 2 :])
