"""Preparing data, its lengths, and files that are not there: fault cases of the kinds C, D and Q."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import CliResult, run_cli
from tests.e2e.cases import TINY, bytes_of, log_of, prepare, refusal, settings, stored_pairs, train, translate
from tests.shared import case_file
from transduce.base.files import read_lines

# Kind C.


def test_b021_different_numbers_of_lines_are_refused_with_both(tmp_path: Path) -> None:
    message = refusal(prepare(tmp_path / "out", train="B021"))
    assert f"{case_file('B021.src')} has 5 lines and {case_file('B021.tgt')} has 4 lines" in message
    assert "B021.src has 5 lines" in refusal(prepare(tmp_path / "out", train="B001", dev="B021"))
    assert list(tmp_path.iterdir()) == []


def test_b021_an_old_directory_stays_as_it_was(tmp_path: Path) -> None:
    assert prepare(tmp_path / "out", train="B001").code == 0
    before = bytes_of(tmp_path)
    refusal(prepare(tmp_path / "out", train="B021"))
    assert bytes_of(tmp_path) == before


def test_b023_pairs_with_a_blank_side_are_dropped_and_counted(tmp_path: Path) -> None:
    result = prepare(tmp_path / "out", train="B023")
    assert result.code == 0
    assert "8 pairs read, 3 kept; dropped: 5 (a side is blank)" in result.out
    assert [(src.split()[0], tgt.split()[0]) for src, tgt in stored_pairs(tmp_path / "out")] == [
        ("p1", "p1"), ("p5", "p5"), ("p8", "p8"),
    ]  # fmt: skip


def test_b025_dev_pairs_in_training_are_told_and_can_be_left_out(tmp_path: Path) -> None:
    told = prepare(tmp_path / "told", train="B025.train", dev="B025.valid")
    assert "warning: 2 of 3 sentences of dev are also in training (1 letter for letter)" in told.err
    assert len(stored_pairs(tmp_path / "told")) == 10
    dropped = prepare(tmp_path / "out", "clean.drop_overlap=true", train="B025.train", dev="B025.valid")
    assert "10 pairs read, 8 kept; dropped: 2 (the source is in the dev or test set)" in dropped.out
    assert len(stored_pairs(tmp_path / "out")) == 8


def test_b027_more_workers_than_lines(tmp_path: Path) -> None:
    written = []
    for n_workers in (1, 3, 8):
        result = prepare(tmp_path / str(n_workers), f"data.n_workers={n_workers}", train="B027")
        assert result.code == 0, result.err
        written.append(bytes_of(tmp_path / str(n_workers), but=("settings.toml", "report.json")))
    assert written[0] == written[1] == written[2]
    lines = (list(read_lines(case_file(f"B027.{side}"))) for side in ("src", "tgt"))
    assert stored_pairs(tmp_path / "8") == list(zip(*lines, strict=True))


# Kind D.


def test_b029_a_source_that_is_too_long_is_cut_and_named(model_t: Path) -> None:
    lines = case_file("B029.src").read_text(encoding="utf-8").splitlines(keepends=True)
    short = settings("decode.max_tokens=20")
    result = run_cli("translate", model_t, *short, stdin="".join(lines))
    assert (result.code, len(result.lines)) == (0, 3)
    assert result.lines[::2] == translate(model_t, lines[0] + lines[2], *short)
    assert result.err.startswith("warning: 1 line was too long and only translated up to token 1,024")
    assert "line 2;" in result.err and result.err.count("\n") == 1


LONG = ("clean.max_chars=100000", "tokenizer.vocab_size=400")
"""Keeps a pair of 3,000 words, a few thousand tokens."""


def test_b031_a_pair_larger_than_the_batch_is_left_out_and_counted(tmp_path: Path) -> None:
    assert prepare(tmp_path / "data", *LONG, train="B031", dev="B031").code == 0
    validation = ("train.validate_bleu=true", "decode.max_tokens=10", "train.batch_tokens=200", "train.n_steps=1")
    result = train(tmp_path / "data", tmp_path / "run", *validation)
    assert result.code == 0, result.err
    assert "epoch 1 is complete: 5 pairs, 1 left out as too long (train.max_pair_tokens)" in result.err
    assert log_of(tmp_path / "run", "epoch", "n_pairs", "n_left_out") == [(5, 1)]
    assert log_of(tmp_path / "run", "validation", "step") == [(1,)]


def test_b031_or_it_is_a_batch_of_its_own(tmp_path: Path) -> None:
    assert prepare(tmp_path / "data", *LONG, train="B031", dev="B031").code == 0
    values = ("train.max_pair_tokens=100000", "train.batch_tokens=200", "train.device_tokens=200", "train.n_steps=2")
    result = train(tmp_path / "data", tmp_path / "run", *values)
    assert result.code == 0, result.err
    assert log_of(tmp_path / "run", "epoch", "n_pairs", "n_left_out") == [(6, 0)]


def test_b031_the_default_cleaning_says_that_it_drops_it(tmp_path: Path) -> None:
    result = prepare(tmp_path / "data", train="B031")
    assert "6 pairs read, 5 kept; dropped: 1 (a side is longer than clean.max_chars)" in result.out


def test_b033_a_short_source_may_have_a_long_target(tmp_path: Path) -> None:
    assert prepare(tmp_path / "data", "tokenizer.vocab_size=400", train="B033", dev="B033").code == 0
    learn = (
        "model.p_dropout=0.0",
        "train.n_steps=60",
        "train.schedule=constant",
        "train.peak_lr=0.01",
        "train.log_every=60",
    )
    result = train(tmp_path / "data", tmp_path / "run", *learn, "model.d_model=32", "train.batch_tokens=400")
    assert result.code == 0, result.err
    pairs = dict(zip(*(read_lines(case_file(f"B033.{side}")) for side in ("src", "tgt")), strict=True))
    wanted = [pairs["asap"], pairs["fyi"]]
    assert [len(target.split()) for target in wanted] == [10, 10]
    assert [line for text in ("asap", "fyi") for line in translate(tmp_path / "run", text)] == wanted
    beside = "asap\nfyi\n" + "asap fyi " * 30 + "\n"
    assert translate(tmp_path / "run", beside)[:2] == wanted


# Kind Q.


def _commands(bad: Path, good: Path, bundle: Path, out: Path) -> dict[str, Callable[[], CliResult]]:
    """Every command that reads a file, with a bad one as the last that it needs."""
    both = ("--train-src", good, "--train-tgt", good)
    return {
        "training source": lambda: run_cli("prepare", "--out", out, "--train-src", bad, "--train-tgt", good),
        "training pairs": lambda: run_cli("prepare", "--out", out, *both, "--train", bad.with_suffix(".tsv")),
        "dev target": lambda: run_cli("prepare", "--out", out, *both, "--dev-src", good, "--dev-tgt", bad),
        "test source": lambda: run_cli("prepare", "--out", out, *both, "--test-src", bad, "--test-tgt", good),
        "training in one go": lambda: run_cli(
            "train", "--out", out, *settings(f"data.train_src=['{good}']", f"data.train_tgt=['{bad}']")
        ),
        "prepared data": lambda: run_cli("train", "--out", out, "--data", bad),
        "translate": lambda: run_cli("translate", bundle, "--input", bad, "--output", out),
        "evaluate": lambda: run_cli("evaluate", bundle, "--src", good, "--ref", bad, "--output", out),
        "bleu": lambda: run_cli("bleu", good, bad),
        "average": lambda: run_cli("average", bundle, bad, "--out", out),
        "inspect": lambda: run_cli("inspect", bad),
        "recipe": lambda: run_cli("prepare", bad.with_suffix(".toml"), "--out", out),
    }


@pytest.mark.parametrize("command", _commands(Path(), Path(), Path(), Path()))
def test_b133_missing_input_is_found_before_anything_is_written(model_r: Path, tmp_path: Path, command: str) -> None:
    good, bad = case_file("B001.src"), tmp_path / "missing"
    assert str(bad) in refusal(_commands(bad, good, model_r, tmp_path / "out")[command]())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["training source", "dev target", "translate", "evaluate", "bleu"])
def test_b133_a_directory_is_no_file(model_r: Path, tmp_path: Path, command: str) -> None:
    bad = tmp_path / "directory"
    bad.mkdir()
    message = refusal(_commands(bad, case_file("B001.src"), model_r, tmp_path / "out")[command]())
    assert f"{bad}: this is a directory, and a file is needed" in message
    assert list(tmp_path.iterdir()) == [bad]


@pytest.mark.parametrize("command", ["training source", "dev target", "translate", "evaluate", "bleu"])
def test_b133_a_file_that_may_not_be_read(
    model_r: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "secret"
    bad.write_text("tea\n", encoding="utf-8")
    # Modes mean nothing to root, as whom tests often run, so the question itself gets another answer.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != bad)
    message = refusal(_commands(bad, case_file("B001.src"), model_r, tmp_path / "out")[command]())
    assert f"{bad}: no permission to read this file" in message
    assert list(tmp_path.iterdir()) == [bad]


def _writers(out: Path, data: Path, bundle: Path) -> dict[str, Callable[[], CliResult]]:
    """Every command that writes a directory or a file."""
    source = case_file("B001.src")
    return {
        "prepare": lambda: prepare(out, train="B001"),
        "train": lambda: train(data, out, "train.n_steps=2"),
        "train and prepare": lambda: run_cli(
            "train", "--out", out, *settings(*TINY, f"data.train_src=['{source}']", f"data.train_tgt=['{source}']")
        ),
        "resume": lambda: train(data, out, "train.n_steps=2", resume=True),
        "average": lambda: run_cli("average", bundle, "--out", out),
        "translate": lambda: run_cli("translate", bundle, "-i", source, "--output", out / "file"),
        "evaluate": lambda: run_cli("evaluate", bundle, "--src", source, "--ref", source, "--output", out / "file"),
        "inspect": lambda: run_cli("inspect", bundle, "blue tea", "--attention", out / "picture.png"),
        "corpora": lambda: run_cli("corpora", "get", "multi30k", "--from", source.parent, "--out", out),
    }


@pytest.mark.parametrize("place", ["file", "file/deeper", "/proc/x"])
@pytest.mark.parametrize(
    "command",
    ["prepare", "train", "train and prepare", "resume", "average", "translate", "evaluate", "inspect", "corpora"],
)
def test_b135_output_that_cannot_be_written_is_found_at_once(
    toy_data: Path, model_r: Path, tmp_path: Path, command: str, place: str
) -> None:
    (tmp_path / "file").write_text("mine\n", encoding="utf-8")
    out = tmp_path / place
    result = _writers(out, toy_data, model_r)[command]()
    message = refusal(result)  # so no step was logged either: that would be a line of its own
    assert str(out) in message
    assert bytes_of(tmp_path) == {"file": b"mine\n"}


@pytest.mark.parametrize("command", ["translate", "evaluate", "inspect"])
def test_b135_a_file_in_place_of_a_directory(toy_data: Path, model_r: Path, tmp_path: Path, command: str) -> None:
    place = {"translate": "file", "evaluate": "file", "inspect": "picture.png"}[command]
    (tmp_path / place).mkdir()
    (tmp_path / place / "mine").write_text("mine\n", encoding="utf-8")
    assert str(tmp_path / place) in refusal(_writers(tmp_path, toy_data, model_r)[command]())
    assert bytes_of(tmp_path) == {f"{place}/mine": b"mine\n"}
