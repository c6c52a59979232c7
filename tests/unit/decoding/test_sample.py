from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.greedy import greedy_search
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.sample import sample_search, step_distribution, uniforms
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL

SOURCES = [[4], [5, 4], [6, 4, 4], [7], [8], []]


def sampling(**changes: object) -> DecodeSettings:
    return DecodeSettings.from_dict({"search": "sample", "max_extra_tokens": 6, **changes})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [0.5, 0.3, 0.2]),
        ({"temperature": 0.5}, [0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38]),  # squares
        ({"top_k": 2}, [0.625, 0.375, 0]),
        ({"top_k": 9}, [0.5, 0.3, 0.2]),
        ({"top_p": 0.45}, [1, 0, 0]),
        ({"top_p": 0.55}, [0.625, 0.375, 0]),  # 0.5 is not enough
        ({"top_p": 1.0}, [0.5, 0.3, 0.2]),
        ({"top_k": 2, "top_p": 0.6}, [1, 0, 0]),  # of the two that top_k leaves, the first has 0.625
        ({"temperature": 2.0, "top_p": 0.45}, [0.5**0.5 / (0.5**0.5 + 0.3**0.5), 0.3**0.5 / (0.5**0.5 + 0.3**0.5), 0]),
    ],
)
def test_what_is_drawn_from(changes: dict[str, object], expected: list[float]) -> None:
    with np.errstate(divide="ignore"):
        log_probs = np.log(np.array([[0.3, 0.0, 0.5, 0.2], [0.2, 0.3, 0.0, 0.5]], dtype=np.float32))
    found = step_distribution(log_probs, sampling(**changes))
    first, second, third = expected
    np.testing.assert_allclose(found[0], [second, 0, first, third], atol=1e-6)  # float32 logs
    np.testing.assert_allclose(found[1], [third, second, 0, first], atol=1e-6)


@pytest.mark.parametrize("temperature", [5e-324, 1e-308, 1e-30, 1e308])
def test_no_temperature_is_too_extreme(temperature: float) -> None:
    log_probs = np.array([[-9.0, -2.0, -1.0, -np.inf], [-3.0, -3.0, -1e38, -4.0]], dtype=np.float32)
    found = step_distribution(log_probs, sampling(temperature=temperature))
    expected = [[1, 1, 1, 0], [1, 1, 1, 1]] if temperature > 1 else [[0, 0, 1, 0], [1, 1, 0, 0]]
    np.testing.assert_allclose(found, expected / np.sum(expected, axis=1, keepdims=True))


def test_of_equal_tokens_the_lower_id_stays() -> None:
    log_probs = np.log(np.full((1, 4), 0.25, dtype=np.float32))
    assert step_distribution(log_probs, sampling(top_k=2)).tolist() == [[0.5, 0.5, 0, 0]]


def test_random_numbers_belong_to_seed_sentence_and_sample() -> None:
    numbers = uniforms(1, [4, 5], 0, 1000)
    assert ((numbers >= 0) & (numbers < 1)).all()
    # The mean of 1000 uniform numbers has standard deviation 0.2887 / sqrt(1000) = 0.009.
    assert numbers.mean() == pytest.approx(0.5, abs=5 * 0.009)
    np.testing.assert_array_equal(uniforms(1, [4, 5], 0, 10), numbers[:10])
    others = [
        uniforms(2, [4, 5], 0, 10),
        uniforms(1, [5, 4], 0, 10),
        uniforms(1, [4, 5], 1, 10),
        uniforms(1, [45], 0, 10),
    ]
    for one, other in itertools.combinations([numbers[:10], *others], 2):
        assert not (one == other).any()


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.1, 2.0]), top_p=st.sampled_from([None, 0.7]))
@hypothesis_settings(max_examples=30, deadline=None)
def test_samples_depend_on_nothing_but_seed_and_sentence(seed: int, spread: float, top_p: float | None) -> None:
    engine = ToyEngine.random(seed, spread=spread)
    settings = sampling(seed=seed, top_p=top_p)
    together = sample_search(engine, SOURCES, settings, 5)
    assert together == sample_search(engine, SOURCES[::-1], settings, 5)[::-1]
    assert together == [sample_search(engine, [source], settings, 5)[0] for source in SOURCES]
    assert [found[:2] for found in together] == sample_search(engine, SOURCES, settings, 2)
    assert together[0] == sample_search(engine, [[4], [4]], settings, 5)[1], "the same line is translated the same way"


def test_log_probabilities_are_the_models_own_whatever_the_temperature() -> None:
    engine = ToyEngine.random(3)
    for settings in (sampling(), sampling(temperature=3.0, length_alpha=1.0), sampling(top_k=2)):
        for source, found in zip(SOURCES, sample_search(engine, SOURCES, settings, 4), strict=True):
            for h in found:
                assert h.log_prob == pytest.approx(engine.log_prob(source, h.ids), abs=1e-9)  # order of float64 sums
                assert h.score == pytest.approx(h.log_prob / length_penalty(len(h.ids) + 1, settings.length_alpha))


@pytest.mark.parametrize("settings", [sampling(top_k=1), sampling(top_p=1e-9), sampling(temperature=1e-4)])
def test_nothing_left_to_chance_is_greedy_search(settings: DecodeSettings) -> None:
    engine = ToyEngine.random(3)
    assert [found[0] for found in sample_search(engine, SOURCES, settings, 1)] == greedy_search(
        engine, SOURCES, settings
    )


def test_length_bounds_hold() -> None:
    engine = ToyEngine.random(4, spread=0.1)
    bounds = LengthBounds(np.array([0, 3, 2, 0, 5, 1]), np.array([0, 3, 6, 2, 7, 1]))
    for found, least, most in zip(sample_search(engine, SOURCES, sampling(), 8, bounds), *bounds, strict=True):
        assert all(least <= len(h.ids) <= most and h.at_limit == (len(h.ids) == most) for h in found)
        assert all(token >= N_CONTROL for h in found for token in h.ids)


@pytest.mark.parametrize("settings", [sampling(), sampling(temperature=0.6), sampling(top_k=3)])
def test_translations_come_as_often_as_they_are_probable(settings: DecodeSettings) -> None:
    engine = ToyEngine.random(8, n_words=3, spread=0.7)
    n = 4000
    [drawn] = sample_search(engine, [[4]], settings, n, LengthBounds(np.array([0]), np.array([2])))
    counts: dict[tuple[int, ...], int] = {}
    for h in drawn:
        counts[h.ids] = counts.get(h.ids, 0) + 1
    for ids in [ids for length in range(3) for ids in itertools.product(range(4, 7), repeat=length)]:
        p = sentence_probability(engine, ids, settings)
        # A count is binomial. That one of 13 is more than 5 standard deviations off has a probability of about 1e-5.
        assert abs(counts.pop(ids, 0) / n - p) <= 5 * (p * (1 - p) / n) ** 0.5, ids
    assert not counts


def sentence_probability(engine: ToyEngine, ids: tuple[int, ...], settings: DecodeSettings) -> float:
    """Multiply the steps, each tempered and cut in plain Python; after two tokens EOS is certain."""
    p = 1.0
    for step, token in enumerate([*ids, EOS_ID][:2]):
        previous = [1, *ids][step]
        weights = {
            i: float(np.exp(engine.table[4, step, previous, i] / settings.temperature)) for i in (EOS_ID, 4, 5, 6)
        }
        kept = sorted(weights, key=lambda i: -weights[i])[: settings.top_k]
        p *= weights[token] / sum(weights[i] for i in kept) if token in kept else 0
    return p


def test_damaged_model_is_refused() -> None:
    engine = ToyEngine.random(0)
    engine.table[:] = np.nan
    with pytest.raises(DecodingError, match="weights are damaged"):
        sample_search(engine, SOURCES, sampling(), 2)


def test_nothing_in_nothing_out() -> None:
    assert sample_search(ToyEngine.random(0), [], sampling(), 2) == []
