"""What the pipeline tells the training loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import settings
from transduce.data.store import TokenStore


@pytest.mark.parametrize("engine", ["torch", "auto"])
def test_sentences_cut_anew_do_not_outgrow_the_positions_of_the_model(tmp_path: Path, engine: str) -> None:
    text = tmp_path / "text"
    text.write_text("".join(f"{' '.join(f'word{i * j % 17}long' for j in range(1, 9))}\n" for i in range(100)))
    files = [item for part in ("train", "dev") for side in ("src", "tgt") for item in (f"--{part}-{side}", text)]
    prepared = run_cli(
        "prepare", "--out", tmp_path / "data", *files, *settings("tokenizer.vocab_size=330", "data.n_workers=1",
        "clean.drop_duplicates=false"),
    )  # fmt: skip
    assert prepared.code == 0, prepared.err
    longest = int(TokenStore.open(tmp_path / "data" / "train").src_lengths.max())
    trained = run_cli(
        "train", "--data", tmp_path / "data", "--out", tmp_path / "run",
        *settings(
            "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=16", "model.d_ff=32", "model.n_heads=2",
            "model.positions=learned", f"model.n_positions={longest + 1}", "train.device=cpu", f"train.engine={engine}",
            "train.p_bpe_dropout=0.3", "train.batch_tokens=500", "train.n_steps=3", "train.validate_bleu=false",
        ),
    )  # fmt: skip
    assert trained.code == 0, trained.err
