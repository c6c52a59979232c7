"""What only the native engine does: whole searches, exactness to the last bit, int8, any instruction set."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from tests.parity.engines import NATIVE, SHAPES, SOURCES, native_of, needs_native, random_model, random_sources
from transduce.base.errors import BundleError, DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.greedy import greedy_search
from transduce.decoding.limits import length_bounds
from transduce.decoding.native_engine import NativeEngine, native_engine
from transduce.decoding.settings import DecodeSettings
from transduce.model.build import export_weights
from transduce.native.weights import NativePrecision
from transduce.tokenizer.protocol import BOS_ID

pytestmark = needs_native


def search(engine: NativeEngine, sources: list[list[int]], settings: DecodeSettings):  # type: ignore[no-untyped-def]
    bounds = length_bounds(engine, sources, settings)
    return engine.beam_search(sources, bounds.minima, bounds.limits, settings)


@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize(
    "settings",
    [
        DecodeSettings(),
        DecodeSettings(beam_size=1),
        DecodeSettings(beam_size=5, n_best=5, length_alpha=0.0, max_extra_tokens=3),
        DecodeSettings(beam_size=3, n_best=2, length_alpha=2.0, min_tokens=2, max_tokens=6),
        DecodeSettings(beam_size=50, n_best=50, max_tokens=2),
    ],
    ids=["plain", "greedy", "n-best", "lengths", "large beam"],
)
def test_search_in_cpp_is_the_search_in_python_to_the_last_bit(
    kind: str, shape: str, precision: NativePrecision, settings: DecodeSettings
) -> None:
    engine = native_of(kind, random_model(shape, sharpness=3.0), shape, precision=precision)
    sources = [*SOURCES, *random_sources(1, 20, 12, longest=9)]
    found = search(engine, sources, settings)
    assert found == beam_search(engine, sources, settings)
    if settings.beam_size == 1:
        assert found == [[h] for h in greedy_search(engine, sources, settings)]


@example_settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_search_in_cpp_is_the_search_in_python_whatever_the_model(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(["post", "pre", "learned"]))
    vocab_size = data.draw(st.integers(5, 40))
    model = random_model(shape, vocab_size, data.draw(st.integers(0, 99)), data.draw(st.sampled_from([0.5, 2.0, 8.0])))
    engine = native_of(NATIVE[0], model, shape, n_threads=data.draw(st.integers(1, 4)))
    beam_size = data.draw(st.integers(1, 9))
    settings = DecodeSettings(
        beam_size=beam_size,
        n_best=data.draw(st.integers(1, beam_size)),
        length_alpha=data.draw(st.sampled_from([0.0, 0.6, 1.0, 3.0])),
        max_extra_tokens=data.draw(st.integers(0, 6)),
        min_tokens=data.draw(st.integers(0, 4)),
    )
    sources = random_sources(data.draw(st.integers(0, 99)), data.draw(st.integers(1, 9)), vocab_size, longest=7)
    assert search(engine, sources, settings) == beam_search(engine, sources, settings)


@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("shape", ["post", "odd"])
def test_neighbours_order_batch_and_threads_do_not_change_a_single_bit(
    kind: str, precision: NativePrecision, shape: str
) -> None:
    model = random_model(shape, 30, sharpness=4.0)
    sources = random_sources(5, 64, 30, longest=25)
    settings = DecodeSettings(beam_size=4, n_best=4, max_extra_tokens=8)
    alone = [
        found for source in sources for found in search(native_of(kind, model, shape, 1, precision), [source], settings)
    ]
    for n_threads, size in [(1, 7), (2, 1), (2, 64), (3, 7), (3, 64)]:
        engine = native_of(kind, model, shape, n_threads, precision)
        batches = [sources[i : i + size] for i in range(0, len(sources), size)]
        assert [found for batch in batches for found in search(engine, batch, settings)] == alone
    order = np.random.default_rng(0).permutation(len(sources))
    shuffled = search(native_of(kind, model, shape, 2, precision), [sources[i] for i in order], settings)
    assert shuffled == [alone[i] for i in order]


@pytest.mark.parametrize("kind", NATIVE)
def test_steps_scores_and_attention_are_exact_too(kind: str) -> None:
    model = random_model("odd", 30, sharpness=4.0)
    sources, targets = random_sources(5, 40, 30, longest=25), random_sources(6, 40, 30, longest=25)
    engine = native_of(kind, model, "odd", n_threads=2)
    session = engine.start(sources)
    together = session.distribution(np.arange(40), np.full(40, BOS_ID))
    scores, maps = engine.score(sources, targets), engine.cross_attention(sources, targets, -1)
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = engine.start([source]).distribution(np.array([0]), np.array([BOS_ID]))
        assert np.array_equal(together[i], alone[0])
        assert np.array_equal(scores[i], engine.score([source], [target])[0])
        assert np.array_equal(maps[i], engine.cross_attention([source], [target], -1)[0])


def test_instruction_sets_agree() -> None:
    model = random_model("odd", 30, sharpness=2.0)
    sources, targets = random_sources(5, 9, 30, longest=25), random_sources(6, 9, 30, longest=25)
    first, *others = [native_of(kind, model, "odd").score(sources, targets) for kind in NATIVE]
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_allclose(
                a, b, atol=1e-4
            )  # sums in another order, multiply and add in one rounding or two


@pytest.mark.parametrize("kind", NATIVE)
def test_int8_stays_close_to_float32(kind: str) -> None:
    """Weights of 7 bits are off by up to 1/126 of the largest, so log-probabilities by some hundredths; not by tenths."""
    model = random_model("wide", 40, sharpness=1.0)
    sources, targets = random_sources(5, 9, 40), random_sources(6, 9, 40)
    exact = np.concatenate(native_of(kind, model, "wide").score(sources, targets))
    rough = np.concatenate(native_of(kind, model, "wide", precision="int8").score(sources, targets))
    assert 0 < np.abs(exact - rough).max() < 0.15


@pytest.mark.parametrize("kind", NATIVE)
def test_sentences_of_a_thousand_tokens(kind: str) -> None:
    model = random_model("pre", 30)
    engine = native_of(kind, model, "pre")
    source = [4 + i % 26 for i in range(1100)]
    [scores] = engine.score([source], [source])
    session = engine.start([source, [5]])
    for position, token in enumerate([BOS_ID, *source[:700]]):
        log_probs = session.distribution(np.array([0]), np.array([token]))
        assert log_probs[0, [*source, 2][position]] == scores[position], (
            "a step is a teacher-forced position, bit by bit"
        )


def test_threads_share_an_engine() -> None:
    engine = native_of(NATIVE[0], random_model("post", 30, sharpness=4.0), "post", n_threads=2)
    jobs = [random_sources(seed, 10, 30) for seed in range(8)]
    expected = [search(engine, sources, DecodeSettings()) for sources in jobs]
    found: list[object] = [None] * len(jobs)

    def work(i: int) -> None:
        found[i] = search(engine, jobs[i], DecodeSettings())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_what_is_out_of_range_is_refused_and_nothing_breaks() -> None:
    engine = native_of(NATIVE[0], random_model("learned"), "learned")
    for call in (
        lambda: engine.start([[12]]),
        lambda: engine.start([[-1]]),
        lambda: engine.start([[4] * 12]),
        lambda: engine.score([[4]], [[99]]),
        lambda: engine.score([[4]], [[4] * 12]),
        lambda: engine.start([[4]]).step(np.array([1]), np.array([4]), 1),
        lambda: engine.start([[4]]).step(np.array([0]), np.array([12]), 1),
        lambda: engine.start([[4]]).step(np.array([0]), np.array([4]), 9),
        lambda: engine.beam_search([[4]], np.array([0]), np.array([12]), DecodeSettings()),
        lambda: engine.beam_search([[4]], np.array([5]), np.array([4]), DecodeSettings()),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(IndexError, match="layer 3"):
        engine.cross_attention([[4]], [[4]], 3)
    assert search(engine, [], DecodeSettings()) == []
    assert len(search(engine, [[4]], DecodeSettings())[0][0].ids) <= 11


def test_weights_that_do_not_fit_are_refused_by_name() -> None:
    weights = export_weights(random_model("post"))
    with pytest.raises(
        BundleError, match=r"'src_embedding\.weight' has the shape \[12, 16\]; it should have 208 numbers"
    ):
        native_engine(SHAPES["post"], weights, 13, 13)
    del weights["decoder.layers.1.feed_forward.in_proj.bias"]
    with pytest.raises(BundleError, match=r"'decoder\.layers\.1\.feed_forward\.in_proj\.bias' is missing"):
        native_engine(SHAPES["post"], weights, 12, 12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("name", ["decoder.layers.0.feed_forward.out_proj.bias", "src_embedding.weight"])
def test_damaged_weights_are_refused_by_name(value: float, precision: NativePrecision, name: str) -> None:
    weights = export_weights(random_model("post"))
    weights[name].reshape(-1)[3] = value
    with pytest.raises(BundleError, match=f"'{name}' holds a number that is NaN or infinite"):
        native_engine(SHAPES["post"], weights, 12, 12, precision=precision)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_numbers_that_grow_too_large_are_noticed(precision: NativePrecision) -> None:
    weights = export_weights(random_model("post"))
    weights["decoder.layers.1.feed_forward_norm.weight"][:] = 3e38
    engine = native_engine(SHAPES["post"], weights, 12, 12, precision=precision)
    with pytest.raises(DecodingError, match="weights are damaged"):
        search(engine, SOURCES, DecodeSettings())
