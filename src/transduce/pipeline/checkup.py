"""A look at data and settings before a long run: what they are like, what looks wrong, what the run will need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.data.sampling import sample_source, sample_store
from transduce.data.sources import PARTS, PairSource, ParallelFiles, Part, check_sources, find_sources
from transduce.data.store import TokenStore
from transduce.data.survey import Survey, survey_sample
from transduce.pipeline.forecast import Forecast, TokenSample, forecast, sampled_tokens
from transduce.pipeline.settings import RunSettings
from transduce.text.overlap import HeldOut
from transduce.tokenizer import load_tokenizers

__all__ = ["MAX_PAIRS", "Checkup", "Overlap", "check_data", "length_percentiles"]

MAX_PAIRS = 50_000
"""Pairs that are looked at where the training data has more."""
_SCORED_PAIRS = 20_000
_LEARN_PAIRS = 10_000
_PERCENTILES = (1, 50, 90, 99, 100)


@dataclass(frozen=True)
class Overlap:
    """Sentences of one set whose source also stands in another one."""

    name: str
    """Which sets, such as ``test in train``."""
    n_pairs: int
    """Sentences of the first set."""
    n_exact: int
    """Those found letter for letter."""
    n_folded: int
    """Those found, case and white space aside."""


@dataclass(frozen=True)
class Checkup:
    """What was found."""

    settings: RunSettings
    prepared: Path | None
    """The prepared directory that was looked at. None: files."""
    parts: dict[Part, tuple[Survey, ...]]
    """Each input of each part; none where a part is not given."""
    sources: dict[Part, tuple[PairSource, ...]]
    """The inputs themselves, in the same order; none for a prepared directory's training data."""
    overlaps: tuple[Overlap, ...]
    forecast: Forecast

    @property
    def train(self) -> tuple[Survey, ...]:
        """The training data."""
        return self.parts["train"]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "parts": {part: [_plain(survey) for survey in surveys] for part, surveys in self.parts.items()},
            "overlaps": [vars(overlap) for overlap in self.overlaps],
            "forecast": self.forecast.as_dict(),
        }


def check_data(
    settings: RunSettings, *, prepared: Path | None = None, max_pairs: int = MAX_PAIRS, timing: bool = True
) -> Checkup:
    """Look at the data of a run, and say what the run will need. Nothing is written.

    Args:
        settings: Of the run; where its files are too, unless the data is prepared.
        prepared: A directory made by ``prepare``.
        max_pairs: Look at so many training pairs at most.
        timing: True: time some steps of a real model, which takes some seconds.

    Raises:
        DataError: There is no training data, or it cannot be read at all.
    """
    sources = _find_sources(settings, prepared)
    parts: dict[Part, tuple[Survey, ...]] = {}
    held_out: list[HeldOut] = []
    overlaps: list[Overlap] = []
    for part in PARTS[1:]:
        # Test is held against dev by a set of its own: what is met in training is counted apart.
        known = (
            [HeldOut("dev", (pair.src for survey in parts["dev"] for pair in survey.learnable))]
            if part == "test"
            else []
        )
        parts[part] = tuple(
            survey_sample(sample_source(source, _SCORED_PAIRS), known, learn_pairs=_SCORED_PAIRS)
            for source in sources[part]
        )
        overlaps += [_overlap("dev in test", dev) for dev in known if parts["dev"] and parts[part]]
        texts = [pair.src for survey in parts[part] for pair in survey.learnable]
        if texts:
            held_out.append(HeldOut(part, texts))
    train = _survey_train(sources["train"], prepared, held_out, max_pairs)
    if not any(survey.n_pairs for survey in train):
        raise DataError(f"{', '.join(survey.sample.name for survey in train)}: there is no pair to look at")
    parts["train"] = train
    overlaps = [*(_overlap(f"{part.name} in train", part) for part in held_out), *overlaps]
    with _tokens(settings, prepared, train) as tokens:
        n_pairs = sum(survey.sample.n_pairs or survey.n_pairs for survey in train)
        needs = forecast(tokens, settings, n_pairs, timing=timing)
    in_order = {part: parts[part] for part in PARTS}
    return Checkup(settings, prepared, in_order, sources, tuple(overlaps), needs)


def length_percentiles(lengths: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return lengths by rank: 1, 50, 90 and 99 of 100, and the longest."""
    return tuple(int(value) for value in np.percentile(lengths, _PERCENTILES)) if len(lengths) else (0,) * 5


def _find_sources(settings: RunSettings, prepared: Path | None) -> dict[Part, tuple[PairSource, ...]]:
    if prepared is not None:
        text = {part: prepared / part / "src.txt" for part in PARTS[1:]}
        return {
            "train": (),
            **{
                part: (ParallelFiles(src, src.with_name("tgt.txt")),)
                for part, src in text.items()
                if src.stat().st_size
            },
            **{part: () for part, src in text.items() if not src.stat().st_size},
        }
    found = {part: tuple(find_sources(settings.data, part)) for part in PARTS}
    if not found["train"]:
        raise DataError(
            "no training data is given: name two parallel text files, a file with both sides (.tsv, .jsonl, .tmx and so on), "
            "or a directory made by 'transduce prepare'"
        )
    check_sources([source for part in PARTS for source in found[part]])
    return found


def _survey_train(
    sources: Sequence[PairSource], prepared: Path | None, held_out: Sequence[HeldOut], max_pairs: int
) -> tuple[Survey, ...]:
    """Look at the training data, and note in dev and test which of their sentences are met in it."""
    if prepared is not None:
        tokenizers = load_tokenizers(prepared / "tokenizer")
        sample = sample_store(TokenStore.open(prepared / "train"), tokenizers, max_pairs)
        return (survey_sample(sample, held_out),)
    share, learn = max(1, max_pairs // len(sources)), _LEARN_PAIRS // len(sources)
    return tuple(survey_sample(sample_source(source, share), held_out, learn_pairs=learn) for source in sources)


@contextmanager
def _tokens(settings: RunSettings, prepared: Path | None, train: Sequence[Survey]) -> Iterator[TokenSample]:
    if prepared is not None:
        tokenizers = load_tokenizers(prepared / "tokenizer")
        sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
        yield TokenSample(TokenStore.open(prepared / "train"), *sizes, is_estimate=False)
        return
    pairs = [pair for survey in train for pair in survey.learnable]
    if not pairs:
        raise DataError(f"{', '.join(survey.sample.name for survey in train)}: every pair has a blank side")
    is_all = len(pairs) == sum(survey.n_pairs - survey.counts["blank"] for survey in train) and all(
        survey.sample.n_pairs == survey.n_pairs for survey in train
    )
    with sampled_tokens(pairs, settings, is_all=is_all) as tokens:
        yield tokens


def _overlap(name: str, part: HeldOut) -> Overlap:
    return Overlap(name, part.n_pairs, part.n_exact, part.n_folded)


def _plain(survey: Survey) -> dict[str, Any]:
    sample = survey.sample
    lengths = {
        name: length_percentiles(getattr(survey, name)) for name in ("src_chars", "tgt_chars", "src_words", "tgt_words")
    }
    return {
        "name": sample.name,
        "n_pairs": sample.n_pairs,
        "lines": sample.lines,
        "sample_pairs": survey.n_pairs,
        "sample": sample.how,
        "counts": dict(survey.counts),
        "examples": survey.examples,
        "n_distinct_pairs": survey.n_distinct_pairs,
        "n_distinct_sources": survey.n_distinct_sources,
        "n_sources_with_many_targets": survey.n_many_targets,
        "shifts": [vars(shift) for shift in survey.shifts],
        "scripts": survey.scripts,
        "crlf": sample.crlf,
        "not_utf8": sample.not_utf8,
        "skipped": dict(sample.skipped),
        "length_percentiles": {"of": _PERCENTILES, **lengths},
    }
