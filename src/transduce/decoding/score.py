"""How probable given translations are: the model reads the target (teacher forcing) instead of writing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transduce.base.errors import DecodingError
from transduce.decoding.batches import cut_batches
from transduce.decoding.engine import Engine, FloatArray

__all__ = ["TargetScore", "score_targets"]


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


def _check_lengths(lengths: Sequence[int], longest: int | None) -> None:
    if longest is None:
        return
    for number, length in enumerate(lengths, start=1):
        if length > longest + 1:
            raise DecodingError(
                f"pair {number} has a side of {length - 1} tokens, but this model has positions for {longest}; "
                "leave the pair out or shorten it"
            )
