"""A lexical shortlist: each sentence may only use the target tokens that its source tokens are often translated with.

The softmax is then over a few hundred tokens in place of the whole vocabulary (Jean et al. 2015, section 3.2; L'Hostis et
al. 2016). The list of a sentence is made of its own source tokens alone, so no result depends on what is translated beside
it. It holds:

- what any sentence may use: the control ids, the single bytes (so that anything can be spelled), the most frequent target
  tokens, and what EOS, the empty word, is translated with;
- for each source token its most probable translations, and with a joint vocabulary the token itself (names are copied).

A search sees probabilities that sum to 1 over the list. So the log-probability of a hypothesis is a little higher than the
model's own, which :meth:`ShortlistEngine.score` gives: it is asked about given targets, which any token may stand in. A
sentence with a prefix or with required words is searched with the whole vocabulary (:func:`whole_vocabulary`), since it is
the user who has chosen tokens there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from transduce.base.errors import BundleError
from transduce.bundle.directory import Bundle, attach_file
from transduce.data.lexical import LexicalTable
from transduce.decoding.around import EngineAround
from transduce.decoding.engine import Engine, FloatArray, IntArray, Proposals, SearchingEngine, Session
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL, UNK_ID, Tokenizer

__all__ = [
    "SearchingShortlistEngine",
    "Shortlist",
    "ShortlistEngine",
    "ShortlistSession",
    "spelling_ids",
    "whole_vocabulary",
    "with_shortlist",
]

_FILE = "shortlist.safetensors"
_ARRAYS = ("common", "starts", "targets")
# A space is written as a lower block; a byte that is no text by itself as its number; pieces inside words are marked.
_SPELLING = re.compile(r"(##)?([\x00-\x7F]|▁|<0x[0-9A-F]{2}>)(@@)?", re.DOTALL)


def spelling_ids(tokenizer: Tokenizer) -> list[int]:
    """Return the ids that text is spelled with where nothing longer fits: single bytes, single ASCII characters."""
    ids = range(N_CONTROL, tokenizer.vocab_size)
    return [i for i, name in zip(ids, tokenizer.pieces(ids), strict=True) if _SPELLING.fullmatch(name)]


@dataclass(frozen=True)
class Shortlist:
    """The target tokens that each source token asks for.

    >>> table = LexicalTable(np.array([0, 0, 0, 1, 1, 1, 3]), np.array([7, 9, 8]), np.ones(3, dtype=np.float32))
    >>> shortlist = Shortlist.choose(table, 10, per_token=1, common=[6])
    >>> shortlist.for_source([5]).tolist(), shortlist.for_source([]).tolist()
    ([0, 1, 2, 3, 6, 7, 9], [0, 1, 2, 3, 6, 7])
    """

    common: IntArray
    """Ids that every sentence may use, ascending, the control ids among them."""
    starts: IntArray
    """``[src_vocab_size + 1]``: the ids of source token ``i`` stand at ``starts[i]`` to ``starts[i + 1]`` of the targets."""
    targets: IntArray
    """Target ids, those of one source token after the other."""
    tgt_vocab_size: int
    """Size of the target vocabulary, control ids included."""

    @classmethod
    def choose(
        cls, table: LexicalTable, tgt_vocab_size: int, *, per_token: int, common: Iterable[int], joint: bool = False
    ) -> Shortlist:
        """Take the most probable translations of each source token.

        Args:
            table: Lexical translation probabilities.
            tgt_vocab_size: Size of the target vocabulary, control ids included.
            per_token: Most translations of a source token.
            common: What every sentence may use, beside the control ids and the translations of EOS.
            joint: True: both sides have one vocabulary, and a source token may be copied.
        """
        rows = [
            table.ids[start : min(start + per_token, end)].astype(np.int64)
            for start, end in zip(table.starts[:-1], table.starts[1:], strict=True)
        ]
        everywhere = np.array([*range(N_CONTROL), *common, *rows[EOS_ID]], dtype=np.int64)
        if joint:
            rows = [np.union1d(row, [token]) for token, row in enumerate(rows)]
        starts = np.cumsum([0, *map(len, rows)])
        return cls(np.unique(everywhere), starts, np.concatenate(rows), tgt_vocab_size)

    def for_source(self, ids: Sequence[int]) -> IntArray:
        """Return the target ids that the translation of a sentence may use, ascending, the control ids first."""
        allowed = self._everywhere.copy()
        for token in set(ids):
            allowed[self.targets[self.starts[token] : self.starts[token + 1]]] = True
        return np.flatnonzero(allowed)

    @cached_property
    def _everywhere(self) -> npt.NDArray[np.bool_]:
        """``[tgt_vocab_size]``: True for what every sentence may use."""
        allowed = np.zeros(self.tgt_vocab_size, dtype=bool)
        allowed[self.common] = True
        return allowed

    def save(self, bundle: Bundle) -> None:
        """Put it into a bundle; an older one is replaced."""
        arrays = {"common": self.common, "starts": self.starts, "targets": self.targets}
        attach_file(bundle.path, _FILE, save({name: array.astype(np.int32) for name, array in arrays.items()}))

    @classmethod
    def load(cls, bundle: Bundle) -> Shortlist:
        """Read the shortlist of a bundle.

        Raises:
            BundleError: It has none, or it cannot be read or does not fit the vocabularies.
        """
        file = bundle.path / _FILE
        if not file.is_file():
            raise BundleError(
                f"{bundle.path}: has no shortlist, which decode.shortlist asks for; make one with "
                "'transduce shortlist BUNDLE PREPARED'"
            )
        try:
            arrays = load_file(file)
            if sorted(arrays) != sorted(_ARRAYS) or any(
                array.ndim != 1 or array.dtype != np.int32 for array in arrays.values()
            ):
                raise ValueError(f"it does not hold {', '.join(_ARRAYS)} as lists of int32 numbers")
            common, starts, targets = (arrays[name].astype(np.int64) for name in _ARRAYS)
            _check(common, starts, targets, bundle.tokenizers.src.vocab_size, bundle.tokenizers.tgt.vocab_size)
        except (OSError, ValueError, SafetensorError) as error:
            raise BundleError(
                f"{file}: damaged or of another bundle ({error}); make it again with 'transduce shortlist'"
            ) from None
        return cls(common, starts, targets, bundle.tokenizers.tgt.vocab_size)


def _check(common: IntArray, starts: IntArray, targets: IntArray, src_vocab_size: int, tgt_vocab_size: int) -> None:
    """Refuse arrays that would be read outside their bounds, or that the softmax cannot do without.

    Raises:
        ValueError: One of them is wrong.
    """
    if len(starts) != src_vocab_size + 1:
        raise ValueError(f"it is made for {len(starts) - 1} source tokens, and the vocabulary has {src_vocab_size}")
    if starts[0] != 0 or starts[-1] != len(targets) or np.diff(starts).min() < 0:
        raise ValueError("its rows do not follow each other")
    if common[:N_CONTROL].tolist() != list(range(N_CONTROL)) or np.diff(common).min() <= 0:
        raise ValueError("the ids of every sentence do not ascend from the control ids")
    for ids in (common, targets):
        if len(ids) and not 0 <= ids.min() <= ids.max() < tgt_vocab_size:
            raise ValueError(f"an id is outside the target vocabulary of {tgt_vocab_size}")


def with_shortlist(engine: Engine, shortlist: Shortlist) -> ShortlistEngine:
    """Restrict an engine to a shortlist; one that does whole searches by itself goes on doing so."""
    if isinstance(engine, SearchingEngine):
        return SearchingShortlistEngine(engine, shortlist)
    return ShortlistEngine(engine, shortlist)


def whole_vocabulary(engine: Engine) -> Engine:
    """Return the engine without its shortlist, if it has one."""
    return engine.engine if isinstance(engine, ShortlistEngine) else engine


class ShortlistEngine(EngineAround):
    """An engine whose sentences use the tokens of their lists alone, step by step: the oracle of the fast way.

    Args:
        engine: The model.
        shortlist: Made for its vocabularies.
    """

    def __init__(self, engine: Engine, shortlist: Shortlist) -> None:
        self.engine = engine
        self.shortlist = shortlist

    def start(self, sources: Sequence[Sequence[int]]) -> ShortlistSession:
        """Encode sentences and begin a search over them, each with its own list."""
        return ShortlistSession(self.engine.start(sources), self.shortlist, sources)


class SearchingShortlistEngine(ShortlistEngine):
    """An engine that does whole searches by itself, each sentence with its own list.

    Args:
        engine: The model.
        shortlist: Made for its vocabularies.
    """

    def __init__(self, engine: SearchingEngine, shortlist: Shortlist) -> None:
        super().__init__(engine, shortlist)
        self._searching = engine

    def beam_search(
        self,
        sources: Sequence[Sequence[int]],
        minima: IntArray,
        limits: IntArray,
        settings: DecodeSettings,
        shortlists: Sequence[IntArray] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search with the list of each sentence, or with the lists that are given."""
        lists = [self.shortlist.for_source(source) for source in sources] if shortlists is None else shortlists
        return self._searching.beam_search(sources, minima, limits, settings, lists)


class ShortlistSession:
    """A session that knows which sentence each row belongs to.

    Args:
        session: Begun over the sources.
        shortlist: Gives each sentence its list.
        sources: The sentences in it.
    """

    def __init__(self, session: Session, shortlist: Shortlist, sources: Sequence[Sequence[int]]) -> None:
        self._session = session
        self._shortlist = shortlist
        self._lists: list[IntArray] = []
        self._sentence = np.zeros(0, dtype=np.int64)  # [rows]: which list each row of the latest step has
        self._enter(sources)

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, and its own list."""
        self._session.add(sources)
        self._enter(sources)

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose the best of their lists.

        Where a list has fewer tokens than ``k``, UNK with log-probability -inf stands in the places that are left.
        """
        n = len(parents)
        best = Proposals(np.full((n, k), UNK_ID), np.full((n, k), -np.inf, np.float32), np.empty(n, np.float32))
        for rows, listed, log_probs in self._restricted(parents, ids):
            words = log_probs[:, N_CONTROL:]  # a list begins with the control ids
            order = np.argsort(-words, axis=1, kind="stable")[:, :k]
            best.ids[rows, : order.shape[1]] = listed[N_CONTROL:][order]
            best.log_probs[rows, : order.shape[1]] = np.take_along_axis(words, order, axis=1)
            best.eos_log_probs[rows] = log_probs[:, EOS_ID]
        return best

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the probability of everything: -inf outside the lists."""
        everything = np.full((len(parents), self._shortlist.tgt_vocab_size), -np.inf, dtype=np.float32)
        for rows, listed, log_probs in self._restricted(parents, ids):
            everything[rows, listed] = log_probs
        return everything

    def _enter(self, sources: Sequence[Sequence[int]]) -> None:
        new = np.arange(len(self._lists), len(self._lists) + len(sources))
        self._sentence = np.concatenate([self._sentence, new])
        self._lists.extend(self._shortlist.for_source(source) for source in sources)

    def _restricted(self, parents: IntArray, ids: IntArray) -> Iterator[tuple[slice, IntArray, FloatArray]]:
        """Yield for each sentence its rows, its list, and ``[rows, list]`` log-probabilities that sum to 1 over the list."""
        everything = self._session.distribution(parents, ids)
        self._sentence = self._sentence[parents]
        first_rows = np.flatnonzero(np.diff(self._sentence, prepend=-1))  # rows of one sentence stand together
        for start, end in zip(first_rows, [*first_rows[1:], len(parents)], strict=True):
            listed = self._lists[self._sentence[start]]
            own = everything[start:end][:, listed].astype(np.float64)
            anchor = own.max(axis=1, keepdims=True)
            total = anchor + np.log(np.exp(own - anchor).sum(axis=1, keepdims=True))
            yield slice(int(start), int(end)), listed, np.minimum(own - total, 0).astype(np.float32)
