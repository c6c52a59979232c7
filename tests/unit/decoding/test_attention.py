from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.unit.decoding.words import letter_pair
from transduce.decoding.attention import AttentionArrays, record_attention


class UniformAttention:
    """One layer, one head, every position looks everywhere."""

    def attention(self, source: Sequence[int], target: Sequence[int]) -> AttentionArrays:
        s, t = len(source) + 1, len(target) + 1
        shapes = [(1, 1, s, s), (1, 1, t, t), (1, 1, t, s)]
        return AttentionArrays(*(np.full(shape, 1 / shape[-1], dtype=np.float32) for shape in shapes))


def test_pieces_name_the_axes_of_the_maps() -> None:
    pair = letter_pair()
    maps = record_attention(UniformAttention(), pair, pair.src.encode("abc"), pair.tgt.encode("VW"))
    assert maps.src_pieces == ["a", "b", "c", "</s>"]
    assert maps.tgt_in_pieces == ["<s>", "V", "W"]
    assert maps.tgt_out_pieces == ["V", "W", "</s>"]
    assert maps.arrays.encoder_self.shape == (1, 1, 4, 4)
    assert maps.arrays.decoder_self.shape == (1, 1, 3, 3)
    assert maps.arrays.cross.shape == (1, 1, len(maps.tgt_out_pieces), len(maps.src_pieces))
