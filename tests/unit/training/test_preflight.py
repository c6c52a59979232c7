"""What is found before the first step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.training.toy import MODEL, store_of, toy_model, toy_settings
from transduce.base.errors import TrainingError
from transduce.training.preflight import check_stores, longest_sentence

LEARNED = MODEL.replace(positions="learned", n_positions=5)


def test_empty_sets_are_refused(tmp_path: Path) -> None:
    full, empty = store_of(tmp_path / "full", [[5]], [[6]]), store_of(tmp_path / "empty", [], [])
    with pytest.raises(TrainingError, match="the training set is empty"):
        check_stores(toy_model(), empty, full, toy_settings())
    with pytest.raises(TrainingError, match="the dev set is empty"):
        check_stores(toy_model(), full, empty, toy_settings())


def test_sentences_longer_than_learned_positions_are_refused(tmp_path: Path) -> None:
    model = toy_model(settings=LEARNED)
    short = store_of(tmp_path / "short", [[5] * 4], [[6]])  # with EOS: exactly 5
    long = store_of(tmp_path / "long", [[5]], [[6] * 5])
    check_stores(model, short, short, toy_settings())
    with pytest.raises(
        TrainingError, match=r"1 training pair of more than 4 tokens .* set train\.max_pair_tokens to 4"
    ):
        check_stores(model, long, short, toy_settings())
    check_stores(model, long, short, toy_settings(max_pair_tokens=4))  # it is left out
    with pytest.raises(TrainingError, match=r"1 dev pair of more than 4 tokens .* raise model\.n_positions"):
        check_stores(model, short, long, toy_settings(max_pair_tokens=4))


def test_the_longest_sentence_is_the_lesser_of_what_is_asked_for_and_what_can_be_placed() -> None:
    learned = toy_model(settings=LEARNED)  # 5 positions, one of them for EOS
    assert [longest_sentence(learned, n) for n in (3, 4, 5, 256)] == [3, 4, 4, 4]
    assert longest_sentence(toy_model(), 256) == 256
