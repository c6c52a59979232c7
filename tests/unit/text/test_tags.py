from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.tags import strip_tags


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "a<b and c>d",
        "<3",
        "x <- y",
        "<foo@bar.org>",
        "<https://a.org>",
        "</>",
        "< b>",
        "<b",
        "&",
        "a & b;",
        "&;",
        "&#x;",
        "AT&amp;T",
        "caf&eacute; 1",
    ],
)
def test_what_is_no_tag_stays(text: str) -> None:
    tagged = strip_tags(text)
    assert (tagged.text, tagged.tags) == (text, ())


@pytest.mark.parametrize(
    "tag",
    [
        "<b>",
        "</b>",
        "<br/>",
        "<br />",
        '<x id="1"/>',
        "<g id='2' ctype=bold>",
        '<a href="x?a=1&amp;b=2">',
        "</ns:b >",
        "<b\n>",
        "&lt;",
        "&#160;",
        "&#xA0;",
        "&unknown;",
    ],
)
def test_what_is_a_tag(tag: str) -> None:
    tagged = strip_tags(f"one {tag}two")
    assert tagged.text == "one two"
    assert [item.markup for item in tagged.tags] == [tag]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("one <b>two</b> three", "one two three"),
        ("one <b> two </b> three", "one two three"),
        ("one<br/>two", "onetwo"),
        ("one <x/> two", "one two"),
        ("<b> one </b>", "one"),
        ("one</b> <i>two", "one two"),
        ("one  two <x/>", "one  two"),
        ("<b></b>", ""),
        ("<b> </b>", ""),
    ],
)
def test_spaces_beside_tags_are_not_doubled(text: str, plain: str) -> None:
    assert strip_tags(text).text == plain


def test_pairs() -> None:
    tags = strip_tags("<a><b>x</a></b><i><i>y</i>z<br>").tags
    roles = [(tag.markup, tag.role, tag.partner) for tag in tags]
    assert roles == [
        ("<a>", "open", 2),
        ("<b>", "point", -1),  # closed too late to be nested
        ("</a>", "close", 0),
        ("</b>", "point", -1),
        ("<i>", "point", -1),
        ("<i>", "open", 6),
        ("</i>", "close", 5),
        ("<br>", "point", -1),
    ]


@given(st.text(alphabet="<>/b ='\"&;a\n-!", max_size=60))
def test_nothing_but_tags_and_spaces_is_taken_out(text: str) -> None:
    tagged = strip_tags(text)
    rest = text
    for tag in tagged.tags:
        rest = rest.replace(tag.markup, "", 1)
    assert re.sub(r"\s", "", rest) == re.sub(r"\s", "", tagged.text)
    assert [tag.position for tag in tagged.tags] == sorted(tag.position for tag in tagged.tags)


def test_tags_may_be_any_number_deep() -> None:
    tagged = strip_tags("<b>" * 5000 + "x" + "</b>" * 5000)
    assert tagged.text == "x"
    assert [tag.partner for tag in tagged.tags] == list(reversed(range(10_000)))
