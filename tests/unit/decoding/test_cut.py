"""The warning about translations that are as long as they may be; that about sources is in test_translator.py."""

from __future__ import annotations

import logging

import pytest

from transduce.decoding.cut import TranslationsAtLimit
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.translation import Translation

WHOLE, CUT = (Translation("x", -1.0, -1.0, (4, 5), at_limit=at_limit) for at_limit in (False, True))


def warnings(caplog: pytest.LogCaptureFixture, lines: list[list[Translation]], settings: DecodeSettings) -> list[str]:
    at_limit = TranslationsAtLimit(settings)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        for number, translations in enumerate(lines, start=1):
            at_limit.look_at(translations, number)
        at_limit.warn()
    return caplog.messages


def test_nothing_is_said_of_whole_translations(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings(caplog, [[WHOLE], [WHOLE, WHOLE], []], DecodeSettings()) == []


def test_a_line_is_counted_once_and_named(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings(caplog, [[WHOLE], [WHOLE, CUT, CUT]], DecodeSettings()) == [
        "the translations of 1 line have as many tokens as the limit allows, so their ends may be missing: line 2; "
        "raise decode.max_extra_tokens"
    ]


def test_of_many_lines_ten_are_named_and_so_are_the_limits_that_are_set(caplog: pytest.LogCaptureFixture) -> None:
    [message] = warnings(caplog, [[CUT]] * 12, DecodeSettings(max_tokens=2, max_length_ratio=1.5))
    assert message == (
        "the translations of 12 lines have as many tokens as the limit allows, so their ends may be missing: "
        "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more; "
        "raise decode.max_extra_tokens or decode.max_tokens or decode.max_length_ratio"
    )
