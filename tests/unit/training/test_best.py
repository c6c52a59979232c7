"""Which model is the best, by what, and what patience waits for."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.base.errors import SettingsError, TrainingError
from transduce.bundle.directory import read_bundle
from transduce.model.transformer import Transformer
from transduce.training.best import best_of, is_better
from transduce.training.validation import Validator


def test_nothing_that_is_no_number_is_ever_the_best() -> None:
    assert not is_better("perplexity", math.inf, None)
    assert not is_better("bleu", math.nan, None)
    assert best_of("perplexity", [math.nan, 3.0, 2.0, 2.0]) == 2
    assert best_of("bleu", [math.nan, 3.0, 2.0]) == 1
    assert best_of("chrf", [math.nan]) == 0


def _scores(name: str, *values: float) -> Validator:
    """A validator that gives one score after another, the last one for good."""
    left = list(values)

    def validate(model: Transformer) -> Mapping[str, float]:
        return {name: left.pop(0) if len(left) > 1 else left[0]}

    return validate


@pytest.mark.parametrize(("best_by", "name"), [("bleu", "BLEU"), ("chrf", "chrF")])
def test_the_best_by_a_score_of_translations(tmp_path: Path, best_by: str, name: str) -> None:
    run = ToyRun(tmp_path)
    settings = toy_settings(n_steps=100, validate_every=2, patience=2, best_by=best_by)
    result = run.trainer("a", settings, validators=[_scores(name, 10.0, 30.0, 30.0, 20.0)]).run(resume=False)
    # Better, better, equal, worse: two in a row that are not better end the run.
    assert (result.best_step, result.step, result.reason) == (4, 8, "patience")
    assert read_bundle(run.root / "a" / "best").scores[name] == 30.0
    assert run.log("a", "validation", "is_best") == [(True,), (True,), (False,), (False,)]


def test_a_score_that_nothing_measures(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"needs the dev score BLEU.* set train\.validate_bleu = true"):
        ToyRun(tmp_path).trainer("a", toy_settings(best_by="bleu")).run(resume=False)
    with pytest.raises(SettingsError, match=r'best_by = "chrf" needs translations .* set validate_bleu = true'):
        toy_settings(best_by="chrf", validate_bleu=False)


def test_another_score_at_a_resume_begins_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = ToyRun(tmp_path)
    run.trainer("a", toy_settings(n_steps=5)).run(resume=False)
    settings = toy_settings(n_steps=10, best_by="bleu")
    with caplog.at_level(logging.WARNING, logger="transduce"):
        result = run.trainer("a", settings, validators=[_scores("BLEU", 1.0)]).run(resume=True)
    assert "train.best_by was 'perplexity' and is 'bleu'" in caplog.text
    assert result.best_step == 10  # BLEU 1 is the first of its kind, however high the perplexity was before
