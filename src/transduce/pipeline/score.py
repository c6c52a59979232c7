"""Forced decoding: how probable a model finds given translations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from transduce.base.files import StrPath
from transduce.decoding.score import PairScore, score_pairs
from transduce.pipeline.bundles import open_model
from transduce.text.pairs import SentencePair, read_parallel

__all__ = ["read_checked_parallel", "score"]


def score(bundle: StrPath, src: StrPath, tgt: StrPath, *, overrides: Sequence[str] = ()) -> Iterator[PairScore]:
    """Score the lines of a file of translations, each given its line of the source, under a model.

    The bundle is opened at once, and the lines are counted; they are read again when the scores are asked for, in memory
    that does not grow with their number.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        src: Source sentences.
        tgt: Their translations, line by line: the model's own, another's, or references.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong, or the counts of lines differ.
    """
    pairs = read_checked_parallel(Path(src), Path(tgt))
    model = open_model(bundle, overrides)
    return score_pairs(model.engine, model.bundle.tokenizers, pairs, model.settings)


def read_checked_parallel(src: Path, tgt: Path) -> Iterator[SentencePair]:
    """Yield the pairs of two files whose lines have been counted first, so that nothing is printed for files out of step.

    Standard input and pipes can be read only once: of those, unequal counts are noticed at the end.

    Raises:
        DataError: A file cannot be read, or the counts of lines differ.
    """
    pairs = read_parallel(src, tgt)
    if src.is_file() and tgt.is_file():
        for _ in pairs:
            pass
        pairs = read_parallel(src, tgt)
    return pairs
