from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.boundaries import word_spans
from transduce.text.kept import KeptSpan, is_in_place, put_back
from transduce.text.place_tags import SpanLink


def keep(source: str, *texts: str) -> list[KeptSpan]:
    """The first place of each text; of equal ones the next."""
    spans: list[KeptSpan] = []
    for text in texts:
        start = source.index(text, max((span.end for span in spans if span.text == text), default=0))
        spans.append(KeptSpan(start, start + len(text), text, is_kept=True))
    return spans


def link_words(source: str, translation: str, pairs: str) -> list[SpanLink]:
    src, tgt = word_spans(source), word_spans(translation)
    numbers = [tuple(map(int, pair.split("-"))) for pair in pairs.split()]
    return [SpanLink(*src[a], *tgt[b]) for a, b in numbers]


@pytest.mark.parametrize(
    ("source", "kept", "translation", "pairs", "right"),
    [
        ("Ask Jo now", ["Jo"], "Frag Jo jetzt", "0-0 1-1 2-2", "Frag Jo jetzt"),
        ("Ask Jo now", ["Jo"], "Frag Joe jetzt", "0-0 1-1 2-2", "Frag Joe jetzt"),  # it is in there: a name with an ending
        ("Ask Jo now", ["Jo"], "Frag Hans jetzt", "0-0 1-1 2-2", "Frag Jo jetzt"),
        ("Ask Jo now", ["Jo"], "Frag jetzt", "0-0 2-1", "Frag Jo jetzt"),
        ("Ask Jo", ["Jo"], "Frag", "0-0", "Frag Jo"),
        ("Ask Jo.", ["Jo"], "Frag.", "0-0 2-1", "Frag Jo."),
        ("Jo asks", ["Jo"], "fragt", "1-0", "Jo fragt"),
        ("Jo", ["Jo"], "", "", "Jo"),
        ("Jo and Jo", ["Jo", "Jo"], "Jo und er", "0-0 1-1 2-2", "Jo und Jo"),
        ("Jo asks", ["Jo"], "Jo fragt Jo", "0-2 1-1", "fragt Jo"),
        ("Jo asks", ["Jo"], "Jo fragt Jo.", "0-0 1-1", "Jo fragt."),
        ("in it", ["in"], "das Kind in ihm", "0-2 1-3", "das Kind in ihm"),
        ("a {0} b", ["{0}"], "x {0}er y", "", "x {0} er y"),
        ("a ({0})!", ["{0}"], "x ( {0} )!", "", "x ({0})!"),
        ("{0} {1}", ["{0}", "{1}"], "{1} {0}", "", "{1} {0}"),
        ("{0} of {10}", ["{0}", "{10}"], "von {10}", "3-0 4-1 5-2 6-3", "{0} von {10}"),
        ("Use Mac", ["Mac"], "使う", "0-0 0-1", "使うMac"),
    ],
)  # fmt: skip
def test_kept_words_stand_as_often_as_in_the_source(
    source: str, kept: list[str], translation: str, pairs: str, right: str
) -> None:
    spans = keep(source, *kept)
    text, _ = put_back(source, translation, spans, link_words(source, translation, pairs))
    assert text == right


def test_a_wanted_translation_may_come_more_often() -> None:
    span = KeptSpan(4, 7, "Hund", is_kept=False)
    assert put_back("the dog", "Hund und Hund", [span], [])[0] == "Hund und Hund"
    assert put_back("the dog", "der Köter", [span], link_words("the dog", "der Köter", "0-0 1-1"))[0] == "der Hund"


def test_links_follow_the_text() -> None:
    source, translation = "ask Jo about me", "frag Hans nach mir"
    _, links = put_back(source, translation, keep(source, "Jo"), link_words(source, translation, "0-0 1-1 2-2 3-3"))
    text = "frag Jo nach mir"
    assert links == link_words(source, text, "0-0 1-1 2-2 3-3")


_PIECES = st.lists(st.sampled_from(["{0}", "{1}", "Jo", "ab", "c", ".", "(", " ", " ", "猫"]), max_size=14).map("".join)


@given(source=_PIECES, translation=_PIECES, numbers=st.lists(st.tuples(*[st.integers(0, 30)] * 4), max_size=10))
def test_everything_is_in_place_whatever_the_links(
    source: str, translation: str, numbers: list[tuple[int, ...]]
) -> None:
    spans = [
        KeptSpan(start, start + len(text), text, is_kept=True)
        for text in ("{0}", "{1}")
        for start in range(len(source))
        if source.startswith(text, start)
    ]
    links = [SpanLink(*item) for item in numbers]
    text, own_links = put_back(source, translation, spans, links)
    assert is_in_place(text, spans)
    for span in spans:
        assert text.count(span.text) == source.count(span.text)
    assert {(link.src_start, text[link.tgt_start : link.tgt_end]) for link in own_links} >= {
        (span.start, span.text) for span in spans
    }
