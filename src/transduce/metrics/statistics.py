"""What a corpus score is made of: counts for each sentence, their sums, and a formula over the sums.

A score of other sentences, such as those that a bootstrap draws, needs no text any more: only other sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from transduce.base.extras import require
from transduce.metrics.ngrams import Tokens, character_tokens, count_matches, word_tokens
from transduce.metrics.score import Score, check_counts
from transduce.metrics.sentence import chrf_score

__all__ = ["Smoothing", "Statistics", "chrf_statistics", "ter_statistics", "word_bleu_statistics"]

FloatArray = npt.NDArray[np.float64]

Smoothing = Literal["exp", "none"]
"""What BLEU does with an order of which nothing matches: ``exp`` counts 1/2, 1/4 ... as mteval does; ``none``: BLEU is 0."""

_BLEU_ORDER = 4
_CHRF_ORDER = 6
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class Statistics:
    """The sufficient statistics of one output in one metric."""

    name: str
    """Of the metric, such as ``BLEU``."""
    signature: str
    """As in :class:`~transduce.metrics.score.Score`."""
    counts: FloatArray
    """``[sentences, counts]``: what the formula needs of each sentence, to be summed."""
    formula: Callable[[FloatArray], FloatArray] = field(repr=False)
    """From sums ``[..., counts]`` to scores ``[...]``."""
    lower_is_better: bool = False
    """True: as in TER, which counts errors."""

    def score(self) -> Score:
        """Compute the score of the whole corpus."""
        return Score(self.name, float(self.formula(self.counts.sum(axis=0))), self.signature)


def word_bleu_statistics(
    hypotheses: Sequence[Sequence[str | bytes]],
    references: Sequence[Sequence[Sequence[str | bytes]]],
    *,
    name: str,
    signature: str,
    smoothing: Smoothing,
) -> Statistics:
    """Count for BLEU what words, as some tokenizer has made them, agree.

    Of several references, an n-gram may match as often as the one that has it most often has it, and the one whose length
    is closest counts for brevity; of two as close the shorter.

    Args:
        hypotheses: The words of each sentence.
        references: Of one or more sets of references, the words of each sentence.
        name: The flavour of BLEU.
        signature: Its signature.
        smoothing: What happens to an order without any match.
    """
    ours, *theirs = word_tokens(hypotheses, *references)
    lengths = np.stack([side.lengths for side in theirs])
    distances = np.abs(lengths - ours.lengths) + lengths / (lengths.max() + 1)  # the fraction settles ties
    closest = np.take_along_axis(lengths, distances.argmin(axis=0)[None], axis=0)[0]
    totals = [ours.n_ngrams(order) for order in range(1, _BLEU_ORDER + 1)]
    matches = count_matches(ours, theirs, _BLEU_ORDER)
    counts = np.column_stack([ours.lengths, closest, matches, *totals]).astype(np.float64)
    return Statistics(name, signature, counts, _smoothed_bleu if smoothing == "exp" else _plain_bleu)


def chrf_statistics(hypotheses: Sequence[str], *references: Sequence[str], word_order: int = 0) -> Statistics:
    """Count for chrF2 the character n-grams that agree, white space left out, and for chrF2++ word n-grams too.

    Of several references each sentence is compared with the one that fits best.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        word_order: 0 for chrF2; 2 for chrF2++.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, *references)
    texts = [["".join(text.split()) for text in side] for side in (hypotheses, *references)]
    ours, *theirs = character_tokens(*texts)
    best = [_compare(ours, other, _CHRF_ORDER) for other in theirs]
    if word_order:
        ours, *theirs = word_tokens(*([_chrf_words(text) for text in side] for side in (hypotheses, *references)))
        words = [_compare(ours, other, word_order) for other in theirs]
        best = [np.concatenate(pair, axis=1) for pair in zip(best, words, strict=True)]
    scores = np.stack([_chrf(counts) for counts in best])
    chosen = np.stack(best)[scores.argmax(axis=0), np.arange(len(hypotheses))]
    signature = (
        f"nrefs:{len(references)}|case:mixed|eff:yes|nc:{_CHRF_ORDER}|nw:{word_order}|space:no|version:{_version()}"
    )
    return Statistics("chrF2" + "+" * word_order, signature, chosen, _chrf)


def ter_statistics(hypotheses: Sequence[str], *references: Sequence[str]) -> Statistics:
    """Count for TER the edits (words inserted, deleted, replaced, phrases moved) that make a reference of each hypothesis.

    sacreBLEU's search for them takes some seconds a thousand sentences. Case does not count. Of several references the
    nearest counts, divided by their mean length.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, *references)
    metric = require("sacrebleu.metrics", extra="score", purpose="Scoring").TER()
    counts = []
    for hypothesis, *others in zip(hypotheses, *references, strict=True):
        found = metric.sentence_score(hypothesis, others)
        counts.append((found.num_edits, found.ref_length))
    signature = f"nrefs:{len(references)}|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{_version()}"
    return Statistics("TER", signature, np.array(counts, dtype=np.float64), _ter, lower_is_better=True)


def _smoothed_bleu(sums: FloatArray) -> FloatArray:
    matches, totals = np.split(sums[..., 2:], 2, axis=-1)
    halvings = np.cumsum(matches == 0, axis=-1)
    return _bleu(sums, np.where(matches > 0, matches, 0.5**halvings) / np.maximum(totals, 1))


def _plain_bleu(sums: FloatArray) -> FloatArray:
    matches, totals = np.split(sums[..., 2:], 2, axis=-1)
    return _bleu(sums, matches / np.maximum(totals, 1))


def _bleu(sums: FloatArray, precisions: FloatArray) -> FloatArray:
    """Compute BLEU of lengths and precisions; 0 where an order has no n-grams, or no word matches."""
    n_hyp, n_ref = sums[..., 0], sums[..., 1]
    scored = (sums[..., 2] > 0) & (sums[..., -1] > 0) & (precisions > 0).all(axis=-1)
    logs = np.log(np.where(precisions > 0, precisions, 1)).mean(axis=-1)
    brevity = np.minimum(0, 1 - n_ref / np.maximum(n_hyp, 1))
    # A sum of logarithms of 1 may be a little above 0.
    return np.where(scored, np.minimum(100 * np.exp(brevity + logs), 100), 0.0)


def _chrf(sums: FloatArray) -> FloatArray:
    n_hyp, n_ref, matches = (sums[..., i::3] for i in range(3))
    counts = (n_hyp > 0) & (n_ref > 0)
    n_orders = np.maximum(counts.sum(axis=-1), 1)
    precision = np.where(counts, matches / np.maximum(n_hyp, 1), 0).sum(axis=-1) / n_orders
    recall = np.where(counts, matches / np.maximum(n_ref, 1), 0).sum(axis=-1) / n_orders
    return chrf_score(precision, recall)


def _ter(sums: FloatArray) -> FloatArray:
    edits, lengths = sums[..., 0], sums[..., 1]
    return 100 * np.where(lengths > 0, edits / np.where(lengths > 0, lengths, 1), edits > 0)


def _compare(ours: Tokens, theirs: Tokens, max_order: int) -> FloatArray:
    """Return ``[sentences, 3 * max_order]``: n-grams of the hypothesis, of the reference, of both, for each order."""
    matches = count_matches(ours, [theirs], max_order)
    columns = []
    for order in range(1, max_order + 1):
        n_ref = theirs.n_ngrams(order)
        # Where the reference is too short for this order, the hypothesis is not blamed for it.
        columns += [np.where(n_ref > 0, ours.n_ngrams(order), 0), n_ref, matches[:, order - 1]]
    return np.column_stack(columns).astype(np.float64)


def _chrf_words(text: str) -> list[str]:
    """Split at white space, and one mark of punctuation from the end of a word, else from its beginning."""
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


def _version() -> str:
    return str(require("sacrebleu", extra="score", purpose="Scoring").__version__)
