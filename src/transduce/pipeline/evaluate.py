"""Translating a test set and scoring it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_file, check_writable_file, read_lines
from transduce.base.log import logger, plural
from transduce.bundle import find_bundle, read_bundle
from transduce.data.languages import find_languages
from transduce.decoding.score import ScoreTotal, longest_side, score_pairs
from transduce.metrics.bleu import BleuTokenizer, bleu, choose_tokenizer, chrf
from transduce.metrics.score import Score, check_counts
from transduce.metrics.tokenized import tokenized_bleu as score_tokenized
from transduce.pipeline.bundles import read_run_settings
from transduce.pipeline.parts import find_part
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
    """BLEU, chrF2 and, where asked for, tokenized BLEU."""
    perplexity: float
    """Per token of the references, EOS included."""
    n_tokens: int
    """Tokens of the references, EOS included."""
    n_sentences: int
    """Lines translated."""
    seconds: float
    """Time for translating, loading not counted."""

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
    tokenized_bleu: bool = False,
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
        tokenized_bleu: True: also BLEU on lowercased, Moses-tokenized text, as many papers print it.
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
    if tokenize is None:
        tokenize = choose_tokenizer(references)
    translator = open_translator(path, [*overrides, "decode.n_best=1"])
    total = _read_references(translator, sources, references)
    started = time.perf_counter()
    hypotheses = translator.translate(sources)
    seconds = time.perf_counter() - started
    if output is not None:
        with atomic_file(Path(output)) as temporary:
            temporary.write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8", newline="\n")
    scores = [bleu(hypotheses, references, tokenize=tokenize), chrf(hypotheses, references)]
    if tokenized_bleu:
        language = find_languages(read_run_settings(read_bundle(path)).data).tgt
        if language is None:
            raise DataError(f"{path}: the target language is not known, and tokenized BLEU needs it; set data.tgt_lang")
        scores.append(score_tokenized(hypotheses, references, language=language))
    return EvaluateReport(
        name=str(source_file),
        scores=tuple(scores),
        perplexity=total.perplexity,
        n_tokens=total.n_tokens,
        n_sentences=len(sources),
        seconds=seconds,
    )


def _read_references(translator: Translator, sources: Sequence[str], references: Sequence[str]) -> ScoreTotal:
    """Score the references. Pairs that are too long are left out.

    Attention over a line of 100,000 tokens takes tens of gigabytes; translation cuts such a line at the same limit.
    """
    total, pairs = ScoreTotal(), itertools.starmap(SentencePair, zip(sources, references, strict=True))
    for pair in score_pairs(translator.engine, translator.tokenizers, pairs, translator.settings):
        total.add(pair)
    if total.n_long:
        logger.warning(
            "%s left out of the perplexity: more than %s tokens (decode.max_src_tokens, or the model's positions)",
            plural(total.n_long, "pair"),
            f"{longest_side(translator.engine, translator.settings):,}",
        )
    if not total.n_pairs:
        raise DataError("no pair is left for the perplexity: every source is blank or every pair too long")
    return total
