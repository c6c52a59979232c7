from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.boundaries import word_spans
from transduce.text.place_tags import SpanLink, place_tags
from transduce.text.tags import strip_tags

_ANY_TAG = re.compile(r"<(/?)([a-z]+)(/?)>")


def link_words(source: str, translation: str, pairs: str) -> list[SpanLink]:
    """Link words and signs by their numbers, as in ``0-0 1-2``."""
    src, tgt = word_spans(source), word_spans(translation)
    numbers = [tuple(map(int, pair.split("-"))) for pair in pairs.split()]
    return [SpanLink(*src[a], *tgt[b]) for a, b in numbers]


def carry(source: str, translation: str, pairs: str) -> str:
    tagged = strip_tags(source)
    return place_tags(tagged, translation, link_words(tagged.text, translation, pairs))


@pytest.mark.parametrize(
    ("source", "translation", "pairs", "placed"),
    [
        ("a <b>red</b> car", "ein rotes Auto", "0-0 1-1 2-2", "ein <b>rotes</b> Auto"),
        ("<b>I see it.</b>", "Das sehe ich.", "0-2 1-1 2-0 3-3", "<b>Das sehe ich.</b>"),
        ("I <b>see it</b>.", "Das sehe ich.", "0-2 1-1 2-0 3-3", "<b>Das sehe</b> ich."),
        # the words of the pair stand apart: what is between them is wrapped as well
        ("I <b>switch off</b> it", "Ich schalte es aus", "0-0 1-1 2-3 3-2", "Ich <b>schalte es aus</b>"),
        # two neighbours are mixed up: they stay apart
        ("<a>x y</a> <b>z</b>", "x z y", "0-0 1-2 2-1", "<a>x</a> <b>z</b> y"),
        # nested ones stay nested
        ("<a>x <b>y</b></a> z", "y x z", "0-1 1-0 2-2", "<a><b>y</b> x</a> z"),
        # no counterpart: the pair is empty, beside the word that follows
        ("the <b>red</b> car", "das Auto", "0-0 2-1", "das <b></b>Auto"),
        ("press <x/> now", "jetzt drücken", "0-1 1-0", "<x/> jetzt drücken"),
        ("press<x/> now", "jetzt drücken", "0-1 1-0", "jetzt drücken<x/>"),
        ("see <x/>it", "es sehen", "0-1 1-0", "<x/>es sehen"),
        ("the end.<br>", "das Ende.", "0-0 1-1 2-2", "das Ende.<br>"),
        ("one</b> <i>two", "zwei eins", "0-1 1-0", "<i>zwei eins</b>"),
        ("a <b> red </b> car", "ein rotes Auto", "0-0 1-1 2-2", "ein <b> rotes </b> Auto"),
        ("<b>猫</b>だ", "It is a cat", "0-3 1-1", "It is a <b>cat</b>"),
        ("a <b>cat</b>", "猫だ", "1-0", "<b>猫</b>だ"),
        # signs and words are never linked
        ("<b>Hi</b>, you", "Hallo, du", "0-0 0-1 2-2", "<b>Hallo</b>, du"),
        ("<b></b>", "", "", "<b></b>"),
        # entities are points: in their order, beside their words
        ("A &amp; dog &lt;b&gt; runs.", "Ein Hund b rennt.", "0-0 1-1 2-2 3-3 4-4", "Ein &amp; Hund &lt;b&gt; rennt."),
        ("dog &lt;b&gt; runs", "Hund rennt", "0-0 2-1", "Hund &lt;&gt;rennt"),
        ("&quot;Hi&quot; &lt;3", "3 Hallo", "0-1 1-0", "&lt;3 &quot;Hallo&quot;"),
    ],
)  # fmt: skip
def test_tags_go_with_their_words(source: str, translation: str, pairs: str, placed: str) -> None:
    assert carry(source, translation, pairs) == placed


def test_without_links_the_order_counts() -> None:
    assert place_tags(strip_tags("a b <b>c</b>"), "x y z", []) == "x y <b>z</b>"


@pytest.mark.parametrize("inside", ["x", "x y", "", "<x/>"])
def test_tags_may_be_any_number_deep(inside: str) -> None:
    source = "<b>" * 5000 + inside + "</b>" * 5000 + " z"
    tagged = strip_tags(source)
    assert place_tags(tagged, tagged.text, []) == source


def _balanced(text: str) -> bool:
    waiting: list[str] = []
    for closing, name, empty in _ANY_TAG.findall(text):
        if closing:
            if not waiting or waiting.pop() != name:
                return False
        elif not empty:
            waiting.append(name)
    return not waiting


_WORDS = st.sampled_from(["ab", "c", "de.", "-", "猫犬", ",", "x1"])
_PLAIN = st.lists(st.one_of(_WORDS, st.just(" ")), max_size=12).map("".join)
_NESTED = st.recursive(
    st.one_of(_PLAIN, st.just("<x/>")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.tuples(st.sampled_from(["b", "i", "g"]), inner).map(lambda item: f"<{item[0]}>{item[1]}</{item[0]}>"),
    ),
    max_leaves=12,
)
_CHAOS = st.lists(st.one_of(_PLAIN, st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<x/>", "</q>"])), max_size=12).map(
    "".join
)
_LINKS = st.lists(st.tuples(*[st.integers(0, 30)] * 4), max_size=15)


@given(source=_NESTED, translation=_PLAIN, numbers=_LINKS)
def test_every_tag_comes_back_once_and_balanced_whatever_the_links(
    source: str, translation: str, numbers: list[tuple[int, ...]]
) -> None:
    placed = place_tags(strip_tags(source), translation, [SpanLink(*item) for item in numbers])
    assert Counter(_ANY_TAG.findall(placed)) == Counter(_ANY_TAG.findall(source))
    assert _balanced(source) and _balanced(placed)
    assert "".join(_ANY_TAG.sub("", placed).split()) == "".join(translation.split())
    if " " not in source:
        assert _ANY_TAG.sub("", placed) == translation


@given(source=_CHAOS, translation=_PLAIN, numbers=_LINKS)
def test_every_tag_comes_back_once_though_they_are_not_balanced(
    source: str, translation: str, numbers: list[tuple[int, ...]]
) -> None:
    placed = place_tags(strip_tags(source), translation, [SpanLink(*item) for item in numbers])
    assert Counter(_ANY_TAG.findall(placed)) == Counter(_ANY_TAG.findall(source))
    assert "".join(_ANY_TAG.sub("", placed).split()) == "".join(translation.split())


_TAG_SEQUENCE = st.lists(
    st.sampled_from(["w", "<b>w</b>", "<i><b>w</b></i>", "<x/>w", "w<x/>", "<x/>", "<b> w</b>"]), max_size=8
)


@given(_TAG_SEQUENCE)
def test_a_text_that_does_not_change_keeps_its_tags_in_place(parts: list[str]) -> None:
    numbered = [part.replace("w", f"w{number}") for number, part in enumerate(parts)]
    source = " ".join(numbered)
    tagged = strip_tags(source)
    words = word_spans(tagged.text)
    placed = place_tags(tagged, tagged.text, [SpanLink(*word, *word) for word in words])
    assert placed == source
