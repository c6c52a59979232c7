"""Steps recorded as CUDA graphs against the dynamic steps of the same engine on the same GPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from tests.parity.engines import SHAPES, SOURCES, TOLERANCE, random_model, random_sources
from transduce.decoding.beam import beam_search
from transduce.decoding.greedy import greedy_search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.model.transformer import Transformer
from transduce.tokenizer.protocol import BOS_ID

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")

VOCAB = 12


def engines(model: Transformer) -> tuple[TorchEngine, TorchEngine]:
    """The dynamic engine and the one that replays."""
    device = torch.device("cuda")
    return TorchEngine(model, device), TorchEngine(model, device, "graphs")


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "learned"])
def test_replayed_steps_give_the_numbers_of_dynamic_steps(shape: str) -> None:
    dynamic, recorded = engines(random_model(shape))
    sessions = [engine.start(SOURCES) for engine in (dynamic, recorded)]
    parents, ids = np.arange(5), np.full(5, BOS_ID)
    for i in range(40):  # over 32 tokens
        one, other = (session.step(parents, ids, k=4) for session in sessions)
        np.testing.assert_allclose(other.log_probs, one.log_probs, atol=TOLERANCE)
        np.testing.assert_allclose(other.eos_log_probs, one.eos_log_probs, atol=TOLERANCE)
        n_rows, parents = len(parents), np.repeat(np.arange(5), 3) * (1 if i == 0 else 3)
        parents = parents + (0 if n_rows == 5 else np.tile([2, 0, 0], 5))
        ids = 4 + np.arange(15) % 8
    assert recorded.pool is not None
    assert all(step.is_recorded for step in recorded.pool.steps if step.shape.width > 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_searches_of_many_shapes_run_again_and_again(dtype: torch.dtype) -> None:
    dynamic, recorded = engines(random_model(sharpness=4.0).to(dtype))
    for seed in range(6):
        sources = random_sources(seed, 3 + 11 * seed, VOCAB, longest=10 + 20 * seed)
        settings = DecodeSettings(max_extra_tokens=10)
        found, expected = (beam_search(engine, sources, settings) for engine in (recorded, dynamic))
        assert len(found) == len(expected)
        assert all(np.isfinite([h.log_prob for h in hs]).all() for hs in found)
        if dtype == torch.float32:  # in half precision the beams go apart where two hypotheses are nearly equal
            assert [[h.ids for h in hs] for hs in found] == [[h.ids for h in hs] for hs in expected]
        greedy_search(recorded, sources, DecodeSettings(beam_size=1))


def test_threads_may_share_recorded_steps() -> None:
    _, recorded = engines(random_model(sharpness=4.0))
    batches = [random_sources(seed, 5, VOCAB) for seed in range(12)]
    settings = DecodeSettings(max_extra_tokens=8)
    expected = [beam_search(recorded, batch, settings) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: beam_search(recorded, batch, settings), batches))
    assert [[h.ids for [h] in of] for of in found] == [[h.ids for [h] in of] for of in expected]
