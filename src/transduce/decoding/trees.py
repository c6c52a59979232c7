"""The rules of a search that writes nothing but whole trees over the words of a sentence.

As with the other rules (``rules.py``), an engine is wrapped: its sessions remember what each row has written and answer with
minus infinity for what may not follow. Of a tree that is being written:

- an opening bracket may follow while words are left and there is room to close it;
- the closing bracket of the innermost constituent may follow when that has something in it, and no other;
- a word may follow while words are left: its tag, where tags are written, and then its pieces, where words are spelled, with
  nothing between;
- EOS may follow when no word is left and all is closed, and then nothing else.

So a row always has a way to end as a whole tree within its length limit.

What is known is not asked. Pieces behind a tag, or behind the first piece of a word, are certain. Where a word begins with a
piece, the model is asked only whether a word comes, and the piece has the probability of all pieces that begin one. Otherwise a
model that reads the right word off the sentence with 40 % would open brackets rather than write it. Other log-probabilities
are the model's own, and what is left is not scaled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DecodingError
from transduce.decoding.around import EngineAround
from transduce.decoding.engine import Engine, FloatArray, IntArray, Proposals, Session
from transduce.decoding.rules import best_proposals
from transduce.text.parses import sentence_words
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL, Tokenizer
from transduce.tokenizer.trees import TreeTokenizer

__all__ = ["TreeEngine", "TreeSession", "TreeShape", "TreeSymbols", "tree_shapes"]

_TAG, _END = -1, -2  # in place of the id of a piece: any tag; nothing


class TreeSymbols:
    """What the target ids are.

    Args:
        tokens: The tokens of a tree tokenizer, in the order of their ids, from the first behind the control ids.
        begins_word: Of each id behind those, which are pieces of words, whether a word begins with it.
    """

    def __init__(self, tokens: Sequence[str], begins_word: Sequence[bool] = ()) -> None:
        ids = {token: index for index, token in enumerate(tokens, start=N_CONTROL)}
        self.n_own = N_CONTROL + len(tokens)
        """Ids of control and of tokens: those below are no pieces."""
        size = self.n_own + len(begins_word)
        self.opens: npt.NDArray[np.bool_] = np.zeros(size, dtype=bool)
        """``[vocab]``: True for opening brackets."""
        self.closes: npt.NDArray[np.bool_] = np.zeros(size, dtype=bool)
        """``[vocab]``: True for closing brackets."""
        self.closing: IntArray = np.zeros(size, dtype=np.int64)
        """``[vocab]``: for each opening bracket the closing one."""
        for token, index in ids.items():
            self.opens[index], self.closes[index] = token.startswith("("), token.startswith(")")
            if token.startswith("("):
                self.closing[index] = ids[f"){token[1:]}"]
        self.tags: npt.NDArray[np.bool_] = ~(self.opens | self.closes)[: self.n_own]
        """``[n_own]``: True for tags, and for ``XX``."""
        self.tags[:N_CONTROL] = False
        self.begins_word: npt.NDArray[np.bool_] = np.array(begins_word, dtype=bool)
        """``[pieces]``: True for those that a word begins with."""

    def is_word(self, spelled: Sequence[int]) -> bool:
        """Tell whether ids are the pieces of one word."""
        begins: list[bool] = self.begins_word[np.array(spelled, dtype=np.int64) - self.n_own].tolist()
        return begins[:1] == [True] and not any(begins[1:])


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What a tree must be like."""

    n_words: int
    """Words of the sentence, at least 1: the tree has as many."""
    symbols: TreeSymbols
    spelled: tuple[tuple[int, ...], ...] = ()
    """The pieces of each word, where they are kept; none where words are left out."""
    tagged: bool = True
    """Whether a word begins with a token of its own, ``XX`` or its tag, and not with its first piece."""

    @property
    def n_tokens(self) -> int:
        """Tokens of the shortest tree."""
        return self.n_words * self.tagged + sum(map(len, self.spelled))

    def places(self) -> list[tuple[int, bool]]:
        """Return, for each token that is no bracket, the piece that it must be, or that it is any tag, and if a word begins."""
        found = []
        for number in range(self.n_words):
            own = ((_TAG,) if self.tagged else ()) + (self.spelled[number] if self.spelled else ())
            found += [(token, first == 0) for first, token in enumerate(own)]
        return found


class TreeEngine(EngineAround):
    """An engine whose sessions write whole trees. It is made for one batch.

    Args:
        engine: The model.
        shapes: Those of the sentences, at least one, in the order in which they enter the sessions. They have the same symbols.
        limits: ``[sentences]``: most tokens of each tree, at least as many as the shortest has.
    """

    def __init__(self, engine: Engine, shapes: Sequence[TreeShape], limits: IntArray) -> None:
        self.engine = engine
        self.symbols = shapes[0].symbols
        self.limits = limits
        self.n_places: IntArray = np.array([shape.n_tokens for shape in shapes])
        """``[sentences]``: tokens that are no brackets."""
        longest = int(self.n_places.max())
        self.due: IntArray = np.full((len(shapes), longest + 1), _END)
        """``[sentences, places]``: the piece that stands there, or that any tag does, or nothing any more."""
        self.begins: npt.NDArray[np.bool_] = np.zeros((len(shapes), longest + 1), dtype=bool)
        """``[sentences, places]``: True: a word begins there."""
        for sentence, shape in enumerate(shapes):
            for place, (token, begins) in enumerate(shape.places()):
                self.due[sentence, place], self.begins[sentence, place] = token, begins

    def start(self, sources: Sequence[Sequence[int]]) -> TreeSession:
        """Begin a search over sentences: the first of those that there are shapes for."""
        return TreeSession(self, self.engine.start(sources), len(sources))


class TreeSession:
    """A session that knows how far the tree of each of its rows has come: those of the latest step, and those added since."""

    def __init__(self, engine: TreeEngine, session: Session, n_sentences: int) -> None:
        self._engine = engine
        self._session = session
        self._n_sentences = 0
        self._sentence: IntArray = np.zeros(0, dtype=np.int64)
        self._n_tokens = self._place = self._depth = self._sentence  # written; of these no brackets; constituents open
        self._is_fresh: npt.NDArray[np.bool_] = np.zeros(0, dtype=bool)  # nothing is in the innermost constituent
        self._open: IntArray = np.zeros((0, 8), dtype=np.int64)  # [rows, depth]: the closing brackets that are due
        self._enter(n_sentences)

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: the next of those that there are shapes for."""
        self._session.add(sources)
        self._enter(len(sources))

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose the best that trees allow."""
        n_own = self._engine.symbols.n_own
        if k > n_own - N_CONTROL:
            return best_proposals(self.distribution(parents, ids), k)
        due, log_probs = self._extend(parents, ids)
        found = best_proposals(log_probs, k)
        return found._replace(ids=np.where(found.ids == n_own, due[:, None], found.ids))

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the log-probabilities of all ids, minus infinity for what trees forbid."""
        due, log_probs = self._extend(parents, ids)
        n_own = self._engine.symbols.n_own
        whole = np.full((len(ids), self._engine.tgt_vocab_size), -np.inf, dtype=np.float32)
        whole[:, :n_own] = log_probs[:, :n_own]
        rows = np.flatnonzero(due >= 0)
        whole[rows, due[rows]] = log_probs[rows, n_own]
        return whole

    def _enter(self, n_sentences: int) -> None:
        new = np.arange(self._n_sentences, self._n_sentences + n_sentences)
        none = np.zeros_like(new)
        self._n_sentences += n_sentences
        self._sentence = np.append(self._sentence, new)
        self._n_tokens, self._place, self._depth = (
            np.append(some, none) for some in (self._n_tokens, self._place, self._depth)
        )
        self._is_fresh = np.append(self._is_fresh, none > 0)
        self._open = np.pad(self._open, ((0, n_sentences), (0, 0)))

    def _extend(self, parents: IntArray, ids: IntArray) -> tuple[IntArray, FloatArray]:
        """Extend rows by one token each.

        Returns:
            ``[rows]``: the piece that may follow; below 0: none may. ``[rows, n_own + 1]``: the log-probabilities of control ids
            and tokens, and of that piece; minus infinity for what may not follow.
        """
        self._write(parents, ids)
        log_probs = self._session.distribution(parents, ids)
        engine, symbols, place = self._engine, self._engine.symbols, self._place
        due, begins = engine.due[self._sentence, place], engine.begins[self._sentence, place]
        n_shortest = self._n_tokens + self._depth + engine.n_places[self._sentence] - place
        has_room = n_shortest + 2 <= engine.limits[self._sentence]
        allowed = ((begins & has_room)[:, None] & symbols.opens[: symbols.n_own]) | (
            (due == _TAG)[:, None] & symbols.tags
        )
        rows = np.flatnonzero((begins | (due == _END)) & (self._depth > 0) & ~self._is_fresh)
        allowed[rows, self._open[rows, self._depth[rows] - 1]] = True
        allowed[(due == _END) & (self._depth == 0), EOS_ID] = True
        ruled = np.full((len(ids), symbols.n_own + 1), -np.inf, dtype=np.float32)
        ruled[:, :-1][allowed] = log_probs[:, : symbols.n_own][allowed]
        ruled[due >= 0, -1] = 0
        rows = np.flatnonzero((due >= 0) & begins)
        if rows.size:
            ruled[rows, -1] = _any_of(log_probs[rows, symbols.n_own :], symbols.begins_word)
        return due, ruled

    def _write(self, parents: IntArray, ids: IntArray) -> None:
        """Note that the rows of parents have got one token each."""
        symbols = self._engine.symbols
        self._sentence, self._n_tokens, self._place, self._depth, self._open = (
            some[parents] for some in (self._sentence, self._n_tokens, self._place, self._depth, self._open)
        )
        opens, closes, is_written = symbols.opens[ids], symbols.closes[ids], ids >= N_CONTROL
        rows = np.flatnonzero(opens)
        if rows.size and self._depth[rows].max() == self._open.shape[1]:
            self._open = np.pad(self._open, ((0, 0), (0, self._open.shape[1])))
        self._open[rows, self._depth[rows]] = symbols.closing[ids[rows]]
        self._n_tokens = self._n_tokens + is_written
        self._place = self._place + (is_written & ~opens & ~closes)
        self._depth = self._depth + opens - closes
        self._is_fresh = opens


def _any_of(log_probs: FloatArray, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Return ``[rows]``: the log-probability of any of the chosen ids, of log-probabilities ``[rows, ids]``."""
    some = np.where(chosen, log_probs, np.float32(-np.inf))
    top = some.max(axis=1)
    total = np.exp(some - top[:, None]).sum(axis=1, dtype=np.float64)
    # Rounding may make more than 1 of almost 1.
    log_total: FloatArray = np.minimum(top + np.log(total), 0).astype(np.float32)
    return log_total


def tree_shapes(sentences: Sequence[str], tokenizer: Tokenizer, longest: int | None) -> list[TreeShape | None]:
    """Return the shape of the tree over each sentence.

    A sentence of more words, or pieces of words, than the model has positions for has no whole tree, and no shape: it stays free,
    and what comes is mended. So does one with a word that Unicode normalization leaves nothing of, or makes two of.

    Args:
        sentences: Words parted by white space.
        tokenizer: That of the target side.
        longest: Most tokens that the model can write; None: any number.

    Raises:
        DecodingError: The model writes no trees.
    """
    if not isinstance(tokenizer, TreeTokenizer):
        raise DecodingError("decode.whole_trees has no effect here, since this model writes no trees; leave it out")
    symbols = TreeSymbols(tokenizer.tokens, tokenizer.begins_word)
    tagged = tokenizer.words is None or tokenizer.tags == "kept"
    shapes: list[TreeShape | None] = []
    for sentence in sentences:
        words = sentence_words(sentence)
        spelled = tuple(tokenizer.spell(words)) if tokenizer.words is not None else ()
        shape = TreeShape(len(words), symbols, spelled, tagged)
        fits = longest is None or shape.n_tokens <= longest
        shapes.append(shape if fits and all(map(symbols.is_word, spelled)) else None)
    return shapes
