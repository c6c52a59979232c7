"""Attention of a made-up sentence pair, for the tests of what is drawn of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transduce.decoding.attention import AttentionArrays, AttentionMaps
from transduce.decoding.engine import FloatArray

__all__ = ["made_up_maps"]


def made_up_maps(
    src: Sequence[str], tgt: Sequence[str], *, n_layers: int = 3, n_heads: int = 4, seed: int = 1
) -> AttentionMaps:
    """Return random weights, rows of which sum to 1, for source and target tokens without BOS and EOS."""
    generator = np.random.default_rng(seed)

    def draw(rows: int, columns: int, *, causal: bool = False) -> FloatArray:
        scores = 2 * generator.normal(size=(n_layers, n_heads, rows, columns))
        if causal:
            scores = np.where(np.tri(rows, columns, dtype=bool), scores, -np.inf)
        weights = np.exp(scores)
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float32)

    s, t = len(src) + 1, len(tgt) + 1
    arrays = AttentionArrays(draw(s, s), draw(t, t, causal=True), draw(t, s))
    return AttentionMaps([*src, "</s>"], ["<s>", *tgt], [*tgt, "</s>"], arrays)
