"""The model card: what a person reads first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from transduce.base.settings import Settings
from transduce.bundle.card import write_card
from transduce.data.settings import DataSettings
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer.settings import TokenizerSettings


@pytest.mark.parametrize(
    ("settings", "languages"),
    [
        (RunSettings(data=DataSettings(train_src=("a.fr",), train_tgt=("a.en",))), "fr to en"),
        (RunSettings(data=DataSettings(train_src=("a.txt",), train_tgt=("b.txt",))), "unknown to unknown"),
        (RunSettings(data=DataSettings(corpus="phrasebook")), "en to de"),
        (ModelSettings(), "unknown to unknown"),
    ],
)
def test_the_card_names_the_languages_of_the_data(tmp_path: Path, settings: Settings, languages: str) -> None:
    file = tmp_path / "README.md"
    write_card(file, weights={"a": np.zeros((2, 3), np.float32)}, settings=settings, step=7, scores={"BLEU": 12.5})
    text = file.read_text(encoding="utf-8")
    assert text.startswith(f"# Translation model: {languages}\n")
    assert "6 parameters after 7 updates" in text
    assert "| BLEU | 12.5 |" in text


def test_the_card_of_a_parser_says_what_it_reads(tmp_path: Path) -> None:
    settings = RunSettings(
        data=DataSettings(task="parsing"),
        tokenizer=TokenizerSettings(joint=False),
        model=ModelSettings(tie_embeddings="decoder"),
    )
    file = tmp_path / "README.md"
    write_card(file, weights={"a": np.zeros((2, 3), np.float32)}, settings=settings, step=7, scores={"F1": 75.0})
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Parser\n") and "one a line, words parted by spaces" in text
