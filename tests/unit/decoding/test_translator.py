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
from transduce.base.errors import DecodingError
from transduce.base.files import read_lines
from transduce.decoding.request import Request
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.translator import Translation, Translator

BLANKS = ["", " ", "\t", "\u00a0 ", "\u3000", "\u200b"]


def translator(
    engine: ToyEngine | None = None, tgt_texts: dict[str, str] | None = None, **changes: int | str
) -> Translator:
    settings = DecodeSettings(max_extra_tokens=3).replace(**changes)
    return Translator.from_parts(engine or ToyEngine.random(7), letter_pair(tgt_texts), settings)


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


def test_texts_have_wishes_of_their_own() -> None:
    own = translator(beam_size=4, min_tokens=1)
    found = own.translate_nbest(["abc", Request("abc", n_best=3), Request("abc", prefix="ZZ"), Request(" ", n_best=2)])
    assert [len(some) for some in found] == [1, 3, 1, 2]
    assert found[0] == found[1][:1]
    assert found[2][0].text.startswith("ZZ")
    assert found[3] == [Translation("", 0.0, 0.0, ())] * 2
    assert own.translate(Request("abc", prefix="ZZ")) == found[2][0].text
    banned = found[0][0].text[0]
    assert banned not in own.translate(Request("abc", banned=(banned,)))


def test_a_wish_that_cannot_be_met_is_named_by_the_number_of_its_text() -> None:
    with pytest.raises(DecodingError, match=r"^text 2 asks for 5 translations: n_best \(5\) must be at most beam_size"):
        translator(beam_size=4).translate(["a", Request("b", n_best=5)])
    with pytest.raises(DecodingError, match=r"^text 3: required phrases work in a beam search only"):
        stream = translator(search="sample").translate_stream(["a", "b", Request("c", required=("V",))])
        list(stream)


def test_a_window_depends_on_nothing_before_it() -> None:
    own, texts = translator(window_lines=4), ["abc", "de", "", "eeb", "a", "bcd", "dd", "c", "e"]
    windows = list(own.translate_windows(texts))
    assert [len(window) for window in windows] == [4, 4, 1]
    assert list(own.translate_windows(texts[4:])) == windows[1:]


def test_a_text_of_nothing_but_tags_is_not_shown_to_the_model() -> None:
    own = Translator.from_parts(ToyEngine.random(7), letter_pair(), DecodeSettings(), markup="inline")
    assert own.translate(["<b></b>", "<x/>"]) == ["<b></b>", "<x/>"]


def test_what_was_ended_by_force_is_marked() -> None:
    [[cut]] = translator(beam_size=1, min_tokens=2, max_tokens=2).translate_nbest(["ab"])
    assert (len(cut.ids), cut.at_limit) == (2, True)


def test_a_document_is_put_together_in_its_layout() -> None:
    own = translator()
    one, two, three = own.translate(["ab.", "C", "de"])
    assert own.translate_document("ab. C\n\n  - de\r\n---") == f"{one} {two}\n\n  - {three}\r\n---"


def test_long_sentences_of_a_document_are_not_cut(caplog: pytest.LogCaptureFixture) -> None:
    own = translator(max_src_tokens=4)
    text = own.translate_document("abc, de abcde")
    assert text == " ".join(own.translate(["abc,", "de", "abcd"])) + own.translate("e")
    assert not caplog.messages


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
        "split long lines into sentences (--document does, translate_document in Python)"
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


WRONG_TYPES = """
from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import letter_pair
from transduce import DecodeSettings, Request, Translator

translator = Translator.from_parts(ToyEngine.random(7), letter_pair(), DecodeSettings())
for call in (
    lambda: translator.translate([["A", "dog"]]),
    lambda: translator.translate([b"a dog"]),
    lambda: translator.translate_nbest("a dog"),
    lambda: list(translator.translate_stream("a dog")),
    lambda: Request("a dog", required="Hund"),
    lambda: Request("a dog", banned=[3]),
    lambda: Request(None),
    lambda: Request("a", n_best="2"),
):
    try:
        call()
    except TypeError as error:
        print(error)
"""


def test_wrong_types_are_refused_and_not_taken_for_letters() -> None:
    """In a process without the type checks that the tests switch on."""
    done = subprocess.run([sys.executable, "-c", WRONG_TYPES], capture_output=True, text=True, check=True)
    assert [line.split(";")[0].split(",")[0] for line in done.stdout.splitlines()] == [
        "a text to translate is a str or a Request",
        "a text to translate is a str or a Request",
        "give several texts here",
        "give several texts here",
        "Request: required is a tuple of texts",
        "Request: banned is a tuple of texts",
        "Request: text is text (str)",
        "Request: n_best is a whole number",
    ]


def test_wrong_values_are_refused() -> None:
    with pytest.raises(DecodingError, match=r"n_best \(0\) must be at least 1"):
        Request("a", n_best=0)


def test_too_many_translations_are_refused_before_anything_is_made_for_them() -> None:
    with pytest.raises(DecodingError, match="text 2 asks for 1000000000000 translations"):
        translator(beam_size=4).translate_nbest(["a", Request("b", n_best=10**12)])


def test_spaces_around_a_prefix_do_not_matter() -> None:
    texts = {translator(beam_size=2).translate(Request("abc", prefix=prefix)) for prefix in ("b", " b", "b  ")}
    assert len(texts) == 1
