"""Fitting and measuring the confidence of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.base.files import StrPath, read_lines
from transduce.base.log import logger, plural
from transduce.bundle import find_bundle, read_bundle
from transduce.decoding.confidence import (
    Calibration,
    area_under_curve,
    calibration_error,
    cross_validate,
    fit_calibration,
    label_words,
    word_probabilities,
)
from transduce.decoding.score import score_targets
from transduce.metrics.score import check_counts
from transduce.pipeline.parts import find_part
from transduce.pipeline.translate import open_translator
from transduce.tokenizer.words import find_words

__all__ = ["CalibrateReport", "calibrate", "check_calibration"]

N_FOLDS = 10
"""Parts that the dev set is divided into: each is judged by what was fitted on the others."""
_FEW_WORDS = 1000
"""Of fewer, the error that is measured is mostly chance."""


@dataclass(frozen=True)
class CalibrateReport:
    """What the confidence of words is worth on a text."""

    name: str
    """What was translated."""
    n_sentences: int
    """Lines translated."""
    n_words: int
    """Words of the translations."""
    p_right: float
    """Share of them that the reference has too."""
    raw_error: float
    """Expected calibration error of the raw probabilities, from 0 (perfect) to 1."""
    error: float
    """The same of the calibrated ones, each fitted on other sentences than its own."""
    raw_auc: float | None
    """How well raw probabilities tell right words from wrong: 0.5 blind, 1 perfect; None: all are right, or all wrong."""
    auc: float | None
    """The same of the calibrated ones."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self)


class _LabelledWords(NamedTuple):
    name: str
    n_sentences: int
    raw: npt.NDArray[np.float64]  # [words]
    right: npt.NDArray[np.bool_]  # [words]
    sentence: npt.NDArray[np.int64]  # [words]


def calibrate(
    bundle: StrPath,
    src: StrPath | None = None,
    ref: StrPath | None = None,
    *,
    part: str = "dev",
    overrides: Sequence[str] = (),
) -> CalibrateReport:
    """Fit the confidence of words to a dev set, measure it by cross-validation, and put it into the bundle.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        src: Source sentences that the model was not trained on. Not given: a part of the data of the run.
        ref: References, line by line.
        part: Which part of the data of the run.
        overrides: As after ``--set``; only ``decode.*`` has an effect. Confidence fits the search that it was made with.

    Raises:
        TransduceError: A file or the bundle is wrong, the counts of lines differ, or there are too few words.
    """
    words = _label(bundle, src, ref, part, overrides)
    if words.n_sentences < N_FOLDS:
        raise DataError(
            f"{words.name}: has {words.n_sentences} lines, and calibration needs at least {N_FOLDS}; some hundreds are better"
        )
    if len(words.raw) < _FEW_WORDS:
        logger.warning(
            "%s: its translations have only %s, from which little can be learned about confidence; some thousands are better",
            words.name,
            plural(len(words.raw), "word"),
        )
    calibrated = cross_validate(words.raw, words.right, words.sentence, N_FOLDS)
    fit_calibration(words.raw, words.right).save(read_bundle(bundle))
    return _report(words, calibrated)


def check_calibration(
    bundle: StrPath,
    src: StrPath | None = None,
    ref: StrPath | None = None,
    *,
    part: str = "test",
    overrides: Sequence[str] = (),
) -> CalibrateReport:
    """Measure the calibration that a bundle has on another text. Nothing is changed.

    Args:
        bundle: As in :func:`calibrate`.
        src: As there; not the text that the calibration was fitted to.
        ref: As there.
        part: As there.
        overrides: As there.

    Raises:
        TransduceError: The bundle has no calibration, or as :func:`calibrate`.
    """
    calibration = Calibration.load(read_bundle(bundle))
    words = _label(bundle, src, ref, part, overrides)
    return _report(words, calibration.apply(words.raw))


def _label(
    bundle: StrPath, src: StrPath | None, ref: StrPath | None, part: str, overrides: Sequence[str]
) -> _LabelledWords:
    """Translate a text and label every word of the translations."""
    path = find_bundle(bundle)
    src_file, ref_file = find_part(path, src, ref, part)
    sources, references = list(read_lines(Path(src_file))), list(read_lines(Path(ref_file)))
    check_counts(sources, references)
    translator = open_translator(path, [*overrides, "decode.n_best=1"])
    best = [translations[0] for translations in translator.translate_nbest(sources)]
    shown = [i for i, translation in enumerate(best) if translation.ids]
    scores = score_targets(
        translator.engine,
        [best[i].src for i in shown],
        [best[i].ids for i in shown],
        batch_tokens=translator.settings.batch_tokens,
    )
    raw, right, sentence = [np.empty(0)], [], []
    for i, score in zip(shown, scores, strict=True):
        words = find_words(translator.tokenizers.tgt, best[i].ids)
        raw.append(word_probabilities(words, score.token_log_probs))
        right.extend(label_words(words.texts, references[i]))
        sentence.extend([i] * len(words.texts))
    if not right:
        raise DataError(f"{src_file}: its translations have no words to calibrate by; give a text with sentences in it")
    return _LabelledWords(
        str(src_file), len(sources), np.concatenate(raw), np.array(right), np.array(sentence, dtype=np.int64)
    )


def _report(words: _LabelledWords, calibrated: npt.NDArray[np.float64]) -> CalibrateReport:
    return CalibrateReport(
        name=words.name,
        n_sentences=words.n_sentences,
        n_words=len(words.raw),
        p_right=float(words.right.mean()),
        raw_error=calibration_error(words.raw, words.right),
        error=calibration_error(calibrated, words.right),
        raw_auc=area_under_curve(words.raw, words.right),
        auc=area_under_curve(calibrated, words.right),
    )
