"""What a parser has written as a tree, whatever it is: well-formed output as it stands, any other mended by fixed rules.

The rules, from left to right:

1. A closing bracket whose constituent is open, but not the innermost one, closes those inside of it too.
2. A closing bracket whose constituent is not open is left out.
3. A constituent that would have no words is left out.
4. A word beyond those of the sentence is left out.
5. Words that are missing at the end are put into the outermost constituent that is still open, or straight into the tree.
6. Constituents that are open at the end are closed.

So the tree always has the words of the sentence, each once and in order, and all brackets that fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from transduce.base.log import plural
from transduce.text.linearize import ANY_TAG, NO_TAG
from transduce.text.parses import tag_by_form
from transduce.text.treebank import ROOT_LABEL
from transduce.text.trees import Leaf, Tree, TreeBuilder

__all__ = ["Fault", "ParsedSentence", "RepairCounts", "build_tree"]

Fault = Literal["unclosed", "unopened", "empty", "surplus", "missing"]
"""What is wrong with an output. Each is counted once for an output."""

_WORDS: dict[Fault, str] = {
    "unclosed": "a constituent is not closed",
    "unopened": "a bracket closes nothing",
    "empty": "a constituent has no words",
    "surplus": "more words than the sentence has",
    "missing": "fewer words than the sentence has",
}


class ParsedSentence(NamedTuple):
    """A tree over the words of a sentence, and what was wrong with the output it was made of."""

    tree: Tree
    faults: tuple[Fault, ...]
    """In alphabetic order; none: the output was well-formed."""


def build_tree(tokens: Iterable[str], words: Sequence[str]) -> ParsedSentence:
    """Return the tree that the tokens of a parser mean, mended where they are none.

    Args:
        tokens: As :func:`transduce.text.linearize` writes them, without words and without the outermost brackets.
        words: The words of the sentence as they stand in trees; at least one.

    >>> parsed = build_tree("(S (NP XX )VP (VP XX".split(), ["cats", "sleep", "."])
    >>> parsed.tree, parsed.faults
    (<Tree (TOP (S (NP (XX cats) (VP (XX sleep))) (. .)))>, ('missing', 'unclosed', 'unopened'))
    """
    builder = TreeBuilder()
    builder.open(ROOT_LABEL)
    labels: list[str] = []  # of the open constituents inside the root
    faults: set[Fault] = set()
    n_used = 0
    for token in tokens:
        if token.startswith("("):
            labels.append(token[1:])
            builder.open(token[1:])
        elif token.startswith(")"):
            faults.update(_close(builder, labels, token[1:]))
        elif n_used == len(words):
            faults.add("surplus")
        else:
            builder.add_leaf(_leaf(token, words[n_used]))
            n_used += 1
    if n_used < len(words):
        faults.add("missing")
    if labels:
        faults.add("unclosed")
    for _ in labels[1:]:
        builder.close()
    for word in words[n_used:]:
        builder.add_leaf(_leaf(ANY_TAG, word))
    for _ in (*labels[:1], ROOT_LABEL):
        builder.close()
    return ParsedSentence(builder.finished[0], tuple(sorted(faults)))


def _close(builder: TreeBuilder, labels: list[str], label: str) -> set[Fault]:
    """Close the innermost constituent of this label, and return what is wrong with that."""
    if label not in labels:
        return {"unopened"}
    faults: set[Fault] = set()
    while True:
        if not builder.n_children:
            faults.add("empty")
        builder.close()
        if labels.pop() == label:
            return faults
        faults.add("unclosed")


def _leaf(token: str, word: str) -> Leaf:
    """Return a word with the tag that the parser has given it, or where it gives none, with that of punctuation, or XX."""
    return Leaf(tag_by_form(word) if token in (ANY_TAG, NO_TAG) else token, word)


@dataclass
class RepairCounts:
    """How many outputs were trees as they stood.

    >>> counts = RepairCounts()
    >>> for tokens in ("(NP XX )NP", "(NP XX"):
    ...     counts.add(build_tree(tokens.split(), ["tea"]).faults)
    >>> counts.describe()
    '1 of 2 outputs (50.00 %) well-formed; repaired: 1 (a constituent is not closed)'
    """

    n_outputs: int = 0
    n_well_formed: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    """Outputs by what was wrong with them; one may have several faults."""

    def add(self, faults: Sequence[Fault]) -> None:
        """Count an output."""
        self.n_outputs += 1
        self.n_well_formed += not faults
        self.faults.update(faults)

    @property
    def n_repaired(self) -> int:
        """Outputs that were no trees as they stood."""
        return self.n_outputs - self.n_well_formed

    @property
    def share_well_formed(self) -> float:
        """Outputs that were trees as they stood, in percent; 100 where there are none."""
        return 100 * self.n_well_formed / self.n_outputs if self.n_outputs else 100.0

    def describe(self) -> str:
        """Return the counts in words."""
        share = self.share_well_formed
        text = f"{self.n_well_formed:,} of {plural(self.n_outputs, 'output')} ({share:.2f} %) well-formed"
        found = [f"{self.faults[fault]:,} ({words})" for fault, words in _WORDS.items() if self.faults[fault]]
        return text + (f"; repaired: {', '.join(found)}" if found else "")
