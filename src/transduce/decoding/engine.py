"""The seam between the search and the model: ids and numbers in numpy arrays, nothing of torch.

The search keeps hypotheses; an engine keeps what the model needs to extend them. A *row* is one open hypothesis of one
sentence. An engine never decides anything about the search, and every engine passes the same tests.

How the two talk, for two sentences and a beam of two::

    session = engine.start([src_a, src_b])      rows 0 and 1: one a sentence
    session.step([0, 1], [BOS, BOS], k=2)       what may follow BOS in each
    session.step([0, 0, 1, 1], [7, 9, 4, 8])    two hypotheses a sentence: each row names its parent in the step before
    session.step([2, 3, 3], [5, 5, 6])          sentence a is settled: nobody extends its rows, so it has left
    session.add([src_c])                        a waiting sentence enters: its row is number 3, after the rows 0 to 2
    session.step([0, 2, 3], [4, 4, BOS])        rows of one sentence stand together, in the order in which they entered

A parent is named, never moved: an engine may copy its cache in that order, or append to it and keep an index of ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DecodingError
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.settings import DecodeSettings

__all__ = [
    "Engine",
    "FloatArray",
    "IntArray",
    "Proposals",
    "SearchingEngine",
    "Session",
    "check_log_probs",
    "default_layer",
    "not_log_probs",
]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


def default_layer(n_decoder_layers: int) -> int:
    """Return the decoder layer whose attention is read where none is named, counted from the end: the last but one.

    :mod:`transduce.decoding.align` says why. Of a single layer it is that one.
    """
    return -min(2, n_decoder_layers)


class Proposals(NamedTuple):
    """What may follow each row of a step. Log-probabilities are natural, at most 0, of the softmax over the whole vocabulary.

    PAD, BOS and UNK are never proposed, though they keep their share of the softmax. EOS stands apart from the tokens,
    since a search may have to refuse it (minimum length) or to force it (length limit).
    """

    ids: IntArray
    """``[rows, k]``: the k best tokens, control ids left out, best first; of equal ones the lower id comes first."""
    log_probs: FloatArray
    """``[rows, k]``: their log-probabilities."""
    eos_log_probs: FloatArray
    """``[rows]``: the log-probability of EOS."""

    def check(self) -> None:
        """Refuse numbers that are no log-probabilities, before a search takes them for bad translations.

        Raises:
            DecodingError: A number is NaN or above 0. Minus infinity is allowed: a rule forbids what it stands for.
        """
        check_log_probs(self.log_probs)
        check_log_probs(self.eos_log_probs)


def check_log_probs(log_probs: FloatArray) -> None:
    """Refuse numbers that are no log-probabilities.

    Args:
        log_probs: Any shape, not empty.

    Raises:
        DecodingError: A number is NaN or above 0.
    """
    highest = log_probs.max()  # NaN, if there is one
    if not highest <= 0:
        raise not_log_probs(str(highest))


def not_log_probs(highest: str) -> DecodingError:
    """Return the error to raise where a model gives numbers that are no log-probabilities.

    Args:
        highest: The largest of them, or NaN.
    """
    return DecodingError(
        f"the model gives log-probabilities up to {highest}, which are none; its weights are damaged, "
        "or numbers have grown too large for its precision: try float32"
    )


@runtime_checkable
class Session(Protocol):
    """The state of one search. Sessions of one engine are independent of each other."""

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, numbered after the rows of the latest step, in order.

        Args:
            sources: As in :meth:`Engine.start`.
        """
        ...

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose what may follow.

        Args:
            parents: ``[rows]``: for each row of this step, the row that it extends: of the step before, or one added
                since. Several rows may extend one. A row that none extends is forgotten, and so is a sentence without
                rows. The rows of one sentence stand together, and sentences stand in the order in which they entered.
            ids: ``[rows]``: the token that extends each row (BOS where the row has just been added).
            k: Tokens to propose for each row: at least 1, at most the target vocabulary without the control ids.
        """
        ...

    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, as :meth:`step` does, and return the probability of everything that may follow.

        For searches that need more than the best few tokens. Slower than :meth:`step`, which picks them where the
        numbers are.

        Args:
            parents: As in :meth:`step`.
            ids: As in :meth:`step`.

        Returns:
            ``[rows, vocab]``: natural log-probabilities, at most 0, of all ids, control ids included.
        """
        ...


@runtime_checkable
class Engine(Protocol):
    """A model ready to translate ids. May be shared by threads."""

    @property
    def name(self) -> str:
        """What computes, on what and in which numbers: engines of other names round otherwise."""
        ...

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary, control ids included."""
        ...

    @property
    def max_sentence_tokens(self) -> int | None:
        """The longest source or target in tokens, EOS not counted, that the model has positions for; None: any length."""
        ...

    def start(self, sources: Sequence[Sequence[int]]) -> Session:
        """Encode sentences and begin a search over them, with one row for each, in order.

        Args:
            sources: Source ids of each sentence, without BOS, EOS or padding. An empty one is allowed: EOS alone.
        """
        ...

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the log-probability of every token of given targets, EOS last: ``[len(target) + 1]`` for each pair.

        Args:
            sources: As in :meth:`start`.
            targets: Target ids of each sentence, without BOS, EOS or padding. Control ids among them are an error of the caller.
        """
        ...

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Return where one decoder layer looks in the source while given targets are read, as the mean over its heads.

        Args:
            sources: As in :meth:`start`.
            targets: As in :meth:`score`.
            layer: Number of the decoder layer from 0, or from the end if negative, as in a list.

        Returns:
            For each pair ``[len(target) + 1, len(source) + 1]``: row j says how the position that predicts target token j
            (the last: EOS) divides its attention over the source tokens and EOS. Each row sums to 1.
        """
        ...


@runtime_checkable
class SearchingEngine(Engine, Protocol):
    """An engine that can do a whole plain beam search by itself, faster than step by step: ``beam.py`` is its oracle."""

    def beam_search(
        self,
        sources: Sequence[Sequence[int]],
        minima: IntArray,
        limits: IntArray,
        settings: DecodeSettings,
        shortlists: Sequence[IntArray] | None = None,
    ) -> list[list[Hypothesis]]:
        """Give what :func:`transduce.decoding.beam.beam_search` gives over this engine, to the last bit.

        Args:
            sources: As in :meth:`Engine.start`; any number, the engine keeps its own rows full.
            minima: ``[sentences]``: fewest tokens of a translation, EOS not counted.
            limits: ``[sentences]``: most tokens of a translation, EOS not counted.
            settings: Beam size (1: greedy search), length penalty and ``n_best``.
            shortlists: For each sentence the target ids that it may use, ascending, the control ids among them; the
                softmax is then over these alone. None: the whole vocabulary.
        """
        ...
