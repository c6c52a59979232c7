"""What an engine around another one does not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from transduce.decoding.engine import Engine, FloatArray

__all__ = ["EngineAround"]


class EngineAround(Protocol):
    """An engine whose sessions differ from those of a model, and nothing else: who inherits this has ``start`` to write."""

    engine: Engine
    """The model."""

    @property
    def name(self) -> str:
        """What computes the model."""
        return self.engine.name

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary, control ids included."""
        return self.engine.tgt_vocab_size

    @property
    def max_sentence_tokens(self) -> int | None:
        """The longest sentence that the model has positions for."""
        return self.engine.max_sentence_tokens

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the model's own log-probabilities of given targets, over the whole vocabulary."""
        return self.engine.score(sources, targets)

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Return where the model looks while given targets are read."""
        return self.engine.cross_attention(sources, targets, layer)
