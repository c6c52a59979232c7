"""One predicted tree against its gold tree: what was found, what crosses, which tags are right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from transduce.metrics.parseval.bracketing import Bracketing, NoTree, align_quotes, read_bracketing
from transduce.metrics.parseval.parameters import EvalbParameters

__all__ = ["Outcome", "SentenceScore", "score_sentence"]

Outcome = Literal["scored", "nothing to find", "no tree", "no words", "other length", "other words"]
"""How the comparison of one sentence went; all but the first two are failures.

``nothing to find``: of neither tree a word is left, as where a sentence is all punctuation (EVALB skips it). ``no words``: a
blank line, or a tree of which nothing is left (EVALB skips it too). ``other length`` and ``other words``: a tree over other
words than the gold one's (EVALB calls it an error).
"""

_Bracket = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """Counts of one sentence. Of one that failed, only those of the gold tree are above 0."""

    outcome: Outcome
    reason: str
    """Why it failed; empty if it did not."""
    length: int
    """Words of the gold tree, punctuation included and traces not."""
    n_gold: int
    """Brackets of the gold tree that count."""
    n_words: int
    """Words of the gold tree whose tags are compared."""
    n_predicted: int = 0
    """Brackets of the predicted tree that count."""
    n_matched: int = 0
    """Brackets found: one of the gold tree and one of the predicted one, each used once."""
    n_crossing: int = 0
    """Predicted brackets that overlap with one of the gold tree without one holding the other."""
    n_correct_tags: int = 0
    """Words with the right tag."""
    n_put_back: int = 0
    """Quotation marks that were put back, since one tree took them out and the other did not."""

    @property
    def is_failure(self) -> bool:
        """The prediction is no tree over the words of the gold tree."""
        return self.outcome not in ("scored", "nothing to find")

    @property
    def is_skipped(self) -> bool:
        """EVALB skips the sentence, and does not count it as an error."""
        return self.outcome in ("nothing to find", "no words")

    @property
    def is_complete(self) -> bool:
        """Every bracket of the gold tree was found, and nothing else was predicted."""
        return not self.is_failure and self.n_gold == self.n_predicted == self.n_matched


def score_sentence(gold: Bracketing, predicted: str, parameters: EvalbParameters) -> SentenceScore:
    """Compare one prediction with its gold tree.

    Args:
        gold: The gold tree; it may be changed, since quotation marks are put back into it.
        predicted: The prediction, which need not be a tree.
        parameters: What counts, and what is equal.
    """
    failed = SentenceScore(
        outcome="no tree",
        reason="",
        length=gold.length,
        n_gold=len(gold.kept_brackets(parameters)),
        n_words=len(gold.words),
    )
    ours = read_bracketing(predicted, parameters)
    if isinstance(ours, NoTree):
        return replace(failed, reason=ours.reason)
    if not (ours.words or gold.words) and (ours.labels or ours.length):
        return replace(failed, outcome="nothing to find")
    if not ours.words:
        return replace(failed, outcome="no words", reason="there are no words in it")
    n_put_back = 0
    if len(gold.words) != len(ours.words):
        n_put_back = align_quotes(gold, ours, parameters)
    if len(gold.words) != len(ours.words):
        reason = f"{len(ours.words)} words, and the gold tree has {len(gold.words)}"
        return replace(failed, outcome="other length", reason=reason)
    for a, b in zip(gold.words, ours.words, strict=True):
        if not parameters.same_word(a, b):
            return replace(failed, outcome="other words", reason=f"the word {b!r}, where the gold tree has {a!r}")
    theirs_kept, ours_kept = gold.kept_brackets(parameters), ours.kept_brackets(parameters)
    return SentenceScore(
        outcome="scored",
        reason="",
        length=gold.length,
        n_gold=len(theirs_kept),
        n_words=len(gold.words),
        n_predicted=len(ours_kept),
        n_matched=_count_matches(theirs_kept, ours_kept, parameters),
        n_crossing=_count_crossing(theirs_kept, ours_kept),
        n_correct_tags=sum(parameters.same_label(a, b) for a, b in zip(gold.tags, ours.tags, strict=True)),
        n_put_back=n_put_back,
    )


def _count_matches(gold: Iterable[_Bracket], ours: Iterable[_Bracket], parameters: EvalbParameters) -> int:
    """Count pairs of brackets that are equal, each used once: NP over NP over the same words is two brackets.

    The first of ours that fits is taken, in the order in which brackets open, as EVALB does.
    """
    free: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for start, end, label in ours:
        free[start, end].append(label)
    n_matched = 0
    for start, end, label in gold:
        there = free.get((start, end), [])
        for i, other in enumerate(there):
            if not parameters.labelled or parameters.same_label(label, other):
                del there[i]
                n_matched += 1
                break
    return n_matched


def _count_crossing(gold: Iterable[_Bracket], ours: Iterable[_Bracket]) -> int:
    """Count our brackets that cross one of the gold tree."""
    spans = {(start, end) for start, end, _ in gold}
    # A span of the gold tree crosses no other one of it, so that only those have to be looked at which it does not have.
    return sum(
        any(a < start < b < end or start < a < end < b for a, b in spans)
        for start, end, _ in ours
        if (start, end) not in spans
    )
