"""Ensembles of every engine against the mean of their models' distributions, through steps, searches and scores."""

from __future__ import annotations

import numpy as np
import pytest

from tests.parity.engines import KINDS, SOURCES, TOLERANCE, subject
from transduce.decoding.beam import beam_search
from transduce.decoding.ensemble import EnsembleEngine
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import BOS_ID

WEIGHTS = [0.3, 0.7]


@pytest.mark.parametrize("kind", KINDS)
def test_steps_and_scores_are_the_mean_of_the_models(kind: str) -> None:
    members = [subject(kind, shape, seed=seed) for shape, seed in (("post", 1), ("pre", 2))]
    ensemble = EnsembleEngine([member.engine for member in members], WEIGHTS)
    session = ensemble.start(SOURCES)
    session.step(np.arange(5), np.full(5, BOS_ID), k=3)
    found = session.distribution(np.arange(5), np.full(5, 6))
    for row, source in enumerate(SOURCES):
        expected = sum(
            weight * np.exp(member.next_log_probs(source, [6])) for weight, member in zip(WEIGHTS, members, strict=True)
        )
        np.testing.assert_allclose(np.exp(found[row]), expected, atol=TOLERANCE)
        [scored] = ensemble.score([source], [[6, 7]])
        assert scored[1] == pytest.approx(found[row, 7], abs=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_votes_with_itself_translates_as_alone(kind: str) -> None:
    engine = subject(kind, sharpness=3.0).engine
    settings = DecodeSettings(beam_size=3, n_best=3, max_extra_tokens=3)
    alone = beam_search(engine, SOURCES, settings)
    together = beam_search(EnsembleEngine([engine, engine]), SOURCES, settings)
    for ours, own in zip(together, alone, strict=True):
        assert [hypothesis.ids for hypothesis in ours] == [hypothesis.ids for hypothesis in own]
        assert [h.log_prob for h in ours] == pytest.approx([h.log_prob for h in own], abs=TOLERANCE)
