"""The phrasebook as a corpus: drawn evenly from the templates, and split by combination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Literal

from transduce.data.phrasebook.sentences import TEMPLATES
from transduce.data.phrasebook.template import digest
from transduce.text.pairs import SentencePair

__all__ = ["PAIRS_PER_TEMPLATE", "Split", "phrasebook_pairs"]

Split = Literal["train", "dev", "test"]

PAIRS_PER_TEMPLATE = 100
"""At most as many pairs of one template, so that none dominates."""
_PER_MILLE = {"test": 36, "dev": 18}
_SEEN_OFTEN = 5  # times that a word of a held-out sentence stands in the sentences not held out


def phrasebook_pairs(split: Split) -> Iterator[SentencePair]:
    """Yield the English-German pairs of a split, the same ones in the same order on every machine.

    The splits differ in combinations: each word form and each template of dev and test is also in training, but no
    sentence is. An English sentence has one German translation in the whole corpus.
    """
    yield from _splits()[split]


@cache
def _splits() -> dict[Split, tuple[SentencePair, ...]]:
    """Make all splits at once, since what may be held out depends on the rest."""
    splits: dict[Split, list[SentencePair]] = {"train": [], "dev": [], "test": []}
    for pair in _shuffled_pairs():
        splits[_drawn_split(pair)].append(pair)
    known = Counter(word for pair in splits["train"] for word in _words(pair))
    for held_out in (splits["dev"], splits["test"]):
        # A sentence with a word that training hardly has is trained on instead: it would test luck, not composition.
        rare = {pair for pair in held_out if any(known[word] < _SEEN_OFTEN for word in _words(pair))}
        splits["train"] += (pair for pair in held_out if pair in rare)
        held_out[:] = (pair for pair in held_out if pair not in rare)
    return {name: tuple(pairs) for name, pairs in splits.items()}


def _shuffled_pairs() -> list[SentencePair]:
    """Return the distinct pairs of all templates; the first translation of an English sentence stays."""
    german: dict[str, str] = {}
    for template in TEMPLATES:
        for pair in template.pairs(PAIRS_PER_TEMPLATE):
            german.setdefault(pair.src, pair.tgt)
    return sorted((SentencePair(src, tgt) for src, tgt in german.items()), key=lambda pair: digest(pair.src))


def _drawn_split(pair: SentencePair) -> Split:
    drawn = digest(f"split\t{pair.src}") % 1000
    if drawn < _PER_MILLE["test"]:
        return "test"
    return "dev" if drawn < _PER_MILLE["test"] + _PER_MILLE["dev"] else "train"


def _words(pair: SentencePair) -> list[str]:
    """Return the words of both sides, each marked with its side and freed from punctuation."""
    sides = (("en", pair.src), ("de", pair.tgt))
    return [f"{side}:{word.strip('.,?!')}" for side, text in sides for word in text.split()]
