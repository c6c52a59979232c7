"""Our counting = sacreBLEU's: scores, sentence by sentence too, and p-values draw by draw."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, _bootstrap_resample

from transduce.metrics.bleu import BleuTokenizer, bleu_statistics, chrf, ter
from transduce.metrics.significance import Test, compare, confidence_interval, drawn_signature
from transduce.metrics.statistics import Statistics, chrf_statistics, ter_statistics

ROUNDING = 1e-9  # the same float64 numbers, in another order
WORDS = ("der", "die", "ein", "Hund", "Katze", "läuft", "springt", "über", "Wiese", "Haus", ",", ".", "nicht", "3-mal")

sentences = st.text(alphabet="abC .,-1'&é\u3042\xa0\U0001f600", max_size=20)
references = sentences.filter(lambda text: bool(text.strip()))
corpora = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(sentences, min_size=n, max_size=n),
        st.lists(st.lists(references, min_size=n, max_size=n), min_size=1, max_size=3),
    )
)


@given(corpus=corpora)
@example(corpus=(["the the the", ""], [["the cat sat", "a"], ["the the", "b c d e f"]]))
@hypothesis_settings(max_examples=100, deadline=None)
def test_scores_are_sacrebleus_with_one_reference_or_several(corpus: tuple[list[str], list[list[str]]]) -> None:
    ours, theirs = corpus
    tokenizers: tuple[BleuTokenizer, ...] = ("13a", "intl", "none", "char", "zh")
    for tokenize in tokenizers:
        metric = sacrebleu.BLEU(tokenize=tokenize, force=True)
        _same(bleu_statistics(ours, *theirs, tokenize=tokenize), metric, ours, theirs)
    _same(bleu_statistics(ours, *theirs, lowercase=True), sacrebleu.BLEU(lowercase=True, force=True), ours, theirs)
    _same(chrf_statistics(ours, *theirs), sacrebleu.CHRF(), ours, theirs)
    _same(chrf_statistics(ours, *theirs, word_order=2), sacrebleu.CHRF(word_order=2), ours, theirs)
    _same(ter_statistics(ours, *theirs), sacrebleu.TER(), ours, theirs)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_p_values_and_intervals_are_sacrebleus(test: Test, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    targets, baseline, system = _corpus(0.0), _corpus(0.28), _corpus(0.25)
    metrics: dict[str, Metric] = {"BLEU": sacrebleu.BLEU(), "chrF2": sacrebleu.CHRF()}
    named: list[tuple[str, Sequence[str]]] = [("baseline", baseline), ("system", system)]
    n_samples = 300
    kind = "bs" if test == "bootstrap" else "ar"
    signatures, found = PairedTest(named, metrics, [targets], test_type=kind, n_samples=n_samples)()
    for name, (first, second) in {
        "BLEU": (bleu_statistics(baseline, targets), bleu_statistics(system, targets)),
        "chrF2": (chrf_statistics(baseline, targets), chrf_statistics(system, targets)),
    }.items():
        theirs: Any = found[name][1]
        ours = compare(first, second, test=test, n_samples=n_samples, seed=7)
        assert ours.system == pytest.approx(theirs.score, abs=ROUNDING)
        assert ours.p_value == theirs.p_value
        assert str(signatures[name]) == drawn_signature(second.signature, test, n_samples, 7)
    _, resampled = _bootstrap_resample(metrics["BLEU"]._extract_corpus_statistics(system, [targets]), metrics["BLEU"])
    scores = sorted(score.score for score in resampled)
    interval = confidence_interval(bleu_statistics(system, targets), seed=7)
    # They compute in float32, with seven digits.
    assert (interval.low, interval.high) == pytest.approx((scores[25], scores[-26]), abs=1e-4)


def test_chrf_and_ter_are_scores_of_their_statistics() -> None:
    ours, theirs = _corpus(0.3)[:20], _corpus(0.0)[:20]
    assert chrf(ours, theirs) == chrf_statistics(ours, theirs).score()
    assert ter(ours, theirs) == ter_statistics(ours, theirs).score()


def _same(ours: Statistics, metric: Metric, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Compare counts of each sentence, the score, and the signature."""
    expected = metric.corpus_score(hypotheses, references)
    np.testing.assert_array_equal(ours.counts, metric._extract_corpus_statistics(hypotheses, references))
    # sacreBLEU's BLEU of equal texts is a little above 100 for rounding.
    assert ours.score().value == pytest.approx(expected.score, abs=ROUNDING)
    assert ours.signature == str(metric.get_signature())
    assert ours.score().name == expected.name


def _corpus(p_change: float) -> list[str]:
    """Make 200 sentences in which each word is another with some probability."""
    drawn, changes = random.Random(1), random.Random(int(1000 * p_change))
    return [
        " ".join(
            changes.choice(WORDS) if changes.random() < p_change else word
            for word in drawn.choices(WORDS, k=drawn.randint(1, 15))
        )
        for _ in range(200)
    ]
