"""All searches on the torch engine: what they promise, on real distributions of small random models."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from transduce.decoding.query import Query
from transduce.decoding.score import score_targets
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.tokenizer.protocol import N_CONTROL

# float32 sums in another order (cached steps against a full pass) differ by about 1e-6 per token.
TOLERANCE = 1e-4

QUERIES = [
    Query((5, 6, 7)),
    Query((4,), banned=((4,), (5, 6))),
    Query((8, 8, 8, 8, 8, 8), prefix=(9, 4, 9)),
    Query(()),
    Query((7, 4), prefix=(5,), banned=((5, 5), (6,))),
    Query((9, 5, 4, 4)),
]

SEARCHES: dict[str, dict[str, object]] = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 3, "n_best": 3},
    "coverage": {"beam_size": 3, "n_best": 2, "coverage_beta": 0.3},
    "diverse": {"search": "diverse", "beam_size": 4, "n_groups": 2, "n_best": 4},
    "sample": {"search": "sample", "n_best": 3, "top_p": 0.9},
    "mbr": {"search": "mbr", "n_samples": 5, "n_best": 2},
}


def decode(ids: Sequence[int]) -> str:
    return "".join("abcdefgh"[i - N_CONTROL] for i in ids)


def engine(norm: str, sharpness: float) -> TorchEngine:
    settings = ModelSettings.from_dict(
        {"n_encoder_layers": 1, "n_decoder_layers": 2, "d_model": 16, "d_ff": 32, "n_heads": 2, "norm": norm}
    )
    model = build_model(settings, N_CONTROL + 8, N_CONTROL + 8, 3)
    with torch.no_grad():
        model.output_weight.mul_(sharpness)
    return TorchEngine(model, torch.device("cpu"))


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_keeps_its_promises(name: str) -> None:
    model = engine("post", sharpness=2.0)
    settings = DecodeSettings.from_dict(
        {"max_extra_tokens": 4, "min_tokens": 2, "no_repeat_ngram_size": 2, "exact": True, **SEARCHES[name]}
    )
    together = search(model, QUERIES, settings, decode)
    alone = [search(model, [query], settings, decode)[0] for query in QUERIES]
    assert together == alone, "equal to the last bit"
    for query, found in zip(QUERIES, together, strict=True):
        assert 1 <= len(found) <= settings.n_best
        given = score_targets(model, [query.src] * len(found), [h.ids for h in found], batch_tokens=100)
        for h, score in zip(found, given, strict=True):
            assert h.log_prob == pytest.approx(score.log_prob, abs=TOLERANCE)
            assert 2 <= len(h.ids) <= max(len(query.src) + 4, len(query.prefix))
            assert h.ids[: len(query.prefix)] == query.prefix
            text = decode(h.ids)
            assert not any(decode(phrase) in text for phrase in query.banned)
            pairs = list(zip(h.ids, h.ids[1:], strict=False))
            assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("name", SEARCHES)
def test_batches_change_nothing_but_the_last_bits(name: str) -> None:
    model = engine("pre", sharpness=3.0)
    settings = DecodeSettings.from_dict({"max_extra_tokens": 4, **SEARCHES[name]})
    batched = search(model, QUERIES, settings, decode)
    small = settings.replace(batch_tokens=9)
    for found, expected in zip(search(model, QUERIES[::-1], small, decode)[::-1], batched, strict=True):
        assert [h.ids for h in found] == [h.ids for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=TOLERANCE)
