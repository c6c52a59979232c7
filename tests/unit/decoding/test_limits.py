from __future__ import annotations

import pytest

from tests.unit.decoding.toy import ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.limits import target_limits
from transduce.decoding.settings import DecodeSettings

SOURCES = [[], [4], [4] * 10]


def test_limit_is_source_length_plus_fifty() -> None:
    assert target_limits(ToyEngine.random(0), SOURCES, DecodeSettings()).tolist() == [50, 51, 60]


def test_max_tokens_lowers_and_min_tokens_raises_the_limit() -> None:
    settings = DecodeSettings(max_extra_tokens=2, min_tokens=4, max_tokens=8)
    assert target_limits(ToyEngine.random(0), SOURCES, settings).tolist() == [4, 4, 8]


def test_positions_of_the_model_have_the_last_word() -> None:
    engine = ToyEngine.random(0, max_sentence_tokens=55)
    assert target_limits(engine, SOURCES, DecodeSettings()).tolist() == [50, 51, 55]
    with pytest.raises(DecodingError, match=r"min_tokens \(56\) is more than the 55 tokens"):
        target_limits(engine, SOURCES, DecodeSettings(min_tokens=56))
