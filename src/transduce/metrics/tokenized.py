"""BLEU on tokenized text, as papers before sacreBLEU printed it: for comparison with those figures, never by default."""

from __future__ import annotations

from collections.abc import Sequence

from transduce.base.extras import require
from transduce.metrics.score import Score, check_counts

__all__ = ["moses_tokenize", "tokenized_bleu"]


def moses_tokenize(texts: Sequence[str], language: str) -> list[str]:
    """Lowercase, normalize punctuation and tokenize as the Moses scripts do, special characters escaped.

    Args:
        texts: Plain text, one sentence each.
        language: BCP 47 code, for its abbreviations and quotation marks.

    >>> moses_tokenize(["Zwei Männer, ein Hund."], "de")
    ['zwei männer , ein hund .']
    """
    sacremoses = require("sacremoses", extra="score", purpose="Moses tokenization")
    code = language.partition("-")[0]
    normalizer = sacremoses.MosesPunctNormalizer(lang=code)
    tokenizer = sacremoses.MosesTokenizer(lang=code)
    return [str(tokenizer.tokenize(normalizer.normalize(text.lower()), return_str=True)) for text in texts]


def tokenized_bleu(hypotheses: Sequence[str], references: Sequence[str], *, language: str) -> Score:
    """Compute BLEU on lowercased, Moses-tokenized text without smoothing, as multi-bleu.perl did.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: Detokenized references, in the same order.
        language: The target language, as a BCP 47 code.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, references)
    sacrebleu = require("sacrebleu.metrics", extra="score", purpose="Scoring")
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
    result = metric.corpus_score(moses_tokenize(hypotheses, language), [moses_tokenize(references, language)])
    signature = (
        str(metric.get_signature()).replace("tok:none", f"tok:moses-{language}").replace("case:mixed", "case:lc")
    )
    return Score("tokenized BLEU", min(float(result.score), 100.0), signature)
