"""Every BLEU that people print, side by side: of one output they lie several points apart, and each is right.

The paper does not say which it prints. The authors' own script for English-German tokenizes with Moses, splits compounds
at their hyphens and runs ``multi-bleu.perl``; papers of 2017 on English-French print the same without the splitting.
Paper: section 6.1, Table 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transduce.metrics.bleu import bleu_statistics, choose_tokenizer
from transduce.metrics.score import Score, check_counts
from transduce.metrics.statistics import Statistics, chrf_statistics
from transduce.metrics.tokenized import (
    moses_code,
    moses_tokenize,
    multi_bleu_statistics,
    normalize_punctuation,
    replace_unicode_punctuation,
    split_compounds,
)

__all__ = [
    "SPLIT_BLEU",
    "TOKENIZED_BLEU",
    "all_flavours",
    "flavour_statistics",
    "paper_note",
    "split_bleu_statistics",
    "tokenized_bleu_statistics",
]

TOKENIZED_BLEU = "tokenized BLEU"
"""Moses tokenizer and multi-bleu, cased: the paper's figures for English-French."""
SPLIT_BLEU = "split BLEU"
"""The same with compounds split: the paper's figures for English-German."""


def all_flavours(hypotheses: Sequence[str], *references: Sequence[str], language: str) -> tuple[Score, ...]:
    """Compute all flavours of BLEU, and chrF2 and chrF2++, of one output.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        language: The target language, as a BCP 47 code.

    Returns:
        ``BLEU`` (sacreBLEU's default) first. Text written without spaces has no flavours that Moses tokenizes.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.

    >>> scores = all_flavours(["Ein Well-Hund."], ["Ein Well-Hund."], language="de")
    >>> [score.name for score in scores]  # doctest: +NORMALIZE_WHITESPACE
    ['BLEU', 'BLEU lc', 'BLEU intl', 'BLEU intl lc', 'tokenized BLEU', 'tokenized BLEU lc', 'split BLEU', 'split BLEU lc',
     'tokenized BLEU norm lc', 'chrF2', 'chrF2++']
    """
    return tuple(statistics.score() for statistics in flavour_statistics(hypotheses, *references, language=language))


def flavour_statistics(hypotheses: Sequence[str], *references: Sequence[str], language: str) -> Iterator[Statistics]:
    """Yield what :func:`all_flavours` scores; the arguments are the same.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, *references)
    tokenizer = choose_tokenizer(references[0])
    for tokenize in ("13a", "intl") if tokenizer == "13a" else (tokenizer,):
        for lowercase in (False, True):
            name = " ".join(["BLEU", *(["intl"] if tokenize == "intl" else []), *(["lc"] if lowercase else [])])
            found = bleu_statistics(hypotheses, *references, tokenize=tokenize, lowercase=lowercase)
            yield replace(found, name=name)
    if tokenizer == "13a":
        yield from _tokenized_flavours(hypotheses, *references, language=language)
    yield chrf_statistics(hypotheses, *references)
    yield chrf_statistics(hypotheses, *references, word_order=2)


def tokenized_bleu_statistics(
    hypotheses: Sequence[str], *references: Sequence[str], language: str, lowercase: bool = False
) -> Statistics:
    """Count for BLEU as ``multi-bleu.perl`` computed it, on text that ``tokenizer.perl`` has tokenized.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        language: The target language, as a BCP 47 code.
        lowercase: True: as with ``-lc``, which lowers A to Z alone.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    tokenized = [moses_tokenize(side, language) for side in (hypotheses, *references)]
    return _multi_bleu(TOKENIZED_BLEU, f"moses-{moses_code(language)}", lowercase, tokenized)


def split_bleu_statistics(
    hypotheses: Sequence[str], *references: Sequence[str], language: str, lowercase: bool = False
) -> Statistics:
    """Count for BLEU as the paper's authors computed it for German: tokenized, then split at hyphens inside words.

    As in their script, English quotation marks and the like are first made ASCII in the output, and not in the references.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        language: The target language, as a BCP 47 code.
        lowercase: True: as with ``-lc``, which lowers A to Z alone.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    sides = (replace_unicode_punctuation(hypotheses), *references)
    tokenized = [split_compounds(moses_tokenize(side, language)) for side in sides]
    return _multi_bleu(SPLIT_BLEU, f"moses-{moses_code(language)}+atat", lowercase, tokenized)


def paper_note(language: str) -> str:
    """Say in one line which flavour the figures of Table 2 are.

    Args:
        language: The target language, as a BCP 47 code.

    >>> paper_note("de")
    "The paper's figures for English-German (Table 2) are split BLEU of newstest2014."
    """
    match language.partition("-")[0].lower():
        case "de":
            return f"The paper's figures for English-German (Table 2) are {SPLIT_BLEU} of newstest2014."
        case "fr":
            return f"The paper's figures for English-French (Table 2) are {TOKENIZED_BLEU} of newstest2014."
        case _:
            return f"The paper's figures are {SPLIT_BLEU} for English-German and {TOKENIZED_BLEU} for English-French."


def _tokenized_flavours(hypotheses: Sequence[str], *references: Sequence[str], language: str) -> Iterator[Statistics]:
    ours, *theirs = (moses_tokenize(side, language) for side in (hypotheses, *references))
    plain = replace_unicode_punctuation(hypotheses)
    changed = iter(moses_tokenize([b for a, b in zip(hypotheses, plain, strict=True) if a != b], language))
    plain = [next(changed) if a != b else text for a, b, text in zip(hypotheses, plain, ours, strict=True)]
    split = [split_compounds(side) for side in (plain, *theirs)]
    for lowercase in (False, True):
        yield _multi_bleu(TOKENIZED_BLEU, f"moses-{moses_code(language)}", lowercase, [ours, *theirs])
    for lowercase in (False, True):
        yield _multi_bleu(SPLIT_BLEU, f"moses-{moses_code(language)}+atat", lowercase, split)
    # Papers on Multi30k: lowercase.perl, which knows all letters, then normalize-punctuation.perl, then tokenizer.perl.
    normalized = [
        moses_tokenize(normalize_punctuation([text.lower() for text in side], language), language)
        for side in (hypotheses, *references)
    ]
    yield _multi_bleu(f"{TOKENIZED_BLEU} norm", f"norm+moses-{moses_code(language)}", True, normalized)


def _multi_bleu(name: str, tokenized_by: str, lowercase: bool, tokenized: Sequence[Sequence[str]]) -> Statistics:
    ours, *theirs = tokenized
    full = f"{name} lc" if lowercase else name
    return multi_bleu_statistics(ours, *theirs, name=full, tokenized_by=tokenized_by, lowercase=lowercase)
