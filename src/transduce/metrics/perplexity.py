"""Perplexity from log-probabilities, never from the smoothed loss."""

from __future__ import annotations

import math

from transduce.base.errors import DataError

__all__ = ["perplexity"]


def perplexity(nll_nats: float, n_tokens: int) -> float:
    """Return exp of the mean negative log-probability of a token: perplexity per word-piece, as in Table 3.

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
