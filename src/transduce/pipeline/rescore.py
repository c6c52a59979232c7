"""Ranking n-best lists anew with a second model."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import STDIN, StrPath, check_readable, read_lines
from transduce.decoding.rescore import RescoredText, RescoreWeights, rescore_lists
from transduce.pipeline.bundles import open_model
from transduce.pipeline.nbest import NBestList, read_nbest

__all__ = ["RescoredList", "rescore"]


@dataclass(frozen=True)
class RescoredList:
    """An n-best list in its new order."""

    before: NBestList
    """As it stood in the file."""
    texts: list[RescoredText]
    """Its translations, best first."""


def rescore(
    bundle: StrPath,
    nbest: StrPath,
    src: StrPath,
    *,
    weights: RescoreWeights | None = None,
    overrides: Sequence[str] = (),
) -> Iterator[RescoredList]:
    """Let a model read the n-best lists of a file and rank them anew.

    Args:
        bundle: The model that reads: a bundle, or a run directory with a finished model.
        nbest: What ``transduce translate --n-best`` printed, with ``--json`` or without.
        src: The source that was translated; every line must have its list.
        weights: How the old and the new score are added up; not given, the model decides alone.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong; lists that do not fit the source are noticed as they are read.
    """
    nbest, src = Path(nbest), Path(src)
    if nbest == src == STDIN:
        raise DataError("-: both the n-best list and the source are standard input; give a file for one of them")
    check_readable(src)
    before, read = itertools.tee(_in_step(read_nbest(nbest), src, nbest))
    model = open_model(bundle, overrides)
    after = rescore_lists(
        model.engine,
        model.bundle.tokenizers,
        ((source, listed.texts) for source, listed in read),
        model.settings,
        weights if weights is not None else RescoreWeights(),
    )
    return (RescoredList(listed, texts) for (_, listed), texts in zip(before, after, strict=True))


def _in_step(lists: Iterable[NBestList], src: Path, nbest: Path) -> Iterator[tuple[str, NBestList]]:
    """Yield each line of the source with its list."""
    for number, (source, listed) in enumerate(itertools.zip_longest(read_lines(src), lists), start=1):
        if source is None:
            raise DataError(f"{nbest}: has a list for line {listed.line}, but {src} has {number - 1} lines")
        if listed is None or listed.line != number:
            found = "nothing" if listed is None else f"line {listed.line}"
            raise DataError(
                f"{nbest}: after the lists of {number - 1} lines stands {found}, and not line {number} of {src}; every line "
                "of the source needs its list, in order"
            )
        yield source, listed
