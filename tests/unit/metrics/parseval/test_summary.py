"""F1 of hand-made trees, of random ones, and of what is no tree."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.metrics.parseval.trees import gold_and_predicted, gold_trees
from transduce.base.errors import DataError
from transduce.metrics.parseval import (
    COLLINS,
    EvalbParameters,
    ParsevalTotals,
    SentenceScore,
    bracket_f1,
    evalb_table,
    parseval,
)

GOLD = "(TOP (S (NP (DT a) (NN dog)) (VP (VBZ sees) (NP (PRP me)) (PP (IN at) (NP (NN noon)))) (. .)))"
"""Six brackets (S, three NP, VP, PP) and six words that count."""
PROPERTY = hypothesis_settings(max_examples=60, deadline=None)


def one(gold: str, predicted: str, rules: EvalbParameters = COLLINS) -> SentenceScore:
    return parseval([gold], [predicted], rules).sentences[0]


def test_counts_of_one_sentence_by_hand() -> None:
    # "me at noon" is one NP: the VP, both small NPs and the PP are there, and one bracket more. One tag is wrong.
    score = one(
        GOLD, "(TOP (S (NP (DT a) (NN dog)) (VP (VBD sees) (NP (NP (PRP me)) (PP (IN at) (NP (NN noon))))) (. .)))"
    )
    assert (score.n_gold, score.n_predicted, score.n_matched) == (6, 7, 6)
    assert (score.n_crossing, score.n_words, score.n_correct_tags, score.length) == (0, 6, 5, 7)
    assert score.outcome == "scored" and not score.is_complete


def test_a_bracket_crosses_when_it_overlaps_and_neither_holds_the_other() -> None:
    # "dog sees" crosses the NP and the VP: one crossing bracket, and counted once. "me at" crosses the PP.
    score = one(GOLD, "(TOP (S (DT a) (X (NN dog) (VBZ sees)) (X (PRP me) (IN at)) (NN noon) (. .)))")
    assert (score.n_crossing, score.n_predicted, score.n_matched) == (2, 3, 1)


def test_brackets_are_multisets_and_their_order_in_a_chain_does_not_matter() -> None:
    assert one("(TOP (NP (NP (NN tea))))", "(TOP (NP (NN tea)))").n_matched == 1
    assert one("(TOP (NP (NN tea)))", "(TOP (NP (NP (NN tea))))").n_matched == 1
    assert one("(TOP (S (VP (VB go))))", "(TOP (VP (S (VB go))))").n_matched == 2


def test_adverbs_count_as_particles_and_function_labels_do_not_count() -> None:
    assert one("(TOP (S (ADVP-TMP (RB up))))", "(TOP (S=1 (PRT (RP up))))").n_matched == 2
    assert one("(TOP (S (A (ADVP up))))", "(TOP (S (A (PRT up))))").n_correct_tags == 1


def test_unlabelled_brackets_match_by_their_spans() -> None:
    rules = EvalbParameters(labelled=False)
    assert one("(S (NP (A a)) (B b))", "(X (Y (A a)) (B b))", rules).n_matched == 2
    assert one("(S (NP (A a)) (B b))", "(X (Y (A a)) (B b))", EvalbParameters()).n_matched == 0


def test_words_that_are_equal_by_the_parameters_are_no_mismatch() -> None:
    assert one("(S (A The))", "(S (A the))").outcome == "other words"
    assert one("(S (A The))", "(S (A the))", EvalbParameters(equal_words=(("the", "The"),))).n_matched == 1


@pytest.mark.parametrize(
    ("predicted", "outcome", "reason"),
    [
        ("(TOP (S (NP (DT a) (NN dog)) (VP (VBZ sees)", "no tree", "3 brackets are not closed"),
        ("a dog sees me at noon .", "no tree", "'a' does not stand in brackets with a tag"),
        ("", "no words", "there are no words in it"),
        ("(S (NP (. .)))", "no words", "there are no words in it"),
        ("(S (DT a) (NN dog))", "other length", "2 words, and the gold tree has 6"),
        (
            "(S (DT a) (NN cat) (VBZ sees) (PRP me) (IN at) (NN noon))",
            "other words",
            "the word 'cat', where the gold tree has 'dog'",
        ),
    ],
)
def test_a_failure_has_a_kind_a_reason_and_the_gold_counts(predicted: str, outcome: str, reason: str) -> None:
    score = one(GOLD, predicted)
    assert (score.outcome, score.reason) == (outcome, reason)
    assert (score.n_gold, score.n_words, score.n_predicted, score.n_matched) == (6, 6, 0, 0)


def test_failures_are_missed_in_our_sums_and_left_out_in_those_of_evalb() -> None:
    report = parseval([GOLD, GOLD, GOLD, GOLD], [GOLD, "", "(S", "(S (A a))"])
    ours, evalb = report.totals(), report.totals("left out")
    assert (ours.n_sentences, ours.n_valid, ours.n_errors, ours.n_skipped) == (4, 1, 2, 1)
    assert (evalb.n_sentences, evalb.n_valid, evalb.n_errors, evalb.n_skipped) == (4, 1, 2, 1)
    assert (ours.recall, ours.precision, ours.f1) == (25.0, 100.0, 40.0)  # 6 of 24 brackets, 6 of 6
    assert (evalb.recall, evalb.precision, evalb.f1) == (100.0, 100.0, 100.0)
    assert (ours.complete_match, evalb.complete_match) == (25.0, 100.0)
    assert (ours.tagging_accuracy, evalb.tagging_accuracy) == (25.0, 100.0)
    assert (ours.no_crossing, evalb.no_crossing, ours.average_crossing) == (100.0, 100.0, 0.0)
    assert report.n_invalid == 2 and report.outcomes["other length"] == 1


def test_a_sentence_of_punctuation_alone_is_no_failure_though_evalb_skips_it() -> None:
    report = parseval([GOLD, "(TOP (FRAG (: --)))"], [GOLD, "(TOP (X (: --)))"])
    assert report.sentences[1].outcome == "nothing to find"
    assert (report.n_failed, report.n_invalid, report.totals().complete_match) == (0, 0, 100.0)
    evalb = report.totals("left out")
    assert (evalb.n_sentences, evalb.n_skipped, evalb.n_errors, evalb.n_valid, evalb.n_complete) == (2, 1, 0, 1, 1)
    assert "\n   2    1    2    0.00   0.00     0      0    0      0      0     0     0.00\n" in evalb_table(report)
    assert one("(TOP (FRAG (: --)))", "").outcome == "no words"
    assert one("(TOP (FRAG (: --)))", "(TOP (NN tea))").outcome == "other length"


def test_length_counts_punctuation_and_parts_the_short_from_the_long() -> None:
    long = f"(S {' '.join(f'(A w{i})' for i in range(40))} (. .))"
    report = parseval([GOLD, long], [GOLD, long])
    assert [score.length for score in report.sentences] == [7, 41]
    assert report.totals(max_length=40).n_sentences == 1
    assert report.totals(max_length=41).n_sentences == 2


@pytest.mark.parametrize(("n_errors", "stop"), [(11, None), (12, 12)])
def test_evalb_stops_at_the_second_error_above_its_limit(n_errors: int, stop: int | None) -> None:
    report = parseval([GOLD] * (n_errors + 1), ["(S (A a))"] * n_errors + [""])
    assert report.evalb_stops_at == stop  # the empty one is skipped, which is no error


def test_nothing_found_is_0_for_us_and_no_number_for_evalb() -> None:
    report = parseval([GOLD], [""])
    assert report.totals().f1 == report.totals("left out").f1 == 0.0
    assert evalb_table(report).count("Bracketing FMeasure       =   -nan\n") == 2


def test_f1_of_sums_by_hand() -> None:
    # Recall 3/4 and precision 3/6: 2 * 0.75 * 0.5 / 1.25. Two rows at once.
    assert bracket_f1(np.array([[3, 4, 6], [0, 4, 0]])).tolist() == pytest.approx([60.0, 0.0])
    assert bracket_f1(np.array([0, 0, 0])) == 0.0


def test_statistics_give_the_same_f1_and_say_how_it_came_about() -> None:
    report = parseval([GOLD, GOLD], ["", "(TOP (S (NP (DT a) (NN dog)) (VBZ sees) (PRP me) (IN at) (NN noon)))"])
    statistics = report.statistics()
    assert statistics.counts.tolist() == [[0, 6, 0], [2, 6, 2]]
    assert statistics.score().value == report.totals().f1
    assert statistics.signature == "labels:yes|params:collins|failures:missed"
    assert parseval([GOLD], [GOLD], EvalbParameters()).signature == "labels:yes|params:none|failures:missed"
    assert parseval([GOLD], [GOLD], EvalbParameters(labelled=False)).signature == "labels:no|params:own|failures:missed"


def test_unequal_counts_no_trees_and_a_broken_gold_tree_are_refused() -> None:
    with pytest.raises(DataError, match="2 gold trees and 1 predictions: they are compared one by one"):
        parseval([GOLD, GOLD], [GOLD])
    with pytest.raises(DataError, match="there is nothing to score"):
        parseval([], [])
    with pytest.raises(DataError, match=r"gold tree 2: 1 bracket is not closed"):
        parseval([GOLD, "(S (A a)"], [GOLD, GOLD])


@given(st.lists(gold_trees, min_size=1, max_size=4))
@PROPERTY
def test_gold_against_itself_is_complete(trees: list[str]) -> None:
    report = parseval(trees, trees)
    assert report.n_failed == 0 and report.totals().complete_match == 100.0
    totals = report.totals("left out")
    assert totals.n_complete == totals.n_valid == totals.n_without_crossing
    assert totals.recall == totals.precision == totals.f1 == (100.0 if totals.n_gold else 0.0)
    assert totals.n_crossing == 0 and totals.n_errors == 0


@given(st.lists(gold_and_predicted, min_size=1, max_size=5), st.randoms(use_true_random=False))
@PROPERTY
def test_the_order_of_sentences_does_not_matter(pairs: list[tuple[str, str]], random: Random) -> None:
    def totals(pairs: list[tuple[str, str]]) -> list[ParsevalTotals]:
        report = parseval([gold for gold, _ in pairs], [predicted for _, predicted in pairs])
        return [report.totals(), report.totals("left out"), report.totals(max_length=3)]

    assert totals(pairs) == totals(random.sample(pairs, len(pairs)))


@given(gold_and_predicted)
@PROPERTY
def test_sides_exchange_precision_and_recall(pair: tuple[str, str]) -> None:
    forth, back = one(*pair), one(*pair[::-1])
    if forth.outcome == back.outcome == "scored":
        assert (forth.n_gold, forth.n_predicted) == (back.n_predicted, back.n_gold)
        assert (forth.n_matched, forth.n_correct_tags) == (back.n_matched, back.n_correct_tags)


@given(gold_and_predicted, st.data())
@PROPERTY
def test_a_label_that_the_gold_tree_lacks_never_finds_more(pair: tuple[str, str], data: st.DataObject) -> None:
    gold, predicted = pair
    openings = list(re.finditer(r"\((S|NP|VP)(?= \()", predicted))
    chosen = data.draw(st.sampled_from(openings))
    changed = f"{predicted[: chosen.start()]}(ZZ{predicted[chosen.end() :]}"
    before, after = one(gold, predicted), one(gold, changed)
    assert before.n_matched - 1 <= after.n_matched <= before.n_matched
    assert (after.n_predicted, after.n_crossing) == (before.n_predicted, before.n_crossing)


@given(st.text(alphabet="() aSN.\n", max_size=30))
@PROPERTY
def test_no_prediction_stops_the_scoring(predicted: str) -> None:
    totals = parseval([GOLD, GOLD], [predicted, GOLD]).totals()
    assert totals.n_sentences == 2 and totals.recall >= 50.0
