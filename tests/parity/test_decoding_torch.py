"""What only the torch engine does: attention of every layer and head; maps of attention from many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from tests.parity.engines import random_model, random_sources
from transduce.decoding.engine import FloatArray
from transduce.decoding.torch_engine import TorchEngine


def test_attention_maps_are_distributions_and_never_look_ahead() -> None:
    engine = TorchEngine(random_model(), torch.device("cpu"))
    arrays = engine.attention([5, 6, 7], [4, 9])
    assert arrays.encoder_self.shape == (2, 2, 4, 4)
    assert arrays.decoder_self.shape == (2, 2, 3, 3)
    assert arrays.cross.shape == (2, 2, 3, 4)
    for maps in arrays:
        np.testing.assert_allclose(maps.sum(axis=-1), 1.0, atol=1e-6)  # float32 softmax
    assert (np.triu(arrays.decoder_self, 1) == 0).all()
    assert engine.attention([4], [9]).cross.shape == (2, 2, 2, 2), "nothing of the first pair is left behind"


def test_threads_may_share_an_engine_for_alignments() -> None:
    engine = TorchEngine(random_model(), torch.device("cpu"))
    sources, targets = random_sources(1, 60, 12), random_sources(2, 60, 12)

    def cross(i: int) -> FloatArray:
        return engine.cross_attention([sources[i]], [targets[i]], layer=-1)[0]

    def whole(i: int) -> FloatArray:
        mean: FloatArray = engine.attention(sources[i], targets[i]).cross[-1].mean(axis=0)
        return mean

    alone = [cross(i) for i in range(60)]
    with ThreadPoolExecutor(4) as pool:
        for found in (pool.map(cross, range(60)), pool.map(whole, range(60))):
            for own, expected in zip(found, alone, strict=True):
                np.testing.assert_allclose(own, expected, atol=1e-6)  # float32 means over two heads
