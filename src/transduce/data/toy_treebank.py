"""Two small treebanks from a grammar of our own, to try parsing without a treebank: nothing can be learned from them but it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from transduce.text.trees import Leaf, Tree

__all__ = ["TOY_TREEBANKS", "toy_trees"]

TOY_TREEBANKS: Mapping[str, str] = MappingProxyType({"news": "S", "notes": "FRAG"})
"""By name, what the trees are: sentences, or fragments without a verb of their own."""

_RULES: Mapping[str, tuple[str, ...]] = {
    "S": ("NP VP .",),
    "FRAG": ("NP .", "ADVP NP .", "NP ADVP ."),
    "NP": ("DT NN", "PRP", "DT JJ NN", "NP PP", "NP SBAR"),
    "VP": ("VBD ADVP", "VBD NP", "VBD NP PP"),
    "PP": ("IN NP",),
    "SBAR": ("WDT VP",),
    "ADVP": ("RB",),
}
"""What each constituent may be made of; the first of them ends the growth."""
_WORDS: Mapping[str, str] = {
    "DT": "the a every this",
    "NN": "cat dog garden letter house teacher",
    "JJ": "old small green quiet",
    "PRP": "she he they",
    "VBD": "saw liked found kept",
    "IN": "in near with behind",
    "WDT": "that which",
    "RB": "here yesterday again",
    ".": ". !",
}
_DEEPEST = 5


def toy_trees(label: str, seed: int) -> Iterator[Tree]:
    """Yield trees without end, the same ones for the same seed.

    Args:
        label: Of the constituent below the root, such as ``S``.
        seed: Of the choices.

    >>> from transduce.text.trees import tree_leaves
    >>> {leaf.tag for leaf in tree_leaves(next(toy_trees("FRAG", 1)))} <= set(_WORDS)
    True
    """
    choices = random.Random(seed)
    while True:
        yield Tree("", (_grow(label, 0, choices),))


def _grow(label: str, depth: int, choices: random.Random) -> Tree:
    rules = _RULES[label]
    parts = (choices.choice(rules) if depth < _DEEPEST else rules[0]).split()
    return Tree(
        label,
        tuple(
            _grow(part, depth + 1, choices) if part in _RULES else Leaf(part, choices.choice(_WORDS[part].split()))
            for part in parts
        ),
    )
