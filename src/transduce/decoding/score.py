"""How probable given translations are: the model reads the target (teacher forcing) instead of writing it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from transduce.base.errors import DecodingError
from transduce.decoding.batches import cut_batches
from transduce.decoding.engine import Engine, FloatArray
from transduce.decoding.settings import DecodeSettings
from transduce.metrics.perplexity import perplexity
from transduce.text.normalize import is_blank
from transduce.text.segments import SentencePair
from transduce.tokenizer.protocol import EOS_ID, TokenizerPair

__all__ = ["PairScore", "ScoreTotal", "SkipReason", "TargetScore", "longest_side", "score_pairs", "score_targets"]

SkipReason = Literal["blank", "too long"]


@dataclass(frozen=True, slots=True)
class TargetScore:
    """The probability of one target given its source, EOS included."""

    token_log_probs: tuple[float, ...]
    """Natural log-probability of each token; the last is that of EOS."""

    @property
    def log_prob(self) -> float:
        """Natural log-probability of the whole target. Of a hypothesis of a search it is the hypothesis's own."""
        return sum(self.token_log_probs)

    @property
    def n_tokens(self) -> int:
        """Tokens, EOS counted: what perplexity divides by."""
        return len(self.token_log_probs)

    @property
    def perplexity(self) -> float:
        """Per token, EOS counted."""
        return perplexity(-self.log_prob, self.n_tokens)


@dataclass(frozen=True, slots=True)
class PairScore:
    """One pair of texts, scored or passed over."""

    ids: tuple[int, ...]
    """Target ids, without BOS and EOS."""
    pieces: tuple[str, ...]
    """A readable name for each of them and for EOS: what the log-probabilities of the score belong to."""
    score: TargetScore | None
    """None: the pair was not shown to the model."""
    skipped: SkipReason | None = None
    """Why it was not: ``blank``, since a blank source is never translated, or ``too long``."""


@dataclass
class ScoreTotal:
    """The sum over the pairs of a corpus, while they go by.

    >>> total = ScoreTotal()
    >>> total.add(PairScore((4,), ("▁Yes", "</s>"), TargetScore((-2.0, -1.0))))
    >>> total.log_prob, total.n_tokens, round(total.perplexity, 4)
    (-3.0, 2, 4.4817)
    """

    log_prob: float = 0.0
    """Natural log-probability of all targets together."""
    n_tokens: int = 0
    """Tokens of the targets, EOS counted."""
    n_pairs: int = 0
    """Pairs scored."""
    n_blank: int = 0
    """Pairs passed over since their source is blank."""
    n_long: int = 0
    """Pairs passed over since a side is too long."""

    def add(self, pair: PairScore) -> None:
        """Count one more pair."""
        if pair.score is not None:
            self.log_prob += pair.score.log_prob
            self.n_tokens += pair.score.n_tokens
            self.n_pairs += 1
        elif pair.skipped == "blank":
            self.n_blank += 1
        else:
            self.n_long += 1

    @property
    def perplexity(self) -> float:
        """Per token of all scored pairs, as :func:`transduce.evaluate` reports it; NaN when there are none."""
        return perplexity(-self.log_prob, self.n_tokens) if self.n_tokens else math.nan


def longest_side(engine: Engine, settings: DecodeSettings) -> int:
    """Return the most tokens that a side of a pair may have, EOS not counted.

    That is ``decode.max_src_tokens``, since attention takes memory with the square of the length, and never more than
    the model has positions for.
    """
    longest = engine.max_sentence_tokens
    return settings.max_src_tokens if longest is None else min(settings.max_src_tokens, longest)


def score_pairs(
    engine: Engine, tokenizers: TokenizerPair, pairs: Iterable[SentencePair], settings: DecodeSettings
) -> Iterator[PairScore]:
    """Compute the log-probability of each target text as the pairs come, in memory that does not grow with their number.

    A blank target has a probability like any other: that of EOS alone. A pair with a blank source, and one with a side
    longer than :func:`longest_side`, is not shown to the model.

    Args:
        engine: The model.
        tokenizers: Those of its two sides.
        pairs: Source and target texts. ``decode.window_lines`` of them are read at a time.
        settings: The limits, and the sizes of windows and batches, which do not change the results.

    Yields:
        For each pair, in order, its score or why it has none.
    """
    longest, stream = longest_side(engine, settings), iter(pairs)
    while window := list(itertools.islice(stream, settings.window_lines)):
        sources = tokenizers.src.encode_batch([pair.src for pair in window])
        targets = tokenizers.tgt.encode_batch(["" if is_blank(pair.tgt) else pair.tgt for pair in window])
        reasons = [
            _reason_to_skip(pair.src, len(source), len(target), longest)
            for pair, source, target in zip(window, sources, targets, strict=True)
        ]
        shown = [i for i, reason in enumerate(reasons) if reason is None]
        scores = iter(
            score_targets(
                engine,
                [sources[i] for i in shown],
                [targets[i] for i in shown],
                batch_tokens=settings.batch_tokens,
            )
        )
        for target, reason in zip(targets, reasons, strict=True):
            pieces = tokenizers.tgt.pieces([*target, EOS_ID])
            yield PairScore(tuple(target), tuple(pieces), next(scores) if reason is None else None, reason)


def score_targets(
    engine: Engine, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, batch_tokens: int
) -> list[TargetScore]:
    """Compute the log-probability of each target.

    Args:
        engine: The model.
        sources: Source ids of each sentence, without BOS and EOS.
        targets: Target ids of each sentence, without BOS and EOS.
        batch_tokens: Tokens computed together, the larger side, padding included.

    Raises:
        DecodingError: The counts differ, or a sentence is longer than the model has positions for.
    """
    if len(sources) != len(targets):
        raise DecodingError(f"there are {len(sources)} sources but {len(targets)} targets to score; give one for each")
    lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
    _check_lengths(lengths, engine.max_sentence_tokens)
    scores: list[FloatArray] = [np.empty(0, dtype=np.float32)] * len(sources)
    for batch in cut_batches(lengths, batch_tokens):
        found = engine.score([sources[i] for i in batch], [targets[i] for i in batch])
        for i, token_log_probs in zip(batch, found, strict=True):
            scores[i] = token_log_probs
    return [TargetScore(tuple(token_log_probs.tolist())) for token_log_probs in scores]


def _reason_to_skip(src: str, n_src: int, n_tgt: int, longest: int) -> SkipReason | None:
    if is_blank(src):
        return "blank"
    return "too long" if max(n_src, n_tgt) > longest else None


def _check_lengths(lengths: Sequence[int], longest: int | None) -> None:
    if longest is None:
        return
    for number, length in enumerate(lengths, start=1):
        if length > longest + 1:
            raise DecodingError(
                f"pair {number} has a side of {length - 1} tokens, but this model has positions for {longest}; "
                "leave the pair out or shorten it"
            )
