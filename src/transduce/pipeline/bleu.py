"""Scoring of finished translations against references."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import STDIN, StrPath
from transduce.metrics.bleu import BleuTokenizer
from transduce.metrics.flavours import paper_note
from transduce.metrics.score import Score, check_counts
from transduce.pipeline.scoring import compute_scores, moses_language, read_sides, warn_of_tokenized, warn_of_unspaced

__all__ = ["BleuReport", "bleu_files"]


@dataclass(frozen=True)
class BleuReport:
    """Scores of one output."""

    scores: tuple[Score, ...]
    """BLEU first, and all others that were asked for."""
    n_sentences: int
    """Lines scored."""
    paper: str = ""
    """With all flavours: which of them the paper's figures are."""

    @property
    def bleu(self) -> Score:
        """BLEU as sacreBLEU computes it."""
        return self.scores[0]

    @property
    def chrf(self) -> Score:
        """chrF2."""
        return next(score for score in self.scores if score.name == "chrF2")

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {"bleu": asdict(self.bleu), "chrf": asdict(self.chrf)} | asdict(self)


def bleu_files(
    hypotheses: StrPath,
    *references: StrPath,
    tokenize: BleuTokenizer = "13a",
    lowercase: bool = False,
    flavours: bool = False,
    language: str | None = None,
    ter: bool = False,
    confidence: bool = False,
) -> BleuReport:
    """Score a file of translations against one or more files of references, line by line.

    Args:
        hypotheses: Detokenized translations, one a line.
        references: Detokenized references, one a line.
        tokenize: sacreBLEU's tokenizer.
        lowercase: True: case does not count for BLEU.
        flavours: True: all flavours of BLEU, whatever the tokenizer and the case.
        language: The target language, which the flavours need; not given, a file name says it, such as ``test.de``.
        ter: True: also TER, which takes longer than all else together.
        confidence: True: each score with its 95 % interval.

    Raises:
        DataError: A file is missing or not UTF-8, the counts differ, or a reference is empty.
    """
    output, *given = (Path(path) for path in (hypotheses, *references))
    if output == STDIN and STDIN in given:
        raise DataError("-: both the translations and the references are standard input; give a file for one of them")
    flavours_for = moses_language(language, [*given, output]) if flavours else None
    ours, *theirs = read_sides([output, *given])
    check_counts(ours, *theirs, names=[str(path) for path in (output, *given)])
    scores = compute_scores(
        ours,
        *theirs,
        tokenize=tokenize,
        lowercase=lowercase,
        flavours_for=flavours_for,
        ter=ter,
        confidence=confidence,
    )
    warn_of_tokenized(output, ours, theirs[0])
    if not flavours:
        warn_of_unspaced(given[0], theirs[0], tokenize)
    return BleuReport(scores, len(ours), "" if flavours_for is None else paper_note(flavours_for))
