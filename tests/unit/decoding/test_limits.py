from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError, SettingsError
from transduce.decoding.limits import length_bounds
from transduce.decoding.settings import DecodeSettings

SOURCES = [[], [4], [4] * 10]


def test_limit_is_source_length_plus_fifty() -> None:
    minima, limits = length_bounds(ToyEngine.random(0), SOURCES, DecodeSettings())
    assert limits.tolist() == [50, 51, 60]
    assert minima.tolist() == [0, 0, 0]


def test_max_tokens_lowers_and_min_tokens_raises_the_limit() -> None:
    settings = DecodeSettings(max_extra_tokens=2, min_tokens=4, max_tokens=8)
    minima, limits = length_bounds(ToyEngine.random(0), SOURCES, settings)
    assert limits.tolist() == [4, 4, 8]
    assert minima.tolist() == [4, 4, 4]


def test_ratios_are_of_the_source_length() -> None:
    settings = DecodeSettings(min_length_ratio=0.55, max_length_ratio=1.1)
    minima, limits = length_bounds(ToyEngine.random(0), SOURCES, settings)
    assert minima.tolist() == [0, 0, 5]  # 5.5 rounded down
    assert limits.tolist() == [1, 2, 11]  # 1.1 * 10 is 11 whatever float64 says; 1.1 rounded up; at least 1


def test_max_tokens_goes_before_the_ratio_and_min_tokens_before_the_source_length() -> None:
    settings = DecodeSettings(min_length_ratio=0.9, max_tokens=6)
    minima, limits = length_bounds(ToyEngine.random(0), SOURCES, settings)
    assert (minima.tolist(), limits.tolist()) == ([0, 0, 6], [6, 6, 6])
    settings = DecodeSettings(min_tokens=3, max_length_ratio=0.5)
    minima, limits = length_bounds(ToyEngine.random(0), SOURCES, settings)
    assert (minima.tolist(), limits.tolist()) == ([3, 3, 3], [3, 3, 5])


def test_limits_are_raised_to_hold_what_a_sentence_needs() -> None:
    settings = DecodeSettings(max_tokens=2)
    assert length_bounds(ToyEngine.random(0), SOURCES, settings, [0, 2, 5]).limits.tolist() == [2, 2, 5]


def test_positions_of_the_model_have_the_last_word() -> None:
    engine = ToyEngine.random(0, max_sentence_tokens=55)
    assert length_bounds(engine, SOURCES, DecodeSettings()).limits.tolist() == [50, 51, 55]
    long = [[4] * 50]
    assert length_bounds(engine, long, DecodeSettings(min_length_ratio=2)).minima.tolist() == [55]
    with pytest.raises(DecodingError, match=r"min_tokens \(56\) is more than the 55 tokens"):
        length_bounds(engine, SOURCES, DecodeSettings(min_tokens=56))
    with pytest.raises(DecodingError, match="have 56 tokens, but this model has positions for 55"):
        length_bounds(engine, SOURCES, DecodeSettings(), [0, 56, 0])


@given(
    n=st.integers(0, 30),
    least=st.integers(0, 8),
    more=st.integers(0, 8),
    ratio=st.floats(0.01, 3),
    wider=st.floats(1, 3),
    positions=st.none() | st.integers(8, 20),
    needed=st.integers(0, 8),
)
def test_minimum_is_never_above_the_limit(
    n: int, least: int, more: int, ratio: float, wider: float, positions: int | None, needed: int
) -> None:
    settings = DecodeSettings(
        min_tokens=least, max_tokens=least + more or 1, min_length_ratio=ratio, max_length_ratio=ratio * wider
    )
    engine = ToyEngine.random(0, max_sentence_tokens=positions)
    [minimum], [limit] = length_bounds(engine, [[4] * n], settings, [needed])
    assert 0 <= minimum <= limit <= (positions or 100)
    assert limit >= needed


@pytest.mark.parametrize(
    "setting", ["max_extra_tokens", "max_tokens", "min_tokens", "max_length_ratio", "min_length_ratio"]
)
def test_a_limit_is_never_more_than_a_number_of_32_bits_holds(setting: str) -> None:
    with pytest.raises(SettingsError, match=setting):
        DecodeSettings.from_dict({setting: 2**31})
    most = DecodeSettings(min_tokens=100_000, max_extra_tokens=100_000, min_length_ratio=1000)
    bounds = length_bounds(ToyEngine.random(1), [[4] * 100_000], most)
    assert bounds.limits.max() < 2**31


@pytest.mark.parametrize(("setting", "search"), [("n_groups", "diverse"), ("top_k", "sample"), ("n_samples", "mbr")])
def test_sizes_that_no_search_can_have_are_refused(setting: str, search: str) -> None:
    with pytest.raises(SettingsError, match=setting):
        DecodeSettings.from_dict({"search": search, setting: 2**31})
