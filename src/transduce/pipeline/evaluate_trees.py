"""Parsing a test set and scoring it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_file, check_writable_file, read_lines
from transduce.base.log import logger, plural
from transduce.bundle import find_bundle, read_bundle
from transduce.data.treebank import Treebank
from transduce.decoding.score import ScoreTotal, score_pairs
from transduce.metrics.significance import confidence_interval
from transduce.pipeline.f1 import F1Report
from transduce.pipeline.parse import parse_and_score
from transduce.pipeline.parts import find_part
from transduce.pipeline.task import task_of
from transduce.pipeline.translate import open_translator
from transduce.text.repair import RepairCounts
from transduce.text.segments import SentencePair

__all__ = ["EvaluateTreesReport", "evaluate_trees", "parses"]


@dataclass(frozen=True)
class EvaluateTreesReport:
    """Scores of a parser on a test set."""

    name: str
    """What was parsed."""
    f1: F1Report
    """F1 as EVALB computes it, and all that belongs to it."""
    counts: RepairCounts
    """How many outputs were trees as they stood, and what was mended."""
    has_tags: bool
    """True: the parser finds tags, and the tagging accuracy is its own. False: tags are the gold ones."""
    perplexity: float
    """Per token of the gold trees: brackets, words, and the end."""
    seconds: float
    """Time for parsing, loading not counted."""

    @property
    def sentences_per_second(self) -> float:
        """Speed of parsing, loading not counted."""
        return self.counts.n_outputs / self.seconds

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {
            "name": self.name,
            **self.f1.as_dict(),
            "n_outputs": self.counts.n_outputs,
            "n_well_formed": self.counts.n_well_formed,
            "repaired": dict(self.counts.faults),
            "has_tags": self.has_tags,
            "perplexity": self.perplexity,
            "seconds": self.seconds,
            "sentences_per_second": self.sentences_per_second,
        }


def parses(bundle: StrPath) -> bool:
    """Tell whether the model of a bundle parses.

    Raises:
        BundleError: The bundle is missing, damaged or of another kind.
    """
    return task_of(read_bundle(find_bundle(bundle)).tokenizers) == "parsing"


def evaluate_trees(
    bundle: StrPath,
    ref: StrPath | None = None,
    *,
    part: str = "test",
    output: StrPath | None = None,
    overrides: Sequence[str] = (),
) -> EvaluateTreesReport:
    """Parse a test set with a bundle and score the trees.

    Args:
        bundle: A bundle of a model that parses, or a run directory with one.
        ref: Gold trees, whose sentences are parsed; sections may be chosen as in ``data.train``. None: a part of the data of
            the run.
        part: Which part of the data of the run: ``test`` or ``dev``.
        output: Also write the trees to this file, one a line, with the tags that they were scored with.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong, or there are no trees.
    """
    path = find_bundle(bundle)
    name, pairs = _read_gold(path, ref, part)
    if output is not None:
        check_writable_file(Path(output))
    translator = open_translator(path, [*overrides, "decode.n_best=1"])
    total = ScoreTotal()
    for score in score_pairs(translator.engine, translator.tokenizers, pairs, translator.settings):
        total.add(score)
    parsed = parse_and_score(translator, [pair.src for pair in pairs], [pair.tgt for pair in pairs])
    if output is not None:
        with atomic_file(Path(output)) as temporary:
            temporary.write_text("".join(f"{tree}\n" for tree in parsed.trees), encoding="utf-8", newline="\n")
    return EvaluateTreesReport(
        name=name,
        f1=F1Report(parsed.scores, confidence_interval(parsed.scores.statistics()), comparison=None),
        counts=parsed.counts,
        has_tags=parsed.has_tags,
        perplexity=total.perplexity,
        seconds=parsed.seconds,
    )


def _read_gold(bundle: Path, ref: StrPath | None, part: str) -> tuple[str, list[SentencePair]]:
    """Return the gold trees with their sentences, and what they are called."""
    if ref is None:
        files = find_part(bundle, None, None, part)
        return str(files[1]), list(itertools.starmap(SentencePair, zip(*map(read_lines, files), strict=True)))
    treebank, skipped = Treebank.from_name(str(ref)), Counter[str]()
    treebank.check()
    pairs = list(treebank.read(skipped))
    if not pairs:
        raise DataError(f"{treebank.name}: no trees to parse the sentences of")
    for reason, count in skipped.items():
        logger.info("%s: %s left out (%s)", treebank.name, plural(count, "tree"), reason)
    return treebank.name, pairs
