"""The length penalty, without which beam search prefers short translations, and the coverage penalty."""

from __future__ import annotations

import numpy as np

from transduce.decoding.engine import FloatArray

__all__ = ["coverage_penalty", "length_penalty"]

_LEAST_ATTENTION = 1e-9
"""What a source token counts that no target token has looked at, since log 0 would make every such score -inf."""


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


def coverage_penalty(attention: FloatArray, beta: float) -> float:
    """Return what is added to the score of a hypothesis: ``beta * sum_i log(min(sum_j p_ij, 1))``, at most 0.

    It is 0 when every source token gets as much attention as one target token has to give. Wu et al. (2016), equation 14.

    Args:
        attention: ``[t + 1, s + 1]``: how each target token (the last: EOS) divides its attention over the source
            tokens. The last column, EOS, is left out: nothing of it can remain untranslated.
        beta: Wu et al. use 0.2.

    >>> both, first = np.float32([[1, 0, 0], [0, 1, 0]]), np.float32([[1, 0, 0], [0.5, 0.5, 0]])
    >>> coverage_penalty(both, 0.2), round(coverage_penalty(first, 0.2), 4)
    (0.0, -0.1386)
    """
    received = attention[:, :-1].sum(axis=0, dtype=np.float64)
    return float(beta * np.log(np.clip(received, _LEAST_ATTENTION, 1)).sum())
