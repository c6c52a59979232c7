"""What the verbs that score have in common: reading the files, the scores that were asked for, what to warn of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import STDIN, check_readable, read_lines
from transduce.base.log import logger
from transduce.data.languages import language_of_file
from transduce.metrics.bleu import (
    BleuTokenizer,
    bleu_statistics,
    choose_tokenizer,
    looks_tokenized,
    needs_other_tokenizer,
)
from transduce.metrics.flavours import flavour_statistics
from transduce.metrics.score import Score, check_counts
from transduce.metrics.significance import N_RESAMPLES, confidence_interval, drawn_signature
from transduce.metrics.statistics import Statistics, chrf_statistics, ter_statistics
from transduce.metrics.tokenized import moses_knows

__all__ = [
    "check_inputs",
    "compute_scores",
    "moses_language",
    "read_sides",
    "warn_of_language",
    "warn_of_tokenized",
    "warn_of_unspaced",
]


def read_sides(paths: Sequence[Path]) -> list[list[str]]:
    """Read files that belong together line by line.

    Raises:
        DataError: One cannot be read, or two of them are standard input.
    """
    check_inputs(paths)
    return [list(read_lines(path)) for path in paths]


def check_inputs(paths: Sequence[Path]) -> None:
    """Make sure that all files are there before any is read.

    Raises:
        DataError: One is not, or two of them are standard input.
    """
    if sum(path == STDIN for path in paths) > 1:
        raise DataError("-: only one file can be standard input; give a file for the others")
    for path in paths:
        check_readable(path)


def moses_language(language: str | None, paths: Sequence[Path]) -> str:
    """Return the target language as given, or as the first file name ends in one.

    Raises:
        DataError: Neither says it.

    >>> moses_language(None, [Path("out.txt"), Path("test.de.gz")])
    'de'
    """
    for found in (language, *(language_of_file(path.name) for path in paths)):
        if found:
            return found
    raise DataError(
        f"{paths[-1]}: Moses tokenizes differently for each language, and no file name ends in one; give --language"
    )


def compute_scores(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
    flavours_for: str | None = None,
    ter: bool = False,
    confidence: bool = False,
) -> tuple[Score, ...]:
    """Compute BLEU and chrF2, and what else was asked for.

    Args:
        hypotheses: Detokenized output, one sentence a line.
        references: One or more sets of detokenized references, in the same order.
        tokenize: sacreBLEU's tokenizer.
        lowercase: True: case does not count for BLEU.
        flavours_for: The target language: all flavours of BLEU, whatever the tokenizer and the case. None: that one.
        ter: True: also TER, which takes longer than all else together.
        confidence: True: each score with its 95 % interval by bootstrap, which its signature then says.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.
    """
    check_counts(hypotheses, *references)
    chosen: Iterator[Statistics]
    if flavours_for is not None:
        if choose_tokenizer(references[0]) == "13a":  # else there are no flavours that Moses tokenizes
            warn_of_language(flavours_for)
        chosen = flavour_statistics(hypotheses, *references, language=flavours_for)
    else:
        bleu = bleu_statistics(hypotheses, *references, tokenize=tokenize, lowercase=lowercase)
        chosen = iter([bleu, chrf_statistics(hypotheses, *references)])
    if ter and needs_other_tokenizer(references[0]):
        logger.warning(
            "the references are written without spaces, where TER takes a sentence for one word: leave --ter out, or cut all "
            "sides into words before"
        )
    found = [*chosen, *([ter_statistics(hypotheses, *references)] if ter else [])]
    return tuple(_with_interval(statistics) if confidence else statistics.score() for statistics in found)


def warn_of_tokenized(hypotheses: Path, ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Warn when translations are tokenized and their references are not."""
    if looks_tokenized(ours) and not looks_tokenized(theirs):
        logger.warning(
            "%s looks tokenized and the references do not: detokenize it, or BLEU is not comparable", hypotheses
        )


def warn_of_language(language: str) -> None:
    """Warn when Moses tokenizes a language as if it were English."""
    if not moses_knows(language):
        logger.warning(
            "language %s: Moses has no abbreviations for it and tokenizes as for English; is it the code of a language?",
            language,
        )


def warn_of_unspaced(references: Path, theirs: Sequence[str], tokenize: BleuTokenizer) -> None:
    """Warn when a tokenizer finds no words, since there are no spaces."""
    if tokenize == "13a" and needs_other_tokenizer(theirs):
        logger.warning(
            "%s is written without spaces, where '13a' finds no words: use --tokenize zh or char", references
        )


def _with_interval(statistics: Statistics) -> Score:
    signature = drawn_signature(statistics.signature, "bootstrap", N_RESAMPLES)
    return replace(statistics.score(), interval=confidence_interval(statistics), signature=signature)
