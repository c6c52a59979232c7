"""Counting what a sample of a corpus is like, in one pass: lengths, repetitions, and what looks wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from transduce.data.drift import Shift, find_shifts, windows_of
from transduce.data.sampling import Block, Sample
from transduce.text.normalize import is_blank
from transduce.text.overlap import HeldOut, fold
from transduce.text.pairs import SentencePair
from transduce.text.suspects import copied, main_script, numbers_differ, text_suspects

__all__ = ["Survey", "survey_sample"]

_MAX_EXAMPLES = 5
_TOGETHER = ({"Han", "Hiragana", "Katakana"}, {"Hangul", "Han"})
"""Scripts that one language is written in."""
_FAR = 3.0
"""A pair is an outlier when one side is so many times longer than the corpus lets expect, and ten characters more."""
_SLACK_CHARS = 10


@dataclass
class Survey:
    """What was counted. Numbers of pairs are those of the sample; ``examples`` has the numbers of the first few of a kind."""

    sample: Sample
    n_pairs: int = 0
    """Pairs seen."""
    counts: Counter[str] = field(default_factory=Counter)
    """Pairs by what is wrong with them: ``blank``, ``copied``, ``numbers``, ``src mojibake``, ``tgt control`` and so on."""
    examples: dict[str, list[int]] = field(default_factory=dict)
    n_distinct_pairs: int = 0
    n_distinct_sources: int = 0
    n_many_targets: int = 0
    """Distinct sources that stand beside more than one target."""
    shifts: list[Shift] = field(default_factory=list)
    scripts: tuple[str, str] = ("", "")
    """Of most sentences of each side."""
    ratio: float = 1.0
    """Median of target characters to source characters."""
    src_chars: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    tgt_chars: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    src_words: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    tgt_words: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    learnable: list[SentencePair] = field(default_factory=list)
    """Some of the pairs, spread over the sample: enough to learn a vocabulary for estimates."""

    def note(self, kind: str, number: int) -> None:
        """Count a pair under a kind."""
        self.counts[kind] += 1
        known = self.examples.setdefault(kind, [])
        if len(known) < _MAX_EXAMPLES:
            known.append(number)

    def share(self, kind: str) -> float:
        """Return the share of a kind among all pairs of the sample, 0 to 1."""
        return self.counts[kind] / self.n_pairs if self.n_pairs else 0.0


def survey_sample(sample: Sample, held_out: Sequence[HeldOut] = (), *, learn_pairs: int = 0) -> Survey:
    """Look at every pair of a sample.

    Args:
        sample: What to look at; its blocks are taken.
        held_out: Dev and test sets; which of their sentences are met here is noted in them.
        learn_pairs: Keep about so many pairs in ``learnable``.
    """
    survey = Survey(sample)
    tally = _Tally()
    for block in sample.blocks:
        for number, pair in enumerate(block.pairs, start=block.first):
            _look_at(survey, tally, number, pair)
            if held_out:
                folded = fold(pair.src)
                for part in held_out:
                    part.meet(pair.src, folded)
        survey.learnable.extend(pair for pair in block.pairs if not (is_blank(pair.src) or is_blank(pair.tgt)))
        if len(survey.learnable) > 2 * learn_pairs:
            survey.learnable = survey.learnable[::2]
        _look_for_shifts(tally, block)
    survey.shifts = find_shifts(tally.windows)
    _finish(survey, tally)
    return survey


@dataclass
class _Tally:
    """What is needed until the end of a pass."""

    numbers: list[int] = field(default_factory=list)
    lengths: list[tuple[int, int, int, int]] = field(default_factory=list)
    scripts: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    pairs: set[int] = field(default_factory=set)
    targets: dict[int, int] = field(default_factory=dict)
    many: set[int] = field(default_factory=set)
    windows: list[tuple[int, int]] = field(default_factory=list)


def _look_at(survey: Survey, tally: _Tally, number: int, pair: SentencePair) -> None:
    src, tgt = pair
    survey.n_pairs += 1
    tally.numbers.append(number)
    tally.lengths.append((len(src), len(tgt), len(src.split()), len(tgt.split())))
    for side, text, scripts in zip(("src", "tgt"), pair, tally.scripts, strict=True):
        for suspect in text_suspects(text):
            survey.note(f"{side} {suspect}", number)
        scripts.append(main_script(text))
    if is_blank(src) or is_blank(tgt):
        survey.note("blank", number)
        return
    source, target = hash(src), hash(tgt)
    tally.pairs.add(hash((source, target)))
    if tally.targets.setdefault(source, target) != target:
        tally.many.add(source)
    if copied(src, tgt):
        survey.note("copied", number)
    elif numbers_differ(src, tgt):
        survey.note("numbers", number)


def _look_for_shifts(tally: _Tally, block: Block) -> None:
    lengths = np.array([(len(src), len(tgt)) for src, tgt in block.pairs], dtype=np.int64).reshape(-1, 2)
    tally.windows.extend(windows_of(block.first, lengths[:, 0], lengths[:, 1]))


def _finish(survey: Survey, tally: _Tally) -> None:
    """Count what can be told only when all pairs have been seen."""
    lengths = np.array(tally.lengths, dtype=np.int64).reshape(-1, 4)
    survey.src_chars, survey.tgt_chars, survey.src_words, survey.tgt_words = lengths.T
    survey.n_distinct_pairs, survey.n_distinct_sources = len(tally.pairs), len(tally.targets)
    survey.n_many_targets = len(tally.many)
    both = (survey.src_chars > 0) & (survey.tgt_chars > 0)
    if both.any():
        survey.ratio = float(np.median(survey.tgt_chars[both] / survey.src_chars[both]))
    expected = survey.src_chars * survey.ratio
    shorter, longer = np.minimum(expected, survey.tgt_chars), np.maximum(expected, survey.tgt_chars)
    for place in np.flatnonzero(both & (longer > _FAR * shorter + _SLACK_CHARS)):
        survey.note("ratio", tally.numbers[place])
    mains = [Counter(filter(None, scripts)).most_common(1) for scripts in tally.scripts]
    survey.scripts = (mains[0][0][0] if mains[0] else "", mains[1][0][0] if mains[1] else "")
    for side, scripts, main in zip(("src", "tgt"), tally.scripts, survey.scripts, strict=True):
        family = next((family for family in _TOGETHER if main in family), {main})
        for number, script in zip(tally.numbers, scripts, strict=True):
            if script and script not in family:
                survey.note(f"{side} script", number)
