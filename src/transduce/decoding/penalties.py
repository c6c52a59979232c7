"""The length penalty, without which beam search prefers short translations."""

from __future__ import annotations

__all__ = ["length_penalty"]


def length_penalty(n_tokens: int, alpha: float) -> float:
    """Return what the log-probability of a hypothesis is divided by: ``((5 + |Y|) / 6) ** alpha``.

    Paper: section 6.1, which takes the formula from Wu et al. (2016), equation 14. Neither says whether |Y| counts
    EOS; here it does, so that an empty translation has length 1 and penalty 1.

    Args:
        n_tokens: |Y|, the tokens of the hypothesis, EOS counted.
        alpha: 0 compares plain log-probabilities; the paper uses 0.6.

    >>> round(length_penalty(10, 0.6), 2), round(length_penalty(20, 0.6), 2)
    (1.73, 2.35)
    """
    return float(((5 + n_tokens) / 6) ** alpha)
