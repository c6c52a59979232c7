"""What only the torch engine does: attention of every layer and head."""

from __future__ import annotations

import numpy as np
import torch

from tests.parity.engines import random_model
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
