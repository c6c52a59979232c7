"""A tree as EVALB sees it: words with tags, and brackets as spans of words, from left to right as they open."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from transduce.metrics.parseval.parameters import EvalbParameters

__all__ = ["Bracketing", "NoTree", "Quote", "align_quotes", "read_bracketing"]

_SPACE, _WORD = r"[ \t\n\v\f\r]", r"[^ \t\n\v\f\r()]"
_TOKEN = re.compile(
    # an opening bracket with its label and, where a word stands behind it, that and its closing bracket
    rf"\(({_WORD}*+)(?:{_SPACE}++({_WORD}*+){_SPACE}*+(\)))?"
    rf"|(\))|({_WORD}++)"
)
"""Only white space of ASCII parts words, as it does for EVALB: a no-break space is part of a word."""

_QUOTE_WORDS = frozenset({"'", '"', "/"})


@dataclass(frozen=True, slots=True)
class NoTree:
    """A line that is no tree."""

    reason: str
    """Such as ``3 brackets are not closed``."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A word that may have been tagged as a quotation mark by mistake, whether it was taken out or not."""

    tag: str
    word: str
    n_brackets_before: int
    """Brackets that opened before it."""
    around: tuple[int, ...]
    """Indexes of the brackets that were open at it."""


@dataclass(slots=True)
class Bracketing:
    """Words, tags and brackets of one sentence. Brackets are spans ``[start, end)`` of the words that were left in."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """The label of each bracket, as it stands in the text."""
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    length: int = 0
    """Words of the sentence: traces are left out, punctuation is not."""
    quotes: list[Quote] = field(default_factory=list)
    quote_places: list[int] = field(default_factory=list)
    """Of each of the quotes: how many words stand before it."""

    def kept_brackets(self, parameters: EvalbParameters) -> list[tuple[int, int, str]]:
        """Return start, end and label of the brackets that count: those around a word whose label is not deleted.

        Labels end at their first ``-`` or ``=``: ``NP-SBJ-1`` is ``NP``.
        """
        kept = []
        for start, end, label in zip(self.starts, self.ends, self.labels, strict=True):
            plain = label.partition("-")[0].partition("=")[0]
            if start != end and plain not in parameters.deleted_brackets:
                kept.append((start, end, plain))
        return kept

    def put_back(self, index: int) -> None:
        """Put a quote that was taken out back among the words, and move the brackets around and behind it."""
        quote, place = self.quotes[index], self.quote_places[index]
        self.words.insert(place, quote.word)
        self.tags.insert(place, quote.tag)
        for i in range(quote.n_brackets_before, len(self.labels)):
            self.starts[i] += 1
            self.ends[i] += 1
        for i in quote.around:
            self.ends[i] += 1
        for i in range(index, len(self.quotes)):
            self.quote_places[i] += 1


def read_bracketing(line: str, parameters: EvalbParameters) -> Bracketing | NoTree:
    """Read one line as EVALB reads it: no tree, one, or several that stand beside one another.

    A tree of any depth is read in a time that grows with its length.

    Args:
        line: Such as ``(TOP (S (NP (PRP it)) (VP (VBZ rains)) (. .)))``.
        parameters: What is taken out.

    >>> read_bracketing("(TOP (S (NP (PRP it)) (VP (VBZ rains)) (. !)))", EvalbParameters()).words
    ['it', 'rains', '!']
    >>> read_bracketing("(TOP (S (NP (PRP it))", EvalbParameters())
    NoTree(reason='2 brackets are not closed')
    """
    read = Bracketing()
    opened: list[int] = []
    for label, word, ends_word, closes, stray in _TOKEN.findall(line):
        if ends_word:
            read.length += label not in parameters.deleted_for_length
            if label in parameters.quote_labels and word in _QUOTE_WORDS:
                read.quotes.append(Quote(label, word, len(read.labels), tuple(opened)))
                read.quote_places.append(len(read.words))
            if label not in parameters.deleted_labels:
                read.words.append(word)
                read.tags.append(label)
        elif closes:
            if not opened:
                return NoTree("a bracket is closed that was not opened")
            read.ends[opened.pop()] = len(read.words)
        elif stray:
            return NoTree(f"{stray!r} does not stand in brackets with a tag")
        else:
            opened.append(len(read.labels))
            read.labels.append(label)
            read.starts.append(len(read.words))
            read.ends.append(-1)
    if opened:
        return NoTree(f"{len(opened)} bracket{'s are' if len(opened) > 1 else ' is'} not closed")
    return read


def align_quotes(gold: Bracketing, predicted: Bracketing, parameters: EvalbParameters) -> int:
    """Put back each quote that one side takes out and the other, at the same place and under another tag, does not.

    Both are changed. The order of the steps is EVALB's.

    Returns:
        How many words were put back.
    """
    deleted = parameters.deleted_labels
    n_put_back = 0
    for i, ours in enumerate(predicted.quotes):
        place = predicted.quote_places[i]  # the words before it now: what is put back in this round does not count
        for j, theirs in enumerate(gold.quotes):
            if gold.quote_places[j] != place or theirs.tag == ours.tag:
                continue
            if theirs.tag in deleted and ours.tag not in deleted:
                gold.put_back(j)
                n_put_back += 1
            elif ours.tag in deleted and theirs.tag not in deleted:
                predicted.put_back(i)
                n_put_back += 1
    return n_put_back
