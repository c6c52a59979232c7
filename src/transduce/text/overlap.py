"""Sentences of the dev and test sets that also stand in training, which makes scores too good to be true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from transduce.base.log import plural

__all__ = ["HeldOut", "fold"]


def fold(text: str) -> str:
    """Return a text without its case and with single spaces, under which nearly equal sentences are equal.

    >>> fold("  Eine GROSSE\\tStraße ")
    'eine grosse strasse'
    """
    return " ".join(text.casefold().split())


class HeldOut:
    """The source sentences of a dev or test set, and which of them have been met in training.

    Args:
        name: What the set is called in messages, such as ``test``.
        sources: Its source sentences.

    >>> test = HeldOut("test", ["a red boat", "A BLUE DOOR ", "new"])
    >>> [test.meet(src, fold(src)) for src in ("a red boat", "a blue door", "old")]
    [True, True, False]
    >>> test.n_exact, test.n_folded, test.describe()
    (1, 2, '2 of 3 sentences of test are also in training (1 letter for letter)')
    """

    def __init__(self, name: str, sources: Iterable[str]) -> None:
        self.name = name
        self._exact = Counter(sources)
        self._folded: Counter[str] = Counter()
        for source, count in self._exact.items():
            self._folded[fold(source)] += count
        self._met_exact: set[str] = set()
        self._met_folded: set[str] = set()

    def meet(self, source: str, folded: str) -> bool:
        """Tell whether a training sentence is in the set, case and white space aside, and remember that it was met.

        Args:
            source: The source sentence of a training pair.
            folded: The same after :func:`fold`; given, so that one folding serves several sets.
        """
        if folded not in self._folded:
            return False
        self._met_folded.add(folded)
        if source in self._exact:
            self._met_exact.add(source)
        return True

    @property
    def n_pairs(self) -> int:
        """Number of sentences in the set, repeated ones included."""
        return self._exact.total()

    @property
    def n_exact(self) -> int:
        """Number of sentences of the set that were met in training letter for letter."""
        return sum(self._exact[source] for source in self._met_exact)

    @property
    def n_folded(self) -> int:
        """Number of sentences of the set that were met in training, case and white space aside."""
        return sum(self._folded[folded] for folded in self._met_folded)

    def describe(self) -> str:
        """Return the counts as one line for the log."""
        verb = "is" if self.n_folded == 1 else "are"
        return (
            f"{self.n_folded:,} of {plural(self.n_pairs, 'sentence')} of {self.name} {verb} also in training "
            f"({self.n_exact:,} letter for letter)"
        )
