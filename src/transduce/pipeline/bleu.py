"""Scoring of finished translations against references."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import STDIN, StrPath, check_readable, read_lines
from transduce.base.log import logger
from transduce.metrics.bleu import BleuTokenizer, bleu, chrf, looks_tokenized, needs_other_tokenizer
from transduce.metrics.score import Score

__all__ = ["BleuReport", "bleu_files"]


@dataclass(frozen=True)
class BleuReport:
    """Scores of one output."""

    bleu: Score
    """sacreBLEU."""
    chrf: Score
    """chrF2."""
    n_sentences: int
    """Lines scored."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self)


def bleu_files(
    hypotheses: StrPath,
    references: StrPath,
    *,
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
) -> BleuReport:
    """Score a file of translations against a file of references, line by line.

    Args:
        hypotheses: Detokenized translations, one a line.
        references: Detokenized references, one a line.
        tokenize: sacreBLEU's tokenizer.
        lowercase: True: case does not count for BLEU.

    Raises:
        DataError: A file is missing or not UTF-8, the counts differ, or a reference is empty.
    """
    hypotheses, references = Path(hypotheses), Path(references)
    if hypotheses == references == STDIN:
        raise DataError("-: both the translations and the references are standard input; give a file for one of them")
    check_readable(hypotheses)
    check_readable(references)
    ours, theirs = list(read_lines(hypotheses)), list(read_lines(references))
    report = BleuReport(
        bleu=bleu(ours, theirs, tokenize=tokenize, lowercase=lowercase),
        chrf=chrf(ours, theirs),
        n_sentences=len(ours),
    )
    if looks_tokenized(ours) and not looks_tokenized(theirs):
        logger.warning(
            "%s looks tokenized and the references do not: detokenize it, or BLEU is not comparable", hypotheses
        )
    if tokenize == "13a" and needs_other_tokenizer(theirs):
        logger.warning(
            "%s is written without spaces, where '13a' finds no words: use --tokenize zh or char", references
        )
    return report
