"""Translating a test set and scoring it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import StrPath, atomic_file, check_writable_file, read_lines
from transduce.base.log import logger, plural
from transduce.bundle import find_bundle, read_bundle
from transduce.data.languages import find_languages
from transduce.decoding.score import ScoreTotal, longest_side, score_pairs
from transduce.metrics.bleu import BleuTokenizer, choose_tokenizer
from transduce.metrics.flavours import paper_note
from transduce.metrics.perplexity import TextSize, bits_per_character, measure_text, perplexity
from transduce.metrics.score import Score, check_counts
from transduce.pipeline.bundles import read_run_settings
from transduce.pipeline.parts import find_part
from transduce.pipeline.scoring import compute_scores, moses_language
from transduce.pipeline.translate import open_translator
from transduce.text.segments import SentencePair

if TYPE_CHECKING:
    from transduce.decoding.translator import Translator

__all__ = ["EvaluateReport", "evaluate"]


@dataclass(frozen=True)
class EvaluateReport:
    """Scores of a model on a test set."""

    name: str
    """What was translated."""
    scores: tuple[Score, ...]
    """BLEU, chrF2 and what else was asked for."""
    perplexity: float
    """Per token of the references, EOS included."""
    perplexity_per_word: float
    """Per word of the references between white space, the end of a sentence counted as one more."""
    bits_per_character: float
    """Of the references, the end of a sentence counted as one more character."""
    n_tokens: int
    """Tokens of the references, EOS included."""
    n_sentences: int
    """Lines translated."""
    seconds: float
    """Time for translating, loading not counted."""
    paper: str = ""
    """With all flavours: which of them the paper's figures are."""

    @property
    def sentences_per_second(self) -> float:
        """Speed of translating, loading not counted."""
        return self.n_sentences / self.seconds

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self) | {"sentences_per_second": self.sentences_per_second}


def evaluate(
    bundle: StrPath,
    src: StrPath | None = None,
    ref: StrPath | None = None,
    *,
    part: str = "test",
    output: StrPath | None = None,
    tokenize: BleuTokenizer | None = None,
    flavours: bool = False,
    language: str | None = None,
    ter: bool = False,
    confidence: bool = False,
    overrides: Sequence[str] = (),
) -> EvaluateReport:
    """Translate a test set with a bundle and score the result.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        src: Source sentences. Not given: a part of the data of the run.
        ref: References, line by line.
        part: Which part of the data of the run: ``test``, ``dev``, or a further test set of a named corpus.
        output: Also write the translations to this file.
        tokenize: sacreBLEU's tokenizer; not given, its default, or ``zh`` or ``char`` for text written without spaces.
        flavours: True: all flavours of BLEU, those that old papers print among them.
        language: The target language, which the flavours need; not given, as the data of the run or a file name says.
        ter: True: also TER, which takes longer than the other scores together.
        confidence: True: each score with its 95 % interval.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong, or the counts of lines differ.
    """
    path = find_bundle(bundle)
    source_file, reference_file = find_part(path, src, ref, part)
    if output is not None:
        check_writable_file(Path(output))
    sources, references = list(read_lines(source_file)), list(read_lines(reference_file))
    check_counts(sources, references)
    flavours_for = _find_target(path, language, reference_file) if flavours else None
    for package in ("sacrebleu", *(["sacremoses"] if flavours else [])):
        require(package, extra="score", purpose="Scoring")  # before minutes of translating
    translator = open_translator(path, [*overrides, "decode.n_best=1"])
    read = _read_references(translator, sources, references)
    started = time.perf_counter()
    hypotheses = translator.translate(sources)
    seconds = time.perf_counter() - started
    if output is not None:
        with atomic_file(Path(output)) as temporary:
            temporary.write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8", newline="\n")
    scores = compute_scores(
        hypotheses,
        references,
        tokenize=tokenize or choose_tokenizer(references),
        flavours_for=flavours_for,
        ter=ter,
        confidence=confidence,
    )
    return EvaluateReport(
        name=str(source_file),
        scores=scores,
        perplexity=read.total.perplexity,
        perplexity_per_word=perplexity(-read.total.log_prob, read.size.n_words),
        bits_per_character=bits_per_character(-read.total.log_prob, read.size.n_characters),
        n_tokens=read.total.n_tokens,
        n_sentences=len(sources),
        seconds=seconds,
        paper="" if flavours_for is None else paper_note(flavours_for),
    )


def _find_target(bundle: Path, language: str | None, references: Path) -> str:
    """Return the target language: as given, as the data of the run says, or as the name of the references ends."""
    return moses_language(language or find_languages(read_run_settings(read_bundle(bundle)).data).tgt, [references])


class _References(NamedTuple):
    """How the model finds the references."""

    total: ScoreTotal
    size: TextSize
    """Of those that were read."""


def _read_references(translator: Translator, sources: Sequence[str], references: Sequence[str]) -> _References:
    """Score the references. Pairs that are too long are left out.

    Attention over a line of 100,000 tokens takes tens of gigabytes; translation cuts such a line at the same limit.
    """
    total, pairs = ScoreTotal(), itertools.starmap(SentencePair, zip(sources, references, strict=True))
    read = []
    found = score_pairs(translator.engine, translator.tokenizers, pairs, translator.settings)
    for reference, pair in zip(references, found, strict=True):
        total.add(pair)
        if pair.score is not None:
            read.append(reference)
    if total.n_long:
        logger.warning(
            "%s left out of the perplexity: more than %s tokens (decode.max_src_tokens, or the model's positions)",
            plural(total.n_long, "pair"),
            f"{longest_side(translator.engine, translator.settings):,}",
        )
    if not total.n_pairs:
        raise DataError("no pair is left for the perplexity: every source is blank or every pair too long")
    return _References(total, measure_text(read))
