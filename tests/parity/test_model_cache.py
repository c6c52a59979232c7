"""Cached step = full forward, through any rearrangement that a search can ask for."""

from __future__ import annotations

import pytest
import torch

from tests.parity.tiny import VOCAB, pairs, small_model

TOLERANCE = 1e-12  # float64: the two ways differ by the order of sums of some dozen terms of size 1


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_steps_give_what_one_forward_gives(norm: str, positions: str) -> None:
    model, data = small_model(norm=norm, positions=positions), pairs([5, 2, 7], [40, 40, 40])  # more than one block
    with torch.inference_mode():
        memory = model.encode(data.src, data.src_valid)
        expected = model.decode(data.tgt_in, memory, data.src_valid)
        cache = model.start_cache(memory, data.src_valid)
        steps = [model.decode_step(data.tgt_in[:, t], cache) for t in range(40)]
    torch.testing.assert_close(torch.stack(steps, 1), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_repeated_reordered_and_dropped_keep_their_own_past(seed: int) -> None:
    model, data = small_model(), pairs([5, 2, 7], [1, 1, 1])
    generator = torch.Generator().manual_seed(seed)
    with torch.inference_mode():
        memory = model.encode(data.src, data.src_valid)
        cache = model.start_cache(memory, data.src_valid)
        prefixes, sentence = torch.empty(3, 0, dtype=torch.long), torch.arange(3)
        for n_rows in (3, 6, 7, 7, 4, 2, 2, 1):
            if prefixes.shape[1]:
                rows = torch.randint(len(prefixes), (n_rows,), generator=generator)
                cache.select(rows)
                prefixes, sentence = prefixes[rows], sentence[rows]
            ids = torch.randint(1, VOCAB, (len(prefixes),), generator=generator)
            prefixes = torch.cat([prefixes, ids[:, None]], 1)
            hidden = model.decode_step(ids, cache)
            expected = model.decode(prefixes, memory[sentence], data.src_valid[sentence])[:, -1]
            torch.testing.assert_close(hidden, expected, rtol=0, atol=TOLERANCE)
            assert cache.n_sentences == len(set(sentence.tolist()))
