from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.shared import case_file
from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import letter_pair
from transduce.base.files import read_lines
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.translator import Translation, Translator

BLANKS = ["", " ", "\t", "\u00a0 ", "\u3000", "\u200b"]


def translator(engine: ToyEngine | None = None, tgt_texts: dict[str, str] | None = None, **changes: int) -> Translator:
    settings = DecodeSettings(max_extra_tokens=3).model_copy(update=changes)
    return Translator(engine or ToyEngine.random(7), letter_pair(tgt_texts), settings)


@given(
    texts=st.lists(st.text("abcde", max_size=6) | st.sampled_from(BLANKS), max_size=12),
    beam_size=st.sampled_from([1, 3]),
    batch_tokens=st.sampled_from([1, 9, 4096]),
    window_lines=st.sampled_from([1, 5, 2000]),
)
@hypothesis_settings(max_examples=40, deadline=None)
def test_line_i_translates_line_i(texts: list[str], beam_size: int, batch_tokens: int, window_lines: int) -> None:
    one_by_one = translator(beam_size=beam_size)
    many = translator(beam_size=beam_size, batch_tokens=batch_tokens, window_lines=window_lines)
    assert many.translate(texts) == [one_by_one.translate(text) for text in texts]


def test_blank_lines_give_blank_translations_in_every_mode() -> None:
    texts = ["a", *BLANKS, "b"]
    for beam_size, n_best in [(1, 1), (4, 1), (4, 3)]:
        results = translator(beam_size=beam_size, n_best=n_best, min_tokens=1).translate_nbest(texts)
        assert [len(result) for result in results] == [n_best] * len(texts)
        for text, result in zip(texts, results, strict=True):
            for translation in result:
                assert translation == Translation("", 0.0, 0.0, ()) if text in BLANKS else translation.text


def test_case_b091_blank_lines_of_every_kind() -> None:
    lines = list(read_lines(case_file("B091.src")))
    out = translator(min_tokens=1).translate(["a" if line.strip("\u200b \t\u00a0\u3000") else line for line in lines])
    assert [bool(text) for text in out] == [True, False, False, False, False, False, False, True]


def test_a_text_gives_a_text_and_texts_give_texts() -> None:
    assert translator().translate(["ab"]) == [translator().translate("ab")]
    assert translator().translate([]) == []


def test_n_best_has_the_scores_of_the_search() -> None:
    wide = translator(beam_size=4, n_best=4)
    [found] = wide.translate_nbest(["abc"])
    assert wide.translate("abc") == found[0].text
    scores = score_targets(wide.engine, [[4, 5, 6]] * 4, [t.ids for t in found], batch_tokens=100)
    assert [t.log_prob for t in found] == pytest.approx([s.log_prob for s in scores], abs=1e-9)
    assert [t.score for t in found] == sorted((t.score for t in found), reverse=True)


def test_output_lines_never_contain_a_line_end() -> None:
    strange = dict(zip("VWXYZ", ["\n", "\r\n", "\r", "\u2028", "Z"], strict=True))
    texts = translator(tgt_texts=strange, min_tokens=3).translate(["a", "b", "c", "d", "e"])
    assert not any(end in text for text in texts for end in "\r\n")
    assert any("\u2028" in text for text in texts), "other separators are ordinary characters of a line"


def test_long_sources_are_cut_with_one_warning_that_names_the_lines(caplog: pytest.LogCaptureFixture) -> None:
    texts = ["ab", "abcdeabcde", "ba", "", "abcdd"]
    with caplog.at_level(logging.WARNING, logger="transduce"):
        out = translator(max_src_tokens=4, window_lines=2).translate(texts)
    assert out == translator().translate(["ab", "abcd", "ba", "", "abcd"])
    [message] = caplog.messages
    assert message == (
        "2 lines were too long and only translated up to token 4 (decode.max_src_tokens): lines 2, 5; "
        "split long lines into sentences"
    )


def test_positions_of_the_model_limit_the_source_and_many_lines_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    short = ToyEngine.random(7, max_sentence_tokens=3)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        out = translator(short).translate(["abcd"] * 12)
    assert out == translator(short).translate(["abc"] * 12)
    assert "token 3 (the model has no more positions): lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more;" in caplog.text


def test_stream_reads_a_window_at_a_time() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "abc"

    stream = translator(window_lines=5).translate_stream(endless())
    first = [next(stream) for _ in range(6)]
    assert len({result[0].text for result in first}) == 1
    assert read == 10


def test_module_does_not_import_torch() -> None:
    code = "import sys, transduce.decoding.translator; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
