"""A second opinion on n-best lists: another model reads their translations, and they are ranked anew."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine
from transduce.decoding.penalties import length_penalty
from transduce.decoding.score import PairScore, score_pairs
from transduce.decoding.settings import DecodeSettings
from transduce.text.segments import SentencePair
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["ListedText", "RescoreWeights", "RescoredText", "rescore_lists"]

_LARGEST_WEIGHT = 1e9


@dataclass(frozen=True, slots=True)
class ListedText:
    """One translation in an n-best list."""

    text: str
    """The translation."""
    score: float
    """What it was ranked by, higher is better."""


@dataclass(frozen=True, slots=True)
class RescoreWeights:
    """How the two opinions are added up: ``model * (score of the model) + old * (score in the list)``.

    Raises:
        DecodingError: A weight is no number, or too large to calculate with.
    """

    model: float = 1.0
    """Weight of the score of the model that reads."""
    old: float = 0.0
    """Weight of the score in the list; 0: the model decides alone."""

    def __post_init__(self) -> None:
        """Refuse what would make all scores infinite or no numbers."""
        for weight in (self.model, self.old):
            if not (math.isfinite(weight) and abs(weight) <= _LARGEST_WEIGHT):
                raise DecodingError(
                    f"{weight} is no weight of a score; give a number between {-_LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}"
                )


@dataclass(frozen=True, slots=True)
class RescoredText:
    """One translation in the new order."""

    place: int
    """Where it stood in the old list, from 0."""
    text: str
    """The translation."""
    score: float
    """What it is ranked by now: the weighted sum; the old score where the model did not read the list."""
    model_score: float | None
    """The model's log-probability divided by the length penalty, as a search would rank it; None: not read."""


def rescore_lists(
    engine: Engine,
    tokenizers: TokenizerPair,
    lists: Iterable[tuple[str, Sequence[ListedText]]],
    settings: DecodeSettings,
    weights: RescoreWeights,
) -> Iterator[list[RescoredText]]:
    """Rank n-best lists anew as they come, in memory that does not grow with their number.

    A list with a blank source, or with a pair longer than :func:`~transduce.decoding.score.longest_side`, stays as it is:
    scores of which some are missing cannot be compared. Of equal scores the one that stood higher comes first.

    The texts are encoded anew. A search now and then spells a text in other pieces than the tokenizer does, so the score of
    the very model that made a list can differ from the one in the list.

    Args:
        engine: The model that reads.
        tokenizers: Those of its two sides.
        lists: Each source text with its translations.
        settings: The length penalty and the limits of :func:`~transduce.decoding.score.score_pairs`.
        weights: How the old and the new score are added up.

    Yields:
        For each list, in order, its translations, best first.
    """
    stream = iter(lists)
    while window := _take(stream, settings.window_lines):
        pairs = [SentencePair(src, listed.text) for src, texts in window for listed in texts]
        scores = score_pairs(engine, tokenizers, pairs, settings)
        for _, texts in window:
            yield _rank(texts, list(itertools.islice(scores, len(texts))), settings.length_alpha, weights)


def _take(stream: Iterator[tuple[str, Sequence[ListedText]]], n_texts: int) -> list[tuple[str, Sequence[ListedText]]]:
    """Take lists off a stream until they hold so many translations, or more with the last list."""
    taken: list[tuple[str, Sequence[ListedText]]] = []
    n_taken = 0
    while n_taken < n_texts and (following := next(stream, None)) is not None:
        taken.append(following)
        n_taken += len(following[1])
    return taken


def _rank(
    texts: Sequence[ListedText], scores: Sequence[PairScore], alpha: float, weights: RescoreWeights
) -> list[RescoredText]:
    ranked = []
    for place, (listed, pair) in enumerate(zip(texts, scores, strict=True)):
        if pair.score is None:
            return [RescoredText(place, listed.text, listed.score, None) for place, listed in enumerate(texts)]
        own = pair.score.log_prob / length_penalty(pair.score.n_tokens, alpha)
        score = weights.model * own + weights.old * listed.score + 0.0  # never -0.0, which looks like a mistake
        ranked.append(RescoredText(place, listed.text, score, own))
    return sorted(ranked, key=lambda item: -item.score)
