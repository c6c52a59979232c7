"""Perplexity from log-probabilities, never from the smoothed loss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from transduce.base.errors import DataError

__all__ = ["TextSize", "bits_per_character", "measure_text", "perplexity"]


@dataclass(frozen=True)
class TextSize:
    """How much text perplexity is divided by. The end of a sentence counts once, as EOS does among the pieces."""

    n_words: int
    """Runs of characters between white space, and one for the end of each sentence."""
    n_characters: int
    """Code points, spaces included, and one for the line feed that ends each sentence."""


def measure_text(texts: Iterable[str]) -> TextSize:
    """Count the words and characters of sentences.

    >>> measure_text(["Ein Hund.", "Ja"])
    TextSize(n_words=5, n_characters=13)
    """
    n_words = n_characters = 0
    for text in texts:
        n_words += len(text.split()) + 1
        n_characters += len(text) + 1
    return TextSize(n_words, n_characters)


def perplexity(nll_nats: float, n_tokens: int) -> float:
    """Return exp of the mean negative log-probability of a token: perplexity per word-piece, as in Table 3.

    Divided by :attr:`TextSize.n_words` instead, it is perplexity per word, which does not depend on the vocabulary of pieces.

    Args:
        nll_nats: Minus the sum of natural log-probabilities of the reference tokens, EOS included.
        n_tokens: Their number, EOS included, padding excluded.

    Raises:
        DataError: There are no tokens.

    >>> round(perplexity(2 * math.log(8), 2), 6)
    8.0
    """
    if n_tokens < 1:
        raise DataError("perplexity needs at least one token, and there are none")
    try:
        return math.exp(nll_nats / n_tokens)
    except OverflowError:
        return math.inf


def bits_per_character(nll_nats: float, n_characters: int) -> float:
    """Return the mean number of bits that a character costs.

    Args:
        nll_nats: Minus the sum of natural log-probabilities of the reference tokens, EOS included.
        n_characters: As :func:`measure_text` counts them.

    Raises:
        DataError: There are no characters.

    >>> round(bits_per_character(10 * math.log(2), 5), 6)
    2.0
    """
    if n_characters < 1:
        raise DataError("bits per character need at least one character, and there are none")
    return nll_nats / math.log(2) / n_characters
