"""The rules of a search that writes nothing but whole trees over the words of a sentence.

As with the other rules (``rules.py``), an engine is wrapped: its sessions remember what each row has written and answer with
minus infinity for what may not follow. Of a tree that is being written:

- an opening bracket may follow while words are left and there is room to close it;
- the closing bracket of the innermost constituent may follow when that has something in it, and no other;
- a word may follow while words are left: that whose turn it is, where they are spelled; its pieces follow each other with
  nothing between;
- EOS may follow when no word is left and all is closed, and then nothing else.

So a row always has a way to end as a whole tree within its length limit.

Where words are spelled and have no tags, it is known which word comes next, and the model is asked only whether one comes: the
word has the probability of all words together, and the pieces that it goes on with are certain. Or a model that reads the right
word off the sentence with 40 % would open brackets rather than write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DecodingError
from transduce.decoding.around import EngineAround
from transduce.decoding.engine import Engine, FloatArray, IntArray, Proposals, Session
from transduce.decoding.rules import best_proposals
from transduce.text.parses import sentence_words
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, Tokenizer
from transduce.tokenizer.trees import TreeTokenizer

__all__ = ["TreeEngine", "TreeSession", "TreeShape", "TreeSymbols", "tree_shapes"]


class TreeSymbols:
    """Which target ids are brackets, and which are words.

    Args:
        tokens: The tokens of a tree tokenizer, in the order of their ids, from the first behind the control ids.
        n_pieces: Ids behind those of the tokens, which are pieces of words.
    """

    def __init__(self, tokens: Sequence[str], *, n_pieces: int = 0) -> None:
        ids = {token: index for index, token in enumerate(tokens, start=N_CONTROL)}
        is_open = [False] * N_CONTROL + [token.startswith("(") for token in tokens] + [False] * n_pieces
        is_bracket = [True] * N_CONTROL + [token[0] in "()" for token in tokens] + [False] * n_pieces
        self.closing = {ids[token]: ids[f"){token[1:]}"] for token in tokens if token.startswith("(")}
        """For the id of each opening bracket the id of the closing one."""
        self.opens: npt.NDArray[np.bool_] = np.array(is_open)
        """``[vocab]``: True for opening brackets."""
        self.words: npt.NDArray[np.bool_] = ~np.array(is_bracket)
        """``[vocab]``: True for words: their tokens and their pieces."""
        self._tags = self.words & (np.arange(len(is_open)) < N_CONTROL + len(tokens))
        self._allowed: dict[tuple[int | None, bool, bool, bool], npt.NDArray[np.bool_]] = {}

    def allowed(
        self, *, closing: int | None, words_left: bool, room_for_brackets: bool, all_closed: bool
    ) -> npt.NDArray[np.bool_]:
        """Return ``[vocab]``: True for what may follow. There are few cases, and each is computed once.

        Args:
            closing: The closing bracket of the innermost constituent; None where there is none, or nothing in it.
            words_left: False: the tree has all words of the sentence. Pieces are not among what is allowed.
            room_for_brackets: True: one more constituent would fit.
            all_closed: True: no constituent is open.
        """
        case = closing, words_left, room_for_brackets, all_closed
        known = self._allowed.get(case)
        if known is None:
            known = np.zeros(len(self.words), dtype=bool)
            if words_left:
                known |= self._tags | (self.opens & room_for_brackets)
            elif all_closed:
                known[EOS_ID] = True
            if closing is not None:
                known[closing] = True
            self._allowed[case] = known
        return known


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


@dataclass(frozen=True, slots=True)
class _Row:
    """A tree that is being written."""

    sentence: int
    n_words_left: int
    """Words that have not begun."""
    n_tokens_left: int
    """Tokens of those, and of what is left of the last one that has begun."""
    n_tokens: int = 0
    open: tuple[int, ...] = ()
    """The closing brackets that are due, the innermost last."""
    is_fresh: bool = False
    """True: the innermost constituent has nothing in it."""
    pieces: tuple[int, ...] = ()
    """What is left of the word that was begun last."""


class TreeEngine(EngineAround):
    """An engine whose sessions write whole trees. It is made for one batch.

    Args:
        engine: The model.
        shapes: Those of the sentences, in the order in which they enter the sessions.
        limits: ``[sentences]``: most tokens of each tree, at least as many as it has words.
    """

    def __init__(self, engine: Engine, shapes: Sequence[TreeShape], limits: IntArray) -> None:
        self.engine = engine
        self.shapes = tuple(shapes)
        self.limits: list[int] = limits.tolist()

    def start(self, sources: Sequence[Sequence[int]]) -> TreeSession:
        """Begin a search over sentences: the first of those that there are shapes for."""
        return TreeSession(self, self.engine.start(sources), len(sources))


class TreeSession:
    """A session that knows how far the tree of each of its rows has come."""

    def __init__(self, engine: TreeEngine, session: Session, n_sentences: int) -> None:
        self._engine = engine
        self._session = session
        self._n_sentences = 0
        self._rows: list[_Row] = []  # of the latest step, and those added since
        self._enter(n_sentences)

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: the next of those that there are shapes for."""
        self._session.add(sources)
        self._enter(len(sources))

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose the best that trees allow."""
        return best_proposals(self.distribution(parents, ids), k)

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the log-probabilities of all ids, minus infinity for what trees forbid."""
        extended = zip(parents.tolist(), ids.tolist(), strict=True)
        self._rows = [self._extend(self._rows[parent], token) for parent, token in extended]
        log_probs = self._session.distribution(parents, ids)
        return np.stack([self._ruled(row, own) for row, own in zip(self._rows, log_probs, strict=True)])

    def _enter(self, n_sentences: int) -> None:
        for sentence in range(self._n_sentences, self._n_sentences + n_sentences):
            shape = self._engine.shapes[sentence]
            self._rows.append(_Row(sentence, shape.n_words, shape.n_tokens))
        self._n_sentences += n_sentences

    def _extend(self, row: _Row, token: int) -> _Row:
        shape = self._engine.shapes[row.sentence]
        symbols = shape.symbols
        if token == BOS_ID:
            return row
        longer = replace(row, n_tokens=row.n_tokens + 1, is_fresh=False)
        if row.pieces:
            return replace(longer, pieces=row.pieces[1:], n_tokens_left=row.n_tokens_left - 1)
        if token in symbols.closing:
            return replace(longer, open=(*row.open, symbols.closing[token]), is_fresh=True)
        if symbols.words[token]:
            number = shape.n_words - row.n_words_left
            pieces = shape.spelled[number][not shape.tagged :] if shape.spelled else ()
            return replace(
                longer, n_words_left=row.n_words_left - 1, n_tokens_left=row.n_tokens_left - 1, pieces=pieces
            )
        return replace(longer, open=row.open[:-1])

    def _ruled(self, row: _Row, log_probs: FloatArray) -> FloatArray:
        """Return ``[vocab]``: the log-probabilities of what may follow a row, minus infinity for the rest."""
        shape = self._engine.shapes[row.sentence]
        if row.pieces:
            ruled = np.full_like(log_probs, -np.inf)
            ruled[row.pieces[0]] = 0
            return ruled
        n_due = row.n_tokens + len(row.open) + row.n_tokens_left  # tokens of the shortest tree that it can become
        allowed = shape.symbols.allowed(
            closing=row.open[-1] if row.open and not row.is_fresh else None,
            words_left=row.n_words_left > 0,
            room_for_brackets=n_due + 2 <= self._engine.limits[row.sentence],
            all_closed=not row.open,
        )
        ruled = np.where(allowed, log_probs, np.float32(-np.inf))
        if row.n_words_left and not shape.tagged:
            following = shape.spelled[shape.n_words - row.n_words_left]
            ruled[following[0]] = _log_sum_exp(log_probs[shape.symbols.words])
        return ruled


def _log_sum_exp(log_probs: FloatArray) -> np.float32:
    """Return the log of the sum of probabilities."""
    top = log_probs.max()
    return np.float32(top + np.log(np.exp(log_probs - top).sum()))


def tree_shapes(sentences: Sequence[str], tokenizer: Tokenizer, longest: int | None) -> list[TreeShape | None]:
    """Return the shape of the tree over each sentence.

    A sentence of more words, or pieces of words, than the model has positions for has no whole tree, and no shape: it stays free,
    and what comes is mended. So does one with a word that Unicode normalization leaves nothing of.

    Args:
        sentences: Words parted by white space.
        tokenizer: That of the target side.
        longest: Most tokens that the model can write; None: any number.

    Raises:
        DecodingError: The model writes no trees.
    """
    if not isinstance(tokenizer, TreeTokenizer):
        raise DecodingError("decode.whole_trees has no effect here, since this model writes no trees; leave it out")
    symbols = TreeSymbols(tokenizer.tokens, n_pieces=tokenizer.vocab_size - tokenizer.first_piece)
    tagged = tokenizer.words is None or tokenizer.tags == "kept"
    shapes: list[TreeShape | None] = []
    for sentence in sentences:
        words = sentence_words(sentence)
        spelled = tuple(tokenizer.spell(words)) if tokenizer.words is not None else ()
        shape = TreeShape(len(words), symbols, spelled, tagged)
        fits = (longest is None or shape.n_tokens <= longest) and () not in spelled
        shapes.append(shape if fits else None)
    return shapes
