"""Reading lines as EVALB does: trees, forests, and what is no tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from transduce.metrics.parseval import COLLINS, EvalbParameters
from transduce.metrics.parseval.bracketing import Bracketing, NoTree, align_quotes, read_bracketing


def read(line: str, rules: EvalbParameters = COLLINS) -> Bracketing:
    bracketing = read_bracketing(line, rules)
    assert isinstance(bracketing, Bracketing)
    return bracketing


def brackets(line: str, rules: EvalbParameters = COLLINS) -> list[tuple[int, int, str]]:
    return read(line, rules).kept_brackets(rules)


def test_punctuation_and_traces_go_with_their_words_and_the_root_without() -> None:
    line = "(TOP (S (NP-SBJ=2 (DT A) (NN dog)) (VP (VBD ran) (NP (-NONE- *))) (. .)))"
    assert read(line).words == ["A", "dog", "ran"]
    assert brackets(line) == [(0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")]  # that around the trace alone holds no word
    assert read(line).length == 4  # the full stop counts here, the trace does not


def test_without_parameters_everything_counts() -> None:
    line = "( (S-1 (NN tea) (. .)))"
    assert brackets(line, EvalbParameters()) == [(0, 2, ""), (0, 2, "S")]
    assert read(line, EvalbParameters()).tags == ["NN", "."]


def test_only_white_space_of_ascii_parts_words_and_any_amount_of_it() -> None:
    assert read("(S\t(NN \x0b a\u00a0b )\f(NN\u2028x  y))\r").words == ["a\u00a0b", "y"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("(S (NP (NN tea))", "1 bracket is not closed"),
        ("(S (NP (NN tea)", "2 brackets are not closed"),
        ("(S (NN tea)))", "a bracket is closed that was not opened"),
        (")(", "a bracket is closed that was not opened"),
        ("tea helps", "'tea' does not stand in brackets with a tag"),
        ("(S tea (NN time))", "'tea' does not stand in brackets with a tag"),
        ("(S (NN green tea))", "'green' does not stand in brackets with a tag"),
    ],
)
def test_what_is_no_tree_is_a_value_with_a_reason(line: str, reason: str) -> None:
    assert read_bracketing(line, COLLINS) == NoTree(reason)


@pytest.mark.parametrize("line", ["", "   ", "()", "(())", "(S (NP))", "(TOP (. .))"])
def test_lines_without_words_are_read_as_such(line: str) -> None:
    assert read(line).words == []


def test_trees_beside_one_another_are_read_together() -> None:
    assert brackets("(NP (NN tea)) (VP (VBZ helps)) (RB much)") == [(0, 1, "NP"), (1, 2, "VP")]


def test_a_tree_may_be_as_deep_as_it_likes() -> None:
    depth = 100_000
    assert len(brackets("(X " * depth + "(NN tea)" + ")" * depth)) == depth


@given(st.text(alphabet="() ab\t\u3042", max_size=40))
@hypothesis_settings(max_examples=150, deadline=None)
def test_any_text_is_a_tree_or_none(line: str) -> None:
    found = read_bracketing(line, COLLINS)
    if isinstance(found, Bracketing):
        assert line.count("(") == line.count(")")
        assert all(0 <= start <= end <= len(found.words) for start, end in zip(found.starts, found.ends, strict=True))


def test_a_quote_that_one_side_takes_out_is_put_back_into_its_brackets() -> None:
    rules = EvalbParameters(deleted_labels=frozenset({"''"}), quote_labels=frozenset({"''", "POS"}))
    gold = read("(S (NP (NP (NNS dogs) (POS ')) (NN food)) (VP (VBZ smells)))", rules)
    ours = read("(S (NP (NP (NNS dogs) ('' ')) (NN food)) (VP (VBZ smells)))", rules)
    assert (len(gold.words), len(ours.words)) == (4, 3)
    assert align_quotes(gold, ours, rules) == 1
    assert ours.words == gold.words == ["dogs", "'", "food", "smells"]
    assert ours.tags == ["NNS", "''", "NN", "VBZ"]
    assert (
        ours.kept_brackets(rules)
        == gold.kept_brackets(rules)
        == [(0, 4, "S"), (0, 3, "NP"), (0, 2, "NP"), (3, 4, "VP")]
    )


def test_quotes_of_both_sides_and_several_of_them_are_put_back() -> None:
    rules = EvalbParameters(deleted_labels=frozenset({"``", "''"}), quote_labels=frozenset({"``", "''", "POS"}))
    gold = read("(S (X (`` ') (A a) (POS ')) (Y (B b) ('' ')) (C c))", rules)
    ours = read("(S (X (POS ') (A a) ('' ')) (Y (B b) (POS ')) (C c))", rules)
    assert align_quotes(gold, ours, rules) == 3
    assert gold.words == ours.words == ["'", "a", "'", "b", "'", "c"]
    assert gold.kept_brackets(rules) == ours.kept_brackets(rules) == [(0, 6, "S"), (0, 3, "X"), (3, 5, "Y")]


def test_other_words_and_equal_tags_are_left_alone() -> None:
    rules = EvalbParameters(deleted_labels=frozenset({"''"}), quote_labels=frozenset({"''", "POS"}))
    gold, ours = read("(S (A a) (POS ,))", rules), read("(S (A a) ('' ,))", rules)
    assert align_quotes(gold, ours, rules) == 0
    gold, ours = read("(S (A a) ('' '))", rules), read("(S (A a) ('' '))", rules)
    assert align_quotes(gold, ours, rules) == 0
