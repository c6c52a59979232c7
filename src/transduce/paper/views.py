"""The paper's Figures 3 to 5 for any sentence and any model: which layer, heads and word each of them shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transduce.paper.heads import HeadNumbers, Weights

__all__ = ["FigureView", "figure_views"]

_FIGURE_3_WORD = "making"
_FIGURE_4_WORDS = ("its", "it", "their", "they", "them", "his", "her", "he", "she", "him")
"""Words that stand for others: the paper's own, and its relatives."""
_FAR = 3
"""So many words away is far: Figure 3 shows what is further than a neighbour's neighbour."""


@dataclass(frozen=True)
class FigureView:
    """What one of the figures shows. All are of the encoder reading itself."""

    title: str
    """Such as ``Figure 3``."""
    why: str
    """What is to be seen, and how it was chosen."""
    layer: int
    """From 1."""
    heads: tuple[int, ...]
    """From 1."""
    word: int | None
    """The word that looks, from 0. None: all."""


def figure_views(weights: Weights, names: Sequence[str], numbers: Sequence[Sequence[HeadNumbers]]) -> list[FigureView]:
    """Choose the views of a sentence that are the paper's figures.

    The paper shows layer 5 of 6; here it is the last but one. Its words are taken where the sentence has them; else the
    word, and always the heads, are those that show best what the figure shows.

    Args:
        weights: ``[layers, heads, s, s]``: how the source reads itself. EOS is last.
        names: The ``s`` words.
        numbers: Of each layer and head.

    Paper: Figures 3 to 5.
    """
    layer = max(0, len(weights) - 2)
    of_layer = np.asarray(weights[layer], dtype=np.float64)  # [heads, s, s]
    views = [_far_away(of_layer, names, layer), _one_other_word(of_layer, names, layer)]
    return [*views, *_structure(numbers[layer], layer)]


def _far_away(weights: Weights, names: Sequence[str], layer: int) -> FigureView:
    """Figure 3: a word of which many heads look far away."""
    far = _distances(len(names)) >= _FAR
    far[:, -1] = far[-1] = False  # neither from EOS nor to it
    shares = np.where(far, weights.mean(axis=0), 0.0).sum(axis=1)
    word = _find(names, (_FIGURE_3_WORD,))
    chosen = int(shares.argmax()) if word is None else word
    how = "the word that looks furthest" if word is None else "the paper's word"
    return FigureView(
        "Figure 3",
        f"What one word looks at far away, in all heads. “{names[chosen]}” is {how}: "
        f"{shares[chosen]:.0%} of its attention goes {_FAR} or more words away.",
        layer + 1,
        tuple(range(1, len(weights) + 1)),
        chosen,
    )


def _one_other_word(weights: Weights, names: Sequence[str], layer: int) -> FigureView:
    """Figure 4: two heads in which a word looks sharply at one other."""
    others = _distances(len(names)) >= 2
    others[:, [not any(char.isalnum() for char in name) for name in names]] = False  # a comma is no other word
    others[:, -1] = others[-1] = False
    sharpest = np.where(others, weights, 0.0).max(axis=2)  # [heads, s]
    word = _find(names, _FIGURE_4_WORDS)
    chosen = int(sharpest.max(axis=0).argmax()) if word is None else word
    heads = [int(head) for head in np.argsort(-sharpest[:, chosen], kind="stable")[:2]]
    best = int(np.where(others[chosen], weights[heads[0], chosen], 0.0).argmax())
    how = "the word that looks most sharply at another" if word is None else "a word that stands for another"
    return FigureView(
        "Figure 4",
        f"Two heads in which one word looks sharply at another. “{names[chosen]}” is {how}; head {heads[0] + 1} gives "
        f"{weights[heads[0], chosen, best]:.0%} of its attention to “{names[best]}”.",
        layer + 1,
        tuple(sorted(head + 1 for head in heads)),
        chosen,
    )


def _structure(numbers: Sequence[HeadNumbers], layer: int) -> list[FigureView]:
    """Figure 5: two heads that may follow the structure of the sentence, each by itself."""
    order = sorted(range(len(numbers)), key=lambda head: (numbers[head].hint is not None, numbers[head].entropy_bits))
    return [
        FigureView(
            f"Figure 5{letter}",
            "A head that may follow the structure of the sentence: of those without a simpler pattern, it looks "
            f"{how} sharply ({numbers[head].entropy_bits:.1f} bits).",
            layer + 1,
            (head + 1,),
            None,
        )
        for head, letter, how in zip(order, "ab", ("most", "second most"), strict=False)
    ]


def _distances(n: int) -> Weights:
    places = np.arange(n, dtype=np.float64)
    return np.asarray(np.abs(places[:, None] - places))


def _find(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return where the first of the wanted words stands, whatever marks of a tokenizer are about it."""
    plain = [name.strip("▁#@Ġ").lower() for name in names]
    return next((plain.index(word) for word in wanted if word in plain), None)
