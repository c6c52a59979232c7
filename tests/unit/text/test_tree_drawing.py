"""Trees as SVG and as lines of text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from transduce.text.tree_drawing import draw_tree_svg, draw_tree_text
from transduce.text.trees import Leaf, Tree, parse_tree

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))"


def texts(svg: str, kind: str) -> list[tuple[str, float, float]]:
    """Return text, x and y of the labels, tags or words of a drawing, from left to right."""
    found = [e for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.get("class") == kind]
    return sorted(((e.text or "", float(e.get("x", 0)), float(e.get("y", 0))) for e in found), key=lambda text: text[1])


def test_words_stand_along_the_bottom_in_their_order_each_under_its_tag() -> None:
    svg = draw_tree_svg(parse_tree(SENTENCE))
    words, tags = texts(svg, "word"), texts(svg, "tag")
    assert [text for text, _, _ in words] == ["the", "cat", "sleeps", "."]
    assert [text for text, _, _ in tags] == ["DT", "NN", "VBZ", "."]
    assert [x for _, x, _ in words] == [x for _, x, _ in tags]
    (word_line,), (tag_line,) = {y for _, _, y in words}, {y for _, _, y in tags}
    assert word_line > tag_line > max(y for _, _, y in texts(svg, "label"))
    assert "<title>the cat sleeps .</title>" in svg


def test_constituents_stand_at_their_depth_above_what_they_hold() -> None:
    svg = draw_tree_svg(parse_tree(SENTENCE))
    labels = {text: (x, y) for text, x, y in texts(svg, "label")}
    words = {text: x for text, x, _ in texts(svg, "word")}
    assert labels["S"][1] < labels["NP"][1] == labels["VP"][1]
    assert labels["NP"][0] == (words["the"] + words["cat"]) / 2
    assert labels["VP"][0] == words["sleeps"]


def test_nothing_overlaps_also_where_a_label_is_wider_than_its_words() -> None:
    svg = draw_tree_svg(
        parse_tree("(S (VERYLONGLABEL (NN a)) (ANOTHERLONGONE (NN b)) (X (NN averyveryverylongword) (NN c)))")
    )
    (first, x, _), (_, y, _), *_ = (text for text in texts(svg, "label") if len(text[0]) > 5)
    assert y - x > len(first) * 8  # 15 px of a font whose capitals are about 10 px wide, centred
    view = [float(number) for number in ElementTree.fromstring(svg).get("viewBox", "").split()]
    assert all(view[0] < at < view[0] + view[2] for kind in ("label", "word") for _, at, _ in texts(svg, kind))


def test_texts_are_escaped_and_what_xml_forbids_is_replaced() -> None:
    tree = Tree("<script>", (Leaf('"', "a&b\x0c\x00"), Leaf("", "</svg>")))
    svg = draw_tree_svg(tree)
    assert [text for text, _, _ in texts(svg, "word")] == ["a&b\ufffd\ufffd", "</svg>"]
    assert [text for text, _, _ in texts(svg, "label")] == ["<script>"]
    assert "<script" not in svg and "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_a_root_without_a_label_is_a_point() -> None:
    tree = parse_tree(f"( {SENTENCE})")
    assert draw_tree_svg(tree).count("<circle") == 1
    assert draw_tree_text(tree).startswith("·\n└─ S\n   ├─ NP\n   │  ├─ DT the\n")


def test_every_constituent_and_word_but_the_root_has_a_line_to_its_parent() -> None:
    svg = draw_tree_svg(parse_tree(SENTENCE))
    assert len(re.findall(r"<path d=", svg)) == 6  # NP, VP and four words
    # One level above the tags hangs nothing but the full stop, whose line goes on down to its tag.
    assert len(re.findall(r'<path class="down"', svg)) == 1


def test_a_tree_may_be_very_deep() -> None:
    svg = draw_tree_svg(parse_tree("(X " * 20_000 + "(NN tea)" + ")" * 20_000))
    assert svg.count('class="label"') == 20_000
    assert len(draw_tree_text(parse_tree("(X " * 2_000 + "(NN tea)" + ")" * 2_000)).split("\n")) == 2_001


def test_lines_of_text_say_how_things_hang_together() -> None:
    assert draw_tree_text(parse_tree("(S (NP (DT a) (NN b)) bare)")).split("\n") == [
        "S",
        "├─ NP",
        "│  ├─ DT a",
        "│  └─ NN b",
        "└─ bare",
    ]


def test_the_tag_that_stands_for_any_is_left_out() -> None:
    tree = parse_tree("(S (NP (XX the) (XX cat)) (. .))")
    assert draw_tree_text(tree).split("\n") == ["S", "├─ NP", "│  ├─ the", "│  └─ cat", "└─ . ."]
    svg = draw_tree_svg(tree)
    assert [text for text, _, _ in texts(svg, "tag")] == ["."]
    assert [text for text, _, _ in texts(svg, "word")] == ["the", "cat", "."]
