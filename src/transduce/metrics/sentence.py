"""chrF and BLEU of single sentences, each of many against each of many: what minimum Bayes risk needs, with numpy alone.

The numbers are those of sacreBLEU's ``sentence_chrf`` and ``sentence_bleu`` in their default settings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["bleu_matrix", "chrf_matrix", "chrf_score", "tokenize_13a"]

_Float64Array = npt.NDArray[np.float64]
_NGram = str | tuple[str, ...]

_CHRF_ORDER, _CHRF_BETA, _BLEU_ORDER = 6, 2, 4

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_13A = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),  # all punctuation but . , - and the apostrophe
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # . and , unless a digit stands before them
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # nor behind them
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # a dash behind a digit
)


def chrf_matrix(hypotheses: Sequence[str], references: Sequence[str]) -> _Float64Array:
    """Compute chrF2 (character 6-grams, beta 2, white space left out) of each hypothesis against each reference.

    Returns:
        ``[hypotheses, references]``: 0 to 100.

    >>> chrf_matrix(["a cat"], ["a cat", "a hat", "no"]).round(1).tolist()
    [[100.0, 27.1, 0.0]]
    """
    hyps, refs = (["".join(text.split()) for text in texts] for texts in (hypotheses, references))
    shape = (len(hyps), len(refs))
    precision, recall, n_orders = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for n in range(1, _CHRF_ORDER + 1):
        n_hyp, n_ref = (np.array([max(len(text) - n + 1, 0) for text in texts]) for texts in (hyps, refs))
        matches = _matches(_ngrams(hyps, n), _ngrams(refs, n))
        counts = (n_hyp[:, None] > 0) & (n_ref > 0)
        precision += np.where(counts, matches / np.maximum(n_hyp, 1)[:, None], 0)
        recall += np.where(counts, matches / np.maximum(n_ref, 1), 0)
        n_orders += counts
    precision /= np.maximum(n_orders, 1)
    recall /= np.maximum(n_orders, 1)
    return chrf_score(precision, recall)


def chrf_score(precision: _Float64Array, recall: _Float64Array) -> _Float64Array:
    """Return chrF2 of mean precisions and recalls of the same shape: their F-measure in percent, recall counting twice.

    >>> chrf_score(np.array([1.0, 0.5]), np.array([1.0, 0.0])).tolist()
    [100.0, 0.0]
    """
    factor = _CHRF_BETA**2
    below = factor * precision + recall
    return np.asarray(100 * (1 + factor) * precision * recall / np.where(below > 0, below, 1))


def bleu_matrix(hypotheses: Sequence[str], references: Sequence[str]) -> _Float64Array:
    """Compute BLEU of each hypothesis against each reference alone.

    Tokenizer 13a, n-grams up to 4 or up to the hypothesis's own length, exponential smoothing. For text without spaces
    it compares hardly anything: take chrF.

    Returns:
        ``[hypotheses, references]``: 0 to 100.

    >>> bleu_matrix(["the cat sat down."], ["the cat sat down.", "a cat sat down.", "no"]).round(1).tolist()
    [[100.0, 66.9, 0.0]]
    """
    hyps, refs = ([tuple(tokenize_13a(text)) for text in texts] for texts in (hypotheses, references))
    n_hyp, n_ref = (np.array([len(tokens) for tokens in texts]) for texts in (hyps, refs))
    shape = (len(hyps), len(refs))
    logs, smooth, any_match = np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=bool)
    for n in range(1, _BLEU_ORDER + 1):
        totals = np.maximum(n_hyp - n + 1, 0)[:, None]
        matches = _matches(_ngrams(hyps, n), _ngrams(refs, n))
        any_match |= matches > 0
        smooth = np.where((matches == 0) & (totals > 0), smooth * 2, smooth)
        precision = np.where(matches > 0, matches, 1 / smooth) / np.maximum(totals, 1)
        logs += np.where(totals > 0, np.log(precision), 0)
    orders = np.clip(n_hyp, 1, _BLEU_ORDER)[:, None]
    brevity = np.minimum(0, 1 - n_ref / np.maximum(n_hyp, 1)[:, None])
    return np.where(any_match, 100 * np.exp(brevity + logs / orders), 0)


def tokenize_13a(text: str) -> list[str]:
    """Split a text into words as the NIST script mteval-v13a does: sacreBLEU's default.

    >>> tokenize_13a("It's 1,000 km, isn't it?")
    ["It's", '1,000', 'km', ',', "isn't", 'it', '?']
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    for pattern, spaced in _13A:
        text = pattern.sub(spaced, text)
    return text.split()


def _ngrams(texts: Sequence[str] | Sequence[tuple[str, ...]], n: int) -> list[Counter[_NGram]]:
    return [Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in texts]


def _matches(hyps: Sequence[Counter[_NGram]], refs: Sequence[Counter[_NGram]]) -> _Float64Array:
    """Return ``[hypotheses, references]``: n-grams that both have, each as often as it is in both."""
    shared = set[_NGram]().union(*hyps) & set[_NGram]().union(*refs)
    column = {ngram: i for i, ngram in enumerate(shared)}  # the order of columns does not matter
    in_hyps, in_refs = (_count_matrix(counters, column) for counters in (hyps, refs))
    rows = [np.minimum(row, in_refs).sum(axis=1) for row in in_hyps]
    return np.array(rows, dtype=np.float64).reshape(len(hyps), len(refs))


def _count_matrix(counters: Sequence[Counter[_NGram]], column: dict[_NGram, int]) -> npt.NDArray[np.int32]:
    counts = np.zeros((len(counters), len(column)), dtype=np.int32)
    for row, counter in zip(counts, counters, strict=True):
        known = [(column[ngram], count) for ngram, count in counter.items() if ngram in column]
        if known:
            at, values = zip(*known, strict=True)
            row[list(at)] = values
    return counts
