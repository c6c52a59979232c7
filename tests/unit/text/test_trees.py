from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given

from tests.shared import case_file, data_file
from tests.unit.text.random_trees import trees
from transduce.base.errors import DataError
from transduce.text.trees import Leaf, Tree, format_tree, parse_tree, pretty_tree, read_trees, tree_leaves, walk

CAT = Tree("S", (Tree("NP", (Leaf("DT", "the"), Leaf("NN", "cat"))), Tree("VP", (Leaf("VBZ", "runs"),))))


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@given(trees())
def test_what_is_written_is_read(tree: Tree) -> None:
    assert parse_tree(format_tree(tree)) == tree
    assert parse_tree(pretty_tree(tree, width=20)) == tree


@given(trees(), trees())
def test_trees_are_equal_when_their_texts_are(one: Tree, other: Tree) -> None:
    assert (one == other) == (format_tree(one) == format_tree(other))
    assert hash(one) == hash(parse_tree(format_tree(one)))


def test_a_tree_is_nothing_else() -> None:
    assert CAT != "(S (NP (DT the) (NN cat)) (VP (VBZ runs)))"
    assert Tree("S", (Leaf("NN", "x"),)) != Tree("S", (Tree("NN", (Leaf("", "x"),)),))


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP (DT the) (NN cat)) (VP (VBZ runs)))\n",
        "(S\r\n  (NP (DT the)\r\n\t(NN\r\n cat) )\r\n  (VP (VBZ runs)) )",
        "\ufeff\n(S(NP(DT the)(NN cat))(VP(VBZ runs)))",
        "(\nS (\nNP (DT the) (NN cat)) (VP (VBZ runs)))\n\n",
    ],
)
def test_any_layout_is_one_tree(text: str, tmp_path: Path) -> None:
    assert list(read_trees(write(tmp_path / "a.mrg", text))) == [CAT]


def test_outermost_brackets_without_a_label(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mrg", "\n( (S \n    (NP (DT the) (NN cat) )\n    (VP (VBZ runs) )))\n( (NP (NN tea)) )")
    assert list(read_trees(path)) == [Tree("", (CAT,)), Tree("", (Tree("NP", (Leaf("NN", "tea"),)),))]


def test_comments_stand_between_trees_and_are_words_inside(tmp_path: Path) -> None:
    banner = "*x*x*x*x*x*x*x*x*x*\n*x* Copyright (C) 1995 *x*\n# a tool's (\n; another's )\n%% NEGRA\n<S ID=1>\n"
    path = write(tmp_path / "a.mrg", f"{banner}(NP (# #)\n; (CD 3))\n</S>\n")
    assert list(read_trees(path)) == [Tree("NP", (Leaf("#", "#"), Leaf("", ";"), Leaf("CD", "3")))]


def test_only_white_space_of_ascii_parts_words() -> None:
    words = ["1\u00a0000", "a\u3000b", "c\u2028d"]
    assert [leaf.word for leaf in tree_leaves(parse_tree(f"(NP {' '.join(words)})"))] == words


def test_compressed_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = format_tree(CAT).encode()
    (tmp_path / "a.trees.gz").write_bytes(gzip.compress(raw))
    (tmp_path / "a.mrg.zst").write_bytes(zstandard.compress(raw))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    for path in (tmp_path / "a.trees.gz", tmp_path / "a.mrg.zst", Path("-")):
        assert list(read_trees(path)) == [CAT]


def test_a_missing_file_is_found_at_the_call(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_trees(tmp_path / "missing.mrg")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S a b)\n(S (NP a b)\n", "line 2: the tree that begins here lacks 1 closing bracket"),
        ("(S (NP a b)\n(S (NP a b))\n", "line 1: .* lacks 1 closing bracket; look before line 2"),
        ("\n(S\n (NP", "line 2: .* lacks 2 closing brackets"),
        ("(S a b)\n  (", "line 2: .* lacks 1 closing bracket"),
        ("(S (NP a b))\n)", "line 2: one closing bracket too many"),
        ("(S a b))\n(S c d)", "line 1: one closing bracket too many"),
        ("(S a\n ())", "line 2: empty brackets"),
        ("(())", "line 1: empty brackets"),
        ("(S (NP) a)", "line 1: .NP. has a label and no words"),
        ("(S a b)\n\ncat (S a b)", "line 3: 'cat' stands outside of all brackets"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.mrg", text)
    with pytest.raises(DataError, match=f"a.mrg, {message}"):
        list(read_trees(path))


def test_trees_before_a_mistake_are_yielded(tmp_path: Path) -> None:
    reader = read_trees(write(tmp_path / "a.mrg", f"{format_tree(CAT)}\n)"))
    assert next(reader) == CAT
    with pytest.raises(DataError, match="line 2"):
        next(reader)


@pytest.mark.parametrize(("text", "n_trees"), [("", 0), ("(S a b) (S a b)", 2)])
def test_a_text_of_one_tree(text: str, n_trees: int) -> None:
    with pytest.raises(DataError, match=f"out.trees, line 7: {n_trees} trees, and one is needed"):
        parse_tree(text, "out.trees, line 7")


def test_a_hundred_thousand_levels() -> None:
    n = 100_000
    text = "(X " * n + "a b" + ")" * n
    tree = parse_tree(text)
    assert format_tree(tree) == text
    assert tree == parse_tree(text)
    assert hash(tree) == hash(parse_tree(text))
    assert tree != parse_tree(text.replace("a b", "a c"))
    assert sum(1 for _ in walk(tree)) == 2 * n + 2


def test_words_directly_below_a_phrase() -> None:
    lines = case_file("B119.trees").read_text().splitlines()
    read = [parse_tree(line) for line in lines]
    assert [format_tree(tree) for tree in read] == lines
    assert [[leaf.word for leaf in tree_leaves(tree)] for tree in read] == [["the", "cat", "runs"]] * 2
    assert tree_leaves(read[1])[0] == Leaf("", "the")


def test_pretty_trees_keep_to_their_width_and_break_constituents_only() -> None:
    assert pretty_tree(CAT, width=100) == format_tree(CAT)
    assert pretty_tree(CAT, width=30).splitlines() == ["(S", "  (NP (DT the) (NN cat))", "  (VP (VBZ runs)))"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wsj-sample/wsj_0001-0199", "craft-trees/craft.dev", "gum-trees/gum.dev"])
def test_treebanks_are_written_as_they_were_read(name: str) -> None:
    path = data_file(f"{name}.trees.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [format_tree(tree) for tree in read_trees(path)] == lines
