"""BLEU and chrF as sacreBLEU computes them, on detokenized text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from transduce.base.extras import require
from transduce.metrics.score import Score, check_counts

__all__ = ["BleuTokenizer", "bleu", "choose_tokenizer", "chrf", "looks_tokenized", "needs_other_tokenizer"]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]
"""sacreBLEU's tokenizers that need no further package."""

_SHARE = 0.5


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
) -> Score:
    """Compute corpus BLEU against one reference a line.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: Detokenized references, in the same order.
        tokenize: sacreBLEU's tokenizer; ``13a`` is its default, ``zh`` and ``char`` are for text without spaces.
        lowercase: True: case does not count.

    Raises:
        DataError: The counts differ, or there is nothing to score.

    >>> bleu(["the cat sat on the mat ."], ["the cat sat on the mat ."]).value
    100.0
    """
    check_counts(hypotheses, references)
    sacrebleu = require("sacrebleu.metrics", extra="score", purpose="Scoring")
    metric = sacrebleu.BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score("BLEU", min(float(result.score), 100.0), str(metric.get_signature()))


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Compute chrF2 (character 6-grams, beta 2) against one reference a line.

    Raises:
        DataError: The counts differ, or there is nothing to score.
    """
    check_counts(hypotheses, references)
    sacrebleu = require("sacrebleu.metrics", extra="score", purpose="Scoring")
    metric = sacrebleu.CHRF()
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score("chrF2", float(result.score), str(metric.get_signature()))


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
    letters = [character for text in references for character in text if character.isalpha()]
    unspaced = sum(_is_unspaced(character) for character in letters)
    return bool(letters) and unspaced > _SHARE * len(letters)


def choose_tokenizer(references: Sequence[str]) -> BleuTokenizer:
    """Return sacreBLEU's default, or, for text written without spaces, the tokenizer that can cut it.

    >>> choose_tokenizer(["Guten Tag."]), choose_tokenizer(["今天天气很好。"]), choose_tokenizer(["ありがとう"])
    ('13a', 'zh', 'char')
    """
    if not needs_other_tokenizer(references):
        return "13a"
    others = any(
        "\u3040" <= character <= "\u30ff" or "\u0e00" <= character <= "\u17ff"
        for text in references
        for character in text
    )
    return "char" if others else "zh"


def _is_unspaced(character: str) -> bool:
    """Say whether a letter is Thai, Lao, Khmer or Myanmar, kana, or a Han ideograph."""
    ranges = (
        ("\u0e00", "\u0eff"),
        ("\u1000", "\u109f"),
        ("\u1780", "\u17ff"),
        ("\u3040", "\u30ff"),
        ("\u3400", "\u9fff"),
    )
    return any(low <= character <= high for low, high in ranges) or "\U00020000" <= character <= "\U0003ffff"
