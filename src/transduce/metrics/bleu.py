"""BLEU, chrF and TER as sacreBLEU computes them, on detokenized text.

sacreBLEU tokenizes, and searches for the edits of TER. The counting is ours (:mod:`transduce.metrics.statistics`), ten
times as fast; a test holds the figures equal to sacreBLEU's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from transduce.base.extras import require
from transduce.metrics.score import Score, check_counts
from transduce.metrics.statistics import Statistics, chrf_statistics, ter_statistics, word_bleu_statistics

__all__ = [
    "BleuTokenizer",
    "bleu",
    "bleu_statistics",
    "choose_tokenizer",
    "chrf",
    "looks_tokenized",
    "needs_other_tokenizer",
    "ter",
]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]
"""sacreBLEU's tokenizers that need no further package."""

_SHARE = 0.5

_UNSPACED = re.compile(  # Thai, Lao, Myanmar, Khmer, kana, Han ideographs
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)

_NOT_CHINESE = re.compile("[\u0e00-\u17ff\u3040-\u30ff]")


def bleu(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
) -> Score:
    """Compute corpus BLEU against one or more references a line.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        tokenize: sacreBLEU's tokenizer; ``13a`` is its default, ``zh`` and ``char`` are for text without spaces.
        lowercase: True: case does not count.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.

    >>> bleu(["the cat sat on the mat ."], ["the cat sat on the mat ."]).value
    100.0
    """
    return bleu_statistics(hypotheses, *references, tokenize=tokenize, lowercase=lowercase).score()


def bleu_statistics(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
) -> Statistics:
    """Count what :func:`bleu` scores; the arguments are the same.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, *references)
    sacrebleu = require("sacrebleu", extra="score", purpose="Scoring")
    tokenizer = sacrebleu.BLEU(tokenize=tokenize).tokenizer
    words, *others = (
        [tokenizer((text.lower() if lowercase else text).rstrip()).split() for text in side]
        for side in (hypotheses, *references)
    )
    signature = (
        f"nrefs:{len(references)}|case:{'lc' if lowercase else 'mixed'}|eff:no|tok:{tokenize}|smooth:exp"
        f"|version:{sacrebleu.__version__}"
    )
    return word_bleu_statistics(words, others, name="BLEU", signature=signature, smoothing="exp")


def chrf(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Compute chrF2 (character 6-grams, beta 2) against one or more references a line.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.

    >>> round(chrf(["a cat"], ["a hat"]).value, 1)
    27.1
    """
    return chrf_statistics(hypotheses, *references).score()


def ter(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Compute TER: edits for each hundred words of the reference. Lower is better, and case does not count.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.

    >>> ter(["on the mat sat the cat"], ["the cat sat on the mat"]).value.__round__(1)
    33.3
    """
    return ter_statistics(hypotheses, *references).score()


def looks_tokenized(hypotheses: Sequence[str]) -> bool:
    """Return True when most sentences end in a full stop that stands apart, as tokenized text does.

    sacreBLEU tokenizes for itself: BLEU of tokenized text looks better or worse than it is and cannot be compared.

    >>> looks_tokenized(["A dog runs ."]), looks_tokenized(["A dog runs."])
    (True, False)
    """
    apart = sum(text.rstrip().endswith((" .", " ?", " !")) for text in hypotheses)
    return bool(hypotheses) and apart > _SHARE * len(hypotheses)


def needs_other_tokenizer(references: Sequence[str]) -> bool:
    """Return True when most of the text is written without spaces (Chinese, Japanese, Thai), for which 13a is useless.

    >>> needs_other_tokenizer(["今天天气很好。"]), needs_other_tokenizer(["Guten Tag."])
    (True, False)
    """
    n_letters = sum(sum(map(str.isalpha, text)) for text in references)
    n_unspaced = sum(len(_UNSPACED.findall(text)) for text in references)
    return n_unspaced > _SHARE * n_letters


def choose_tokenizer(references: Sequence[str]) -> BleuTokenizer:
    """Return sacreBLEU's default, or, for text written without spaces, the tokenizer that can cut it.

    >>> choose_tokenizer(["Guten Tag."]), choose_tokenizer(["今天天气很好。"]), choose_tokenizer(["ありがとう"])
    ('13a', 'zh', 'char')
    """
    if not needs_other_tokenizer(references):
        return "13a"
    return "char" if any(_NOT_CHINESE.search(text) for text in references) else "zh"
