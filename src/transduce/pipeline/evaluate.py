"""Translating a test set and scoring it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_file, check_readable, check_writable_directory, read_lines
from transduce.bundle import find_bundle
from transduce.bundle.directory import read_bundle
from transduce.decoding.score import score_targets
from transduce.metrics.bleu import BleuTokenizer, bleu, chrf
from transduce.metrics.perplexity import perplexity
from transduce.metrics.score import Score, check_counts
from transduce.metrics.tokenized import tokenized_bleu as score_tokenized
from transduce.pipeline.bundles import read_run_settings
from transduce.pipeline.translate import open_translator

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
    output: StrPath | None = None,
    tokenize: BleuTokenizer = "13a",
    tokenized_bleu: bool = False,
    overrides: Sequence[str] = (),
) -> EvaluateReport:
    """Translate a test set with a bundle and score the result.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        src: Source sentences. Not given: the test set that was prepared with the data of the run.
        ref: References, line by line.
        output: Also write the translations to this file.
        tokenize: sacreBLEU's tokenizer.
        tokenized_bleu: True: also BLEU on lowercased, Moses-tokenized text, as many papers print it.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong, or the counts of lines differ.
    """
    bundle = Path(bundle)
    src, ref = _test_set(bundle, src, ref)
    if output is not None:
        output = Path(output)
        check_writable_directory(output.parent)
    sources, references = list(read_lines(src)), list(read_lines(ref))
    check_counts(sources, references)
    translator = open_translator(bundle, [*overrides, "decode.n_best=1"])
    started = time.perf_counter()
    hypotheses = translator.translate(sources)
    seconds = time.perf_counter() - started
    if output is not None:
        with atomic_file(output) as temporary:
            temporary.write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8", newline="\n")
    scores = [bleu(hypotheses, references, tokenize=tokenize), chrf(hypotheses, references)]
    if tokenized_bleu:
        language = read_run_settings(read_bundle(bundle)).data.tgt_lang
        scores.append(score_tokenized(hypotheses, references, language=language))
    scored = score_targets(
        translator.engine,
        translator.tokenizers.src.encode_batch(sources),
        translator.tokenizers.tgt.encode_batch(references),
        batch_tokens=translator.settings.batch_tokens,
    )
    n_tokens = sum(target.n_tokens for target in scored)
    return EvaluateReport(
        name=str(src),
        scores=tuple(scores),
        perplexity=perplexity(-sum(target.log_prob for target in scored), n_tokens),
        n_tokens=n_tokens,
        n_sentences=len(sources),
        seconds=seconds,
    )


def _test_set(bundle: Path, src: StrPath | None, ref: StrPath | None) -> tuple[Path, Path]:
    if (src is None) != (ref is None):
        raise DataError("--src and --ref belong together: give both, or neither for the test set of the run")
    if src is not None and ref is not None:
        given = Path(src), Path(ref)
        for path in given:
            check_readable(path)
        return given
    run = find_bundle(bundle).parent
    note = run / "run.json"
    data = Path(json.loads(note.read_text(encoding="utf-8"))["data"]) if note.is_file() else run / "data"
    test = data / "test"
    if not (test / "src.txt").is_file():
        raise DataError(f"{bundle}: there is no test set in {test}; give one with --src and --ref")
    return test / "src.txt", test / "tgt.txt"
