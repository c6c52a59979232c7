from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.layout import read_layout

WRAPPED = """\
The first sentence of this paragraph is a long one, and so it goes
on over the end of the line. The second one is short. A third one
follows, and then the paragraph ends.
"""


@given(st.text(st.sampled_from("ab1.?-*># \t\n\r>") | st.characters(exclude_categories=["Cs"]), max_size=80))
def test_sentences_put_back_give_the_text(text: str) -> None:
    """But for white space: a wrapped paragraph may be wrapped in another way."""
    document = read_layout(text)
    filled = document.fill(document.sentences)
    assert "".join(filled.split()) == "".join(text.split())
    assert [line.strip() == "" for line in filled.split("\n")].count(True) >= text.count("\n\n")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("\n\n  \n", []),
        ("One. Two.", ["One.", "Two."]),
        ("# A title\n\n## Another\n", ["A title", "Another"]),
        ("A title\n=======\n\nText.\n", ["A title", "Text."]),
        (
            "- one\n- two\n  * three\n1. four\n2) five\n(a) six\n• seven\n",
            ["one", "two", "three", "four", "five", "six", "seven"],
        ),
        ("> Quoted. Twice.\n>> Deeper.\n", ["Quoted.", "Twice.", "Deeper."]),
        ("one\r\ntwo\r\n\r\nthree", ["one", "two", "three"]),
        ("old\rMac\r", ["old", "Mac"]),
        ("\tindented\n    more\n", ["indented", "more"]),
        ("***\n---\n1.\n", []),
        ("Roses are red,\nViolets are blue.\n", ["Roses are red,", "Violets are blue."]),
        ("Jane Doe\n12 High Street\nOxford\n", ["Jane Doe", "12 High Street", "Oxford"]),
    ],
)
def test_layout_is_kept_to_the_letter(text: str, sentences: list[str]) -> None:
    document = read_layout(text)
    assert document.sentences == sentences
    assert document.fill(sentences) == text


def test_a_wrapped_paragraph_is_one_text_and_is_wrapped_again() -> None:
    document = read_layout(WRAPPED)
    assert document.sentences == [
        "The first sentence of this paragraph is a long one, and so it goes on over the end of the line.",
        "The second one is short.",
        "A third one follows, and then the paragraph ends.",
    ]
    assert document.fill(document.sentences) == WRAPPED
    longer = document.fill(["word " * 30 + "end.", "Two.", "Three."]).splitlines()
    width = max(len(line) for line in WRAPPED.splitlines())
    assert all(len(line) <= width for line in longer)
    assert " ".join(longer) == "word " * 30 + "end. Two. Three."


def test_a_wrapped_list_item_keeps_its_indentation_and_line_ends() -> None:
    text = (
        "  - An item that is long enough to be wrapped by\r\n"
        "    an editor at some width, which most of them\r\n"
        "    do. It has two sentences.\r\n"
        "  - Another item.\r\n"
    )
    document = read_layout(text)
    assert document.sentences == [
        "An item that is long enough to be wrapped by an editor at some width, which most of them do.",
        "It has two sentences.",
        "Another item.",
    ]
    assert document.fill(document.sentences) == text


def test_verses_are_not_taken_for_wrapped_text() -> None:
    verses = (
        "The little boat goes out to sea at night,\n"
        "And no one sees it go;\n"
        "It carries in its bow a little light,\n"
        "And where it goes, who knows?\n"
    )
    assert read_layout(verses).sentences == verses.splitlines()


def test_spaces_between_sentences_follow_the_script_that_is_written() -> None:
    assert read_layout("猫がいる。犬もいる。\n").fill(["A cat.", "A dog."]) == "A cat. A dog.\n"
    assert read_layout("A cat. A dog.\n").fill(["猫がいる。", "犬もいる。"]) == "猫がいる。犬もいる。\n"
