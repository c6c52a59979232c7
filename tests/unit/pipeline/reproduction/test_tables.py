"""What is found out before anything is trained; whole reproductions are in tests/e2e."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.base.files import locked_directory
from transduce.pipeline.prepare import prepare
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.tables import reproduce_table


def prepared(directory: Path, suffixes: tuple[str, str], *settings: str) -> Path:
    """Prepare a data set from files whose names end so."""
    overrides = ["tokenizer.vocab_size=280", *settings]
    for part, n in (("train", 40), ("dev", 4)):
        for side, suffix in zip(("src", "tgt"), suffixes, strict=True):
            path = directory / f"{part}.{suffix}"
            lines = (f"{side} {part} {['ab', 'cd', 'ef'][i % 3]} {i}\n" for i in range(n))
            path.write_text("".join(lines), encoding="utf-8")
            overrides.append(f"data.{part}_{side}={path}")
    prepare(load_settings("base", overrides), directory / "data")
    return directory / "data"


def test_an_unknown_target_language_is_said_before_the_training(tmp_path: Path) -> None:
    data, out = prepared(tmp_path, ("one.txt", "other.txt")), tmp_path / "out"
    with pytest.raises(DataError, match=r"the target language is not known; prepare it with --set data\.tgt_lang"):
        reproduce_table("table3", out, scale="smoke", rows=["base"], data=data)
    assert not (out / "runs").exists()


def test_a_missing_test_set_is_said_before_the_training(tmp_path: Path) -> None:
    data, out = prepared(tmp_path, ("en", "de")), tmp_path / "out"
    shutil.rmtree(data / "test")
    with pytest.raises(DataError, match="has no test set, on which table2 is scored"):
        reproduce_table("table2", out, scale="smoke", rows=["base-en-de"], data=data)
    assert not (out / "runs").exists()


def test_two_processes_never_work_in_one_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with locked_directory(out), pytest.raises(DataError, match="another process is working here"):
        reproduce_table("table3", out, scale="smoke", rows=["base"], data=tmp_path / "not-read")
