"""Minimum Bayes risk: of many samples take the one that agrees best with all the others.

The most probable translation need not be typical: it may be too short, or an odd one that happens to be likely. Among
samples, what the model says again and again in other words agrees with much of the rest (Eikema and Aziz 2020). Agreement
is chrF or BLEU of a sample's text against each other one as if that were the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from transduce.decoding.hypothesis import Hypothesis
from transduce.metrics.sentence import bleu_matrix, chrf_matrix

__all__ = ["Decode", "least_risk"]

Decode = Callable[[Sequence[int]], str]
"""Turns target ids into text."""


def least_risk(
    samples: Sequence[Hypothesis], decode: Decode, metric: Literal["chrf", "bleu"], n_best: int
) -> list[Hypothesis]:
    """Choose the samples that agree best with the others.

    A text that was drawn several times is scored once and counts as often as it was drawn. Of ids that give the same text
    the most probable stand for it. Equal agreement: the more probable first, then the one drawn first.

    Args:
        samples: At least two samples of one sentence.
        decode: The text of a sample is what is compared.
        metric: What agreement means.
        n_best: The most to return.

    Returns:
        The best first, with the mean agreement, 0 to 100, as score. Their texts are all different, so there may be fewer
        than ``n_best``.
    """
    by_text: dict[str, list[Hypothesis]] = {}
    for sample in samples:
        by_text.setdefault(decode(sample.ids), []).append(sample)
    texts = list(by_text)
    counts = np.array([len(same) for same in by_text.values()])
    agreement = (bleu_matrix if metric == "bleu" else chrf_matrix)(texts, texts)
    of_others = (agreement @ counts - np.diag(agreement)) / (len(samples) - 1)
    best = [max(same, key=lambda sample: sample.log_prob) for same in by_text.values()]
    order = sorted(range(len(texts)), key=lambda i: (-of_others[i], -best[i].log_prob))
    return [Hypothesis(best[i].ids, best[i].log_prob, float(of_others[i]), best[i].at_limit) for i in order[:n_best]]
