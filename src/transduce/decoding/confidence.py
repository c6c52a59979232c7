"""How far each word of a translation can be trusted: its probability, corrected by what happened on a dev set.

A word's raw probability is the product of those of its pieces, given everything before it. It says how sure the model is,
and models are more sure than they should be. So a dev set is translated, each word is labelled right or wrong, and a
function from raw probability to the share of right words is fitted: isotonic regression, which assumes only that a more
probable word is not less often right. The figures behind these choices are in ``docs/log/2026-11-30-confidence.md``.

Right means: the reference has this word too, wherever it stands, each occurrence counted once; punctuation around a word
does not count. So a confidence is the probability that one human translator used the word. A good synonym counts as wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.base.errors import BundleError, DecodingError
from transduce.bundle.directory import Bundle, attach_file
from transduce.tokenizer.protocol import Tokenizer
from transduce.tokenizer.words import Words, find_words

__all__ = [
    "Calibration",
    "WordConfidence",
    "area_under_curve",
    "calibration_error",
    "cross_validate",
    "fit_calibration",
    "label_words",
    "read_calibration",
    "word_confidence",
    "word_probabilities",
]

_FILE = "confidence.json"
_FORMAT = "transduce-confidence"
_VERSION = 1
_GROUP_WORDS = 50
"""Words whose labels are taken together before the fit, so that no value rests on a handful."""
_AROUND = re.compile(r"^\W+|\W+$")

_Float64Array = npt.NDArray[np.float64]
_BoolArray = npt.NDArray[np.bool_]


class WordConfidence(NamedTuple):
    """One word of a translation."""

    word: str
    """The word, with the punctuation at it."""
    probability: float
    """The probability that it is right."""


@dataclass(frozen=True)
class Calibration:
    """The function from raw to calibrated probability: straight lines between points, level outside.

    >>> Calibration(raw=(0.2, 0.8), right=(0.3, 0.6), n_words=100).apply(np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.3, 0.45, 0.6]
    """

    raw: tuple[float, ...]
    """Raw probabilities, rising."""
    right: tuple[float, ...]
    """The share of right words at each of them; it never falls."""
    n_words: int
    """Words that it was fitted on."""

    def apply(self, raw: _Float64Array) -> _Float64Array:
        """Return the calibrated probability of each raw one."""
        return np.interp(raw, self.raw, self.right)

    def save(self, bundle: Bundle) -> None:
        """Put it into a bundle; an older one is replaced."""
        content = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        attach_file(bundle.path, _FILE, json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, bundle: Bundle) -> Calibration:
        """Read the calibration of a bundle.

        Raises:
            DecodingError: The bundle has none.
            BundleError: It cannot be read.
        """
        file = bundle.path / _FILE
        if not file.is_file():
            raise DecodingError(
                f"{bundle.path}: has no calibration, which word confidence needs; make one with 'transduce calibrate'"
            )
        return read_calibration(file)


def read_calibration(file: Path) -> Calibration:
    """Read a calibration from its file.

    Raises:
        BundleError: It cannot be read, or holds no rising probabilities.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT or content["version"] > _VERSION:
            raise ValueError("it is of another format or a newer version")
        raw, right = (np.array(content[name], dtype=np.float64) for name in ("raw", "right"))
        if not (len(raw) == len(right) > 0 and _is_rising(raw) and _is_rising(right)):
            raise ValueError("its points are no rising probabilities")
        return Calibration(tuple(raw.tolist()), tuple(right.tolist()), int(content["n_words"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(f"{file}: damaged ({error}); make it again with 'transduce calibrate'") from None


def word_confidence(
    tokenizer: Tokenizer, ids: Sequence[int], token_log_probs: Sequence[float], calibration: Calibration
) -> list[WordConfidence]:
    """Return the words of a translation, each with the probability that it is right.

    Args:
        tokenizer: Of the target side.
        ids: The translation, without BOS and EOS.
        token_log_probs: Natural log-probability of each id, and of EOS, as forced decoding gives them.
        calibration: Of the model that these come from.
    """
    words = find_words(tokenizer, ids)
    calibrated = calibration.apply(word_probabilities(words, token_log_probs))
    return [WordConfidence(*pair) for pair in zip(words.texts, calibrated.tolist(), strict=True)]


def word_probabilities(words: Words, token_log_probs: Sequence[float]) -> _Float64Array:
    """Return the raw probability of each word: the product over its pieces.

    Args:
        words: The words of the translation.
        token_log_probs: As in :func:`word_confidence`; EOS belongs to no word.

    >>> word_probabilities(Words(["ab", "c"], [0, 0, 1]), np.log([0.5, 0.5, 0.9, 0.8]).tolist()).round(3).tolist()
    [0.25, 0.9]
    """
    n_ids, n_words = len(words.word_of), len(words.texts)
    log_probs = np.array(token_log_probs[:n_ids], dtype=np.float64)
    return np.exp(np.bincount(np.array(words.word_of, dtype=np.int64), weights=log_probs, minlength=n_words))


def label_words(words: Sequence[str], reference: str) -> list[bool]:
    """Say for each word of a translation whether it is right, by the rule at the top of this module.

    >>> label_words(["Ein", "Hund", "Hund", "rennt."], "Ein Hund rennt schnell.")
    [True, True, False, True]
    """
    left = Counter(_bare(word) for word in reference.split())
    labels = []
    for word in map(_bare, words):
        labels.append(left[word] > 0)
        left[word] -= 1
    return labels


def fit_calibration(raw: _Float64Array, right: _BoolArray) -> Calibration:
    """Fit the calibrated probability of right words: isotonic regression by pooling adjacent violators.

    Words are first taken together in groups of 50 of similar raw probability, and each group counts one right and one wrong
    word more than it has: so no confidence is 0 or 1.

    Args:
        raw: ``[words]``: raw probabilities, in any order.
        right: ``[words]``: True = the word is right.

    Raises:
        DecodingError: There are no words.
    """
    if not len(raw):
        raise DecodingError("there are no words to fit the confidence to; give a dev set with text in it")
    order = np.argsort(raw, kind="stable")
    groups = np.array_split(order, max(1, len(raw) // _GROUP_WORDS))
    blocks: list[tuple[float, float, int]] = []  # sum of raw, sum of right (smoothed), words
    for group in groups:
        n = len(group)
        block = (float(raw[group].sum()), n * (float(right[group].sum()) + 1) / (n + 2), n)
        while blocks and blocks[-1][1] / blocks[-1][2] >= block[1] / block[2]:
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    return Calibration(
        raw=tuple(total / n for total, _, n in blocks),
        right=tuple(total / n for _, total, n in blocks),
        n_words=len(raw),
    )


def cross_validate(
    raw: _Float64Array, right: _BoolArray, sentence: npt.NDArray[np.int64], n_folds: int
) -> _Float64Array:
    """Calibrate every word by a function fitted on other sentences: what can be expected on text that is new.

    Args:
        raw: ``[words]``: raw probabilities.
        right: ``[words]``: True = the word is right.
        sentence: ``[words]``: number of the sentence of each word. Sentence i belongs to fold i modulo ``n_folds``.
        n_folds: Parts that the sentences are divided into, at least 2.

    Returns:
        ``[words]``: calibrated probabilities.

    Raises:
        DecodingError: A fold leaves no words to fit on.
    """
    calibrated = np.empty_like(raw)
    for fold in range(n_folds):
        held_out = sentence % n_folds == fold
        if held_out.any():
            calibrated[held_out] = fit_calibration(raw[~held_out], right[~held_out]).apply(raw[held_out])
    return calibrated


def calibration_error(probabilities: _Float64Array, right: _BoolArray, n_bins: int = 15) -> float:
    """Return the expected calibration error: by how much probabilities miss the share of right words, on average.

    Words are put into bins of equal width by their probability; for each bin the mean probability is compared with the
    share of right words. Guo et al. (2017), "On calibration of modern neural networks", with their 15 bins.

    >>> calibration_error(np.array([0.9, 0.9, 0.1, 0.1]), np.array([True, False, False, False]))
    0.25
    """
    bins = np.minimum((probabilities * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=probabilities - right, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(probabilities))


def area_under_curve(probabilities: _Float64Array, right: _BoolArray) -> float | None:
    """Return how well probabilities tell right from wrong: the chance that a right word has the higher one of a pair.

    0.5 is blind, 1 is perfect; equal ones count half. None when all words are right, or all wrong.

    >>> area_under_curve(np.array([0.9, 0.2, 0.8, 0.1]), np.array([True, True, False, False]))
    0.75
    """
    n_right = int(right.sum())
    n_pairs = n_right * (len(right) - n_right)
    if not n_pairs:
        return None
    _, inverse, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # from 1; equal ones share the mean of theirs
    return float((ranks[right].sum() - n_right * (n_right + 1) / 2) / n_pairs)


def _bare(word: str) -> str:
    """Return a word without the punctuation around it; a word that is nothing else stays."""
    return _AROUND.sub("", word) or word


def _is_rising(values: _Float64Array) -> bool:
    return bool(((values >= 0) & (values <= 1)).all() and (np.diff(values) >= 0).all())
