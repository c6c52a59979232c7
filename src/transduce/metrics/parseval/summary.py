"""Precision, recall and F1 over many sentences, with failures as misses and as EVALB prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.metrics.parseval.bracketing import NoTree, read_bracketing
from transduce.metrics.parseval.parameters import COLLINS, EvalbParameters
from transduce.metrics.parseval.sentence import Outcome, SentenceScore, score_sentence
from transduce.metrics.statistics import Statistics

__all__ = ["Failures", "ParsevalReport", "ParsevalTotals", "bracket_f1", "parseval"]

Failures = Literal["missed", "left out"]
"""What a sentence does to the totals whose prediction failed.

``missed``: its gold brackets and words count, and nothing of it was found. ``left out``: it does not count at all, as EVALB
has it, so that a parser which fails at the hard sentences seems better.
"""


def bracket_f1(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute F1 in percent, the harmonic mean of precision and recall; 0 where nothing matches.

    Args:
        sums: ``[..., 3]``: brackets matched, gold and predicted.

    >>> bracket_f1(np.array([[6, 7, 7], [0, 7, 0]])).round(2).tolist()
    [85.71, 0.0]
    """
    matched, gold, predicted = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    recall, precision = (100.0 * matched / np.maximum(whole, 1) for whole in (gold, predicted))
    return np.asarray(2 * precision * recall / np.where(matched > 0, precision + recall, 1))


@dataclass(frozen=True)
class ParsevalTotals:
    """Sums over sentences, and the shares that follow from them, in percent."""

    n_sentences: int
    """All of them, failures included."""
    n_errors: int
    """Predictions that are no tree, or a tree over other words."""
    n_skipped: int
    """Predictions without any words, be they right or not."""
    n_gold: int
    """Brackets of the gold trees."""
    n_predicted: int
    """Brackets of the predicted trees."""
    n_matched: int
    """Brackets found."""
    n_words: int
    """Words whose tags are compared."""
    n_correct_tags: int
    """Words with the right tag."""
    n_complete: int
    """Sentences without a mistake in their brackets."""
    n_crossing: int
    """Predicted brackets that cross a gold one."""
    n_without_crossing: int
    """Sentences that could be compared and have none of these."""
    n_up_to_two_crossing: int
    """Sentences that could be compared and have two of these or fewer."""
    failures: Failures
    """Whether the gold sides of failures are in the sums."""

    @property
    def n_valid(self) -> int:
        """Sentences that could be compared."""
        return self.n_sentences - self.n_errors - self.n_skipped

    @property
    def recall(self) -> float:
        """Gold brackets that were found."""
        return _percent(self.n_matched, self.n_gold)

    @property
    def precision(self) -> float:
        """Predicted brackets that are right."""
        return _percent(self.n_matched, self.n_predicted)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two; 0 where both are 0, for which EVALB prints ``-nan``."""
        return float(bracket_f1(np.array([self.n_matched, self.n_gold, self.n_predicted])))

    @property
    def complete_match(self) -> float:
        """Sentences without a mistake in their brackets, among those that count."""
        return _percent(self.n_complete, self.n_sentences if self.failures == "missed" else self.n_valid)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets a sentence, of those that could be compared; no percentage."""
        return self.n_crossing / self.n_valid if self.n_valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Sentences without a crossing bracket, of those that could be compared."""
        return _percent(self.n_without_crossing, self.n_valid)

    @property
    def up_to_two_crossing(self) -> float:
        """Sentences with two crossing brackets or fewer, of those that could be compared."""
        return _percent(self.n_up_to_two_crossing, self.n_valid)

    @property
    def tagging_accuracy(self) -> float:
        """Words with the right tag."""
        return _percent(self.n_correct_tags, self.n_words)


@dataclass(frozen=True)
class ParsevalReport:
    """Scores of a parser on a test set."""

    sentences: tuple[SentenceScore, ...]
    """In their order."""
    parameters: EvalbParameters
    """How trees were compared."""

    def totals(self, failures: Failures = "missed", *, max_length: int | None = None) -> ParsevalTotals:
        """Sum up.

        Args:
            failures: What a failed prediction does to the sums.
            max_length: Words up to which a sentence counts; None: all do.
        """
        chosen = [one for one in self.sentences if max_length is None or one.length <= max_length]
        return _sum_up(chosen, failures)

    def statistics(self) -> Statistics:
        """Return what F1 is made of, for intervals and comparisons: brackets matched, gold and predicted of each sentence.

        Of failures the gold brackets are missed.
        """
        rows = [(one.n_matched, one.n_gold, one.n_predicted) for one in self.sentences]
        return Statistics("F1", self.signature, np.array(rows, dtype=np.float64).reshape(-1, 3), bracket_f1)

    @property
    def signature(self) -> str:
        """What would change F1: whether labels count, the parameters, and what failures do."""
        known = {COLLINS: "collins", EvalbParameters(): "none"}
        labels = "yes" if self.parameters.labelled else "no"
        return f"labels:{labels}|params:{known.get(self.parameters, 'own')}|failures:missed"

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many sentences went how."""
        return Counter(one.outcome for one in self.sentences)

    @property
    def n_failed(self) -> int:
        """Predictions that are no tree over the words of the gold tree."""
        return sum(one.is_failure for one in self.sentences)

    @property
    def n_invalid(self) -> int:
        """Of these, predictions that are no tree, or one without words."""
        return self.outcomes["no tree"] + self.outcomes["no words"]

    @property
    def evalb_stops_at(self) -> int | None:
        """The sentence, counted from 1, at whose error EVALB stops and prints no summary; None: it comes to the end."""
        errors = [i for i, one in enumerate(self.sentences, 1) if one.is_failure and not one.is_skipped]
        n_survived = self.parameters.max_errors + 1  # it compares before it counts
        return errors[n_survived] if len(errors) > n_survived else None


def parseval(gold: Sequence[str], predicted: Sequence[str], parameters: EvalbParameters = COLLINS) -> ParsevalReport:
    """Score predicted trees against gold trees, as EVALB does.

    Args:
        gold: Trees in brackets, each a text of one line.
        predicted: As many predictions. They may be anything: what is no tree is counted as a failure.
        parameters: What counts, and what is equal.

    Raises:
        DataError: The counts differ, there is nothing to score, or a gold tree is none.

    >>> report = parseval(["(TOP (S (NP (NN tea)) (VP (VBZ helps))))"], ["(TOP (S (NP (NN tea)) (VBZ helps)))"])
    >>> totals = report.totals()
    >>> (round(totals.recall, 2), totals.precision, totals.f1)
    (66.67, 100.0, 80.0)
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"{len(gold):,} gold trees and {len(predicted):,} predictions: they are compared one by one and must be as "
            "many; a prediction stands on one line, and a failed one leaves an empty line"
        )
    if not gold:
        raise DataError("there is nothing to score: 0 gold trees and 0 predictions")
    scores = []
    for number, (theirs, ours) in enumerate(zip(gold, predicted, strict=True), start=1):
        read = read_bracketing(theirs, parameters)
        if isinstance(read, NoTree):
            raise DataError(f"gold tree {number}: {read.reason}; each word needs brackets with its tag")
        scores.append(score_sentence(read, ours, parameters))
    return ParsevalReport(sentences=tuple(scores), parameters=parameters)


def _sum_up(sentences: Sequence[SentenceScore], failures: Failures) -> ParsevalTotals:
    valid = [one for one in sentences if one.outcome == "scored"]
    counted = sentences if failures == "missed" else valid
    n_skipped = sum(one.is_skipped for one in sentences)
    return ParsevalTotals(
        n_sentences=len(sentences),
        n_errors=len(sentences) - len(valid) - n_skipped,
        n_skipped=n_skipped,
        n_gold=sum(one.n_gold for one in counted),
        n_predicted=sum(one.n_predicted for one in counted),
        n_matched=sum(one.n_matched for one in counted),
        n_words=sum(one.n_words for one in counted),
        n_correct_tags=sum(one.n_correct_tags for one in counted),
        n_complete=sum(one.is_complete for one in counted),
        n_crossing=sum(one.n_crossing for one in counted),
        n_without_crossing=_count_up_to(0, valid),
        n_up_to_two_crossing=_count_up_to(2, valid),
        failures=failures,
    )


def _count_up_to(n_crossing: int, sentences: Iterable[SentenceScore]) -> int:
    return sum(one.n_crossing <= n_crossing for one in sentences)


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0
