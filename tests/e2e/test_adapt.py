"""Going on with a trained model on other data: its vocabularies, its shape, its weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli import run_cli
from tests.e2e.cases import refusal, settings
from tests.e2e.conftest import Toy
from transduce.bundle import read_bundle

STILL = (
    "train.schedule=constant",
    "train.peak_lr=1e-30",
    "train.warmup_steps=1",
    "train.n_steps=2",
    "train.log_every=1",
)
"""Two updates that change nothing in float32."""


@pytest.fixture(scope="module")
def own(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data of another domain, prepared for the toy model: sentences of one word, and one word that it has never seen."""
    place = tmp_path_factory.mktemp("own")
    (place / "own.tsv").write_text("sun\tsol\nmoon\tlun\nwhale\tcet\nsun moon\tlun sol\n" * 8)
    given = [item for part in ("train", "dev", "test") for item in (f"--{part}", place / "own.tsv")]
    done = run_cli("prepare", "--from", toy.run, "--out", place / "data", *given, "--set", "data.n_workers=1")
    assert done.code == 0, done.err
    return place / "data"


def test_data_have_the_vocabularies_of_the_model(own: Path, toy: Toy) -> None:
    assert (own / "tokenizer" / "tokenizer.json").read_bytes() == (
        toy.data / "tokenizer" / "tokenizer.json"
    ).read_bytes()
    again = run_cli(
        "prepare", "--from", toy.run, "--out", own, "--set", "data.n_workers=1",
        *[item for part in ("train", "dev", "test") for item in (f"--{part}", own.parent / "own.tsv")],
    )  # fmt: skip
    assert again.code == 0 and "is up to date" in again.err


def test_a_run_begins_with_the_weights_of_the_model(own: Path, toy: Toy, tmp_path: Path) -> None:
    done = run_cli("train", "--from", toy.run, "--data", own, "--out", tmp_path / "run", *settings(*STILL))
    assert done.code == 0, done.err
    before, after = (read_bundle(run).weights() for run in (toy.run, tmp_path / "run"))
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name])
    assert read_bundle(tmp_path / "run").step == 2


def test_it_learns_what_is_new_and_goes_on_without_the_model_that_it_came_from(
    own: Path, toy: Toy, tmp_path: Path
) -> None:
    start = tmp_path / "general"
    shutil.copytree(toy.run / "model", start)
    assert run_cli("translate", toy.run, stdin="whale\n").lines != ["cet"]
    tuned = settings(
        "train.schedule=constant", "train.peak_lr=0.002", "train.warmup_steps=5", "train.validate_bleu=false"
    )
    first = run_cli(
        "train", "--from", start, "--data", own, "--out", tmp_path / "run", *tuned, "--set", "train.n_steps=30"
    )
    assert first.code == 0, first.err
    shutil.rmtree(start)
    more = run_cli("train", "--data", own, "--out", tmp_path / "run", "--resume", *tuned, "--set", "train.n_steps=40")
    assert more.code == 0, more.err
    assert run_cli("translate", tmp_path / "run", stdin="whale\nsun moon\n").lines == ["cet", "lun sol"]
    gone = refusal(run_cli("train", "--from", start, "--data", own, "--out", tmp_path / "other"))
    assert "no such bundle" in gone


def test_without_prepared_data_it_prepares_them_for_the_model(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text("sun\tsol\nmoon\tlun\n" * 20)
    files = [f"data.{part}=[{str(tmp_path / 'own.tsv')!r}]" for part in ("train", "dev", "test")]
    done = run_cli("train", "--from", toy.run, "--out", tmp_path / "run", *settings(*files, *STILL, "data.n_workers=1"))
    assert done.code == 0, done.err
    assert run_cli("translate", tmp_path / "run", stdin="sun moon\n").lines == ["lun sol"]


def test_what_does_not_fit_is_refused_before_anything_is_written(own: Path, toy: Toy, tmp_path: Path) -> None:
    out = tmp_path / "run"
    other = refusal(run_cli("train", "--from", toy.run, "--data", own, "--out", out, "--set", "model.d_ff=64"))
    assert "model.d_ff is 64 here and 128 there" in other
    (tmp_path / "own.tsv").write_text("red\trot\nblue\tblau\n" * 20)
    given = [item for part in ("train", "dev", "test") for item in (f"--{part}", tmp_path / "own.tsv")]
    small = settings("tokenizer.vocab_size=300", "data.n_workers=1")
    assert run_cli("prepare", "--out", tmp_path / "data", *given, *small).code == 0
    strange = refusal(run_cli("train", "--from", toy.run, "--data", tmp_path / "data", "--out", out))
    assert "was prepared with other vocabularies" in strange and "prepare --from" in strange
    (tmp_path / "a.trees").write_text("(TOP (S (NN tea)))\n" * 20)
    bundle = settings(f"tokenizer.bundle={toy.run}")
    trees = refusal(
        run_cli("prepare", "parsing-small", "--out", tmp_path / "trees", "--train", tmp_path / "a.trees", *bundle)
    )
    assert "has learned translation, and data.task is 'parsing'" in trees
    assert not out.exists() and not (tmp_path / "trees").exists()


def test_a_run_that_starts_anew_may_have_other_dropout(own: Path, toy: Toy, tmp_path: Path) -> None:
    done = run_cli(
        "train", "--from", toy.run, "--data", own, "--out", tmp_path / "run", *settings(*STILL, "model.p_dropout=0.3")
    )
    assert done.code == 0, done.err
