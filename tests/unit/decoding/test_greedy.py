from __future__ import annotations

import numpy as np
import pytest

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.greedy import greedy_search
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID, UNK_ID

SOURCES = [[4], [5, 4], [6, 4, 4], [7], [8], []]


def argmax_loop(engine: ToyEngine, source: list[int], limit: int) -> tuple[int, ...]:
    """Greedy search at its shortest, for one sentence, on the model's own table."""
    ids: list[int] = []
    while len(ids) < limit:
        following = engine.table[source[0] if source else 0, len(ids) % 7, [BOS_ID, *ids][-1]].copy()
        following[[PAD_ID, BOS_ID, UNK_ID]] = -np.inf
        if (best := int(following.argmax())) == EOS_ID:
            break
        ids.append(best)
    return tuple(ids)


@pytest.mark.parametrize("seed", range(10))
def test_greedy_is_an_argmax_loop(seed: int) -> None:
    engine = ToyEngine.random(seed)
    found = greedy_search(engine, SOURCES, DecodeSettings(max_extra_tokens=6))
    for source, hypothesis in zip(SOURCES, found, strict=True):
        assert hypothesis.ids == argmax_loop(engine, source, len(source) + 6)
        # Sums in float64 of the same float32 numbers in the same order or nearly so.
        assert hypothesis.log_prob == pytest.approx(engine.log_prob(source, hypothesis.ids), abs=1e-9)
        assert hypothesis.score == pytest.approx(hypothesis.log_prob / length_penalty(len(hypothesis.ids) + 1, 0.6))


def test_limits_hold_and_eos_is_forced_and_counted() -> None:
    engine = ToyEngine.random(3, spread=0.1)
    for hypothesis in greedy_search(engine, SOURCES, DecodeSettings(min_tokens=3, max_tokens=3)):
        assert len(hypothesis.ids) == 3
        assert min(hypothesis.ids) >= N_CONTROL
    [forced] = greedy_search(engine, [[4]], DecodeSettings(min_tokens=3, max_tokens=3))
    assert forced.log_prob == pytest.approx(engine.log_prob([4], forced.ids), abs=1e-9)


def test_nothing_in_nothing_out() -> None:
    assert greedy_search(ToyEngine.random(0), [], DecodeSettings()) == []


def test_damaged_model_is_refused() -> None:
    engine = ToyEngine.random(0)
    engine.table[:] = np.nan
    with pytest.raises(DecodingError, match="weights are damaged"):
        greedy_search(engine, SOURCES, DecodeSettings())
