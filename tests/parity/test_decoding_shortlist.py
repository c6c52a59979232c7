"""Shortlists on every engine: step by step against the model's own distribution, and the search in C++ against the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from tests.parity.engines import (
    KINDS,
    NATIVE,
    SHAPES,
    SOURCES,
    TOLERANCE,
    native_of,
    needs_native,
    random_model,
    random_sources,
    subject,
)
from transduce.data.lexical import LexicalTable
from transduce.decoding.beam import beam_search
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.query import Query
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.shortlist import Shortlist, ShortlistEngine, with_shortlist
from transduce.native.weights import NativePrecision
from transduce.tokenizer.protocol import BOS_ID

VOCAB = 40
SETTINGS = [
    DecodeSettings(max_extra_tokens=5),
    DecodeSettings(beam_size=1, max_extra_tokens=5),
    DecodeSettings(beam_size=5, n_best=5, length_alpha=0.0, max_extra_tokens=3),
    DecodeSettings(beam_size=50, n_best=50, max_tokens=2),  # wider than any list
    DecodeSettings(beam_size=80, n_best=3, min_tokens=1, max_tokens=2),  # the engine sorts in another way above 64
]


def random_shortlist(vocab_size: int = VOCAB, seed: int = 3) -> Shortlist:
    """Three random tokens for each source token, two for all."""
    ids = np.random.default_rng(seed).integers(4, vocab_size, size=3 * vocab_size).astype(np.int32)
    table = LexicalTable(np.arange(0, len(ids) + 1, 3), ids, np.ones(len(ids), dtype=np.float32))
    return Shortlist.choose(table, vocab_size, per_token=3, common=[5, 11])


def as_queries(sources: list[list[int]]) -> list[Query]:
    return [Query(tuple(source)) for source in sources]


def close(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    """The same translations; numbers from float32 sums in another order."""
    assert [[h.ids for h in own] for own in found] == [[h.ids for h in own] for own in expected]
    for name in ("log_prob", "score"):
        ours, theirs = ([getattr(h, name) for own in each for h in own] for each in (found, expected))
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_the_models_own_over_the_list(kind: str) -> None:
    own = subject(kind, vocab_size=VOCAB)
    shortlist = random_shortlist()
    session = ShortlistEngine(own.engine, shortlist).start(SOURCES)
    session.step(np.arange(5), np.full(5, BOS_ID), k=3)
    found = session.distribution(np.arange(5), np.full(5, 6))
    for row, source in enumerate(SOURCES):
        ids = shortlist.for_source(source)
        p = np.exp(own.next_log_probs(source, [6])[ids].astype(np.float64))
        np.testing.assert_allclose(found[row, ids], np.log(p / p.sum()), atol=TOLERANCE)
        assert np.isneginf(np.delete(found[row], ids)).all()


@needs_native
@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("settings", SETTINGS, ids=["plain", "greedy", "n-best", "large beam", "huge beam"])
def test_search_in_cpp_is_the_search_over_restricted_steps(
    kind: str, shape: str, precision: NativePrecision, settings: DecodeSettings
) -> None:
    engine = native_of(kind, random_model(shape, VOCAB, sharpness=3.0), shape, precision=precision)
    shortlist = random_shortlist()
    sources = [*SOURCES, *random_sources(1, 20, VOCAB, longest=9)]
    found = search(with_shortlist(engine, shortlist), as_queries(sources), settings)
    close(found, beam_search(ShortlistEngine(engine, shortlist), sources, settings))


@needs_native
@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("settings", SETTINGS[:3], ids=["plain", "greedy", "n-best"])
def test_native_and_torch_agree(kind: str, settings: DecodeSettings) -> None:
    shortlist = random_shortlist()
    sources = as_queries(random_sources(2, 30, VOCAB))
    native, torch = (
        search(with_shortlist(subject(each, vocab_size=VOCAB, sharpness=3.0).engine, shortlist), sources, settings)
        for each in (kind, "torch")
    )
    close(native, torch)


@needs_native
@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_neighbours_order_batch_and_threads_do_not_change_a_single_bit(kind: str, precision: NativePrecision) -> None:
    model, shortlist = random_model("post", VOCAB, sharpness=4.0), random_shortlist()
    sources = random_sources(5, 64, VOCAB, longest=25)
    settings = DecodeSettings(beam_size=4, n_best=4, max_extra_tokens=8)

    def translate(some: list[list[int]], n_threads: int) -> list[list[Hypothesis]]:
        engine = with_shortlist(native_of(kind, model, "post", n_threads, precision), shortlist)
        return search(engine, as_queries(some), settings)

    alone = [found for source in sources for found in translate([source], 1)]
    for n_threads in (1, 2):
        for size in (7, 64):
            parts = [translate(sources[i : i + size], n_threads) for i in range(0, len(sources), size)]
            assert [found for part in parts for found in part] == alone
    assert translate(sources[::-1], 2)[::-1] == alone


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_everything_changes_nothing(kind: str) -> None:
    engine = subject(kind, vocab_size=VOCAB, sharpness=3.0).engine
    empty = LexicalTable(
        np.zeros(VOCAB + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    )
    everything = Shortlist.choose(empty, VOCAB, per_token=1, common=range(4, VOCAB))
    settings = DecodeSettings(n_best=4, max_extra_tokens=4)
    close(
        search(with_shortlist(engine, everything), as_queries(SOURCES), settings),
        search(engine, as_queries(SOURCES), settings),
    )
