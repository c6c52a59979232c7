"""Every verb through the real command line, on one small trained model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli import run_cli
from tests.e2e.conftest import Toy, translate_toy
from transduce.bundle import read_bundle


def test_the_model_has_learned_its_language(toy: Toy) -> None:
    report = json.loads(run_cli("evaluate", toy.run, "--json").out)
    scores = {score["name"]: score["value"] for score in report["scores"]}
    assert scores["BLEU"] > 90
    assert report["perplexity"] < 1.5
    assert report["n_sentences"] == 60


def test_translate_gives_a_line_for_a_line_in_order(toy: Toy) -> None:
    result = run_cli("translate", toy.run, stdin="sun moon\n\n  \nsea\n")
    assert result.code == 0
    assert result.lines == [translate_toy("sun moon"), "", "", translate_toy("sea")]


def test_translate_reads_and_writes_files(toy: Toy, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.txt"
    assert run_cli("translate", toy.run, "-i", toy.files["test"][0], "-o", out).code == 0
    from_stdin = run_cli("translate", toy.run, stdin=toy.files["test"][0].read_bytes())
    assert out.read_text(encoding="utf-8") == from_stdin.out


def test_n_best_and_json_show_scores_best_first(toy: Toy) -> None:
    table = [line.split("\t") for line in run_cli("translate", toy.run, "--n-best", "3", stdin="sun moon\n").lines]
    assert [row[:2] for row in table] == [["1", "1"], ["1", "2"], ["1", "3"]]
    values = [float(row[2]) for row in table]
    assert values == sorted(values, reverse=True)
    best = run_cli("translate", toy.run, stdin="sun moon\n").lines[0]
    assert table[0][3] == best
    shown = json.loads(run_cli("translate", toy.run, "--json", stdin="sun moon\n").lines[0])
    assert shown["translations"][0]["text"] == best
    assert run_cli("translate", toy.run, "--scores", stdin="sun moon\n").lines[0].split("\t")[1] == best


def test_greedy_is_a_beam_of_one(toy: Toy) -> None:
    source = toy.files["test"][0].read_bytes()
    by_option = run_cli("translate", toy.run, "--beam", "1", stdin=source)
    by_setting = run_cli("translate", toy.run, "--set", "decode.beam_size=1", stdin=source)
    assert by_option.out == by_setting.out


def test_evaluate_takes_files_and_keeps_the_translations(toy: Toy, tmp_path: Path) -> None:
    src, ref = toy.files["dev"]
    out = tmp_path / "hyp.txt"
    result = run_cli("evaluate", toy.run, "--src", src, "--ref", ref, "--output", out, "--flavours")
    assert result.code == 0, result.err
    assert "tokenized BLEU" in result.out
    assert "tok:13a" in result.out
    scored = json.loads(run_cli("bleu", out, ref, "--json").out)
    assert f"{scored['bleu']['value']:.2f}" in result.out


def test_one_endless_line_in_a_test_set_does_not_take_all_memory(toy: Toy, tmp_path: Path) -> None:
    src, ref = tmp_path / "src.txt", tmp_path / "ref.txt"
    for file, given in zip((src, ref), toy.files["dev"], strict=True):
        first = given.read_text(encoding="utf-8").partition("\n")[0]
        file.write_text(f"{first}\n{'x' * 200_000}\n", encoding="utf-8")
    result = run_cli("evaluate", toy.run, "--src", src, "--ref", ref, "--set", "decode.max_tokens=5")
    assert result.code == 0, result.err
    assert "1 pair left out of the perplexity: more than 1,024 tokens" in result.err


def test_average_of_one_checkpoint_is_that_checkpoint(toy: Toy, tmp_path: Path) -> None:
    assert run_cli("average", toy.run, "--last", "1", "--out", tmp_path / "a").code == 0
    newest = sorted((toy.run / "checkpoints").iterdir())[-1]
    ours, theirs = read_bundle(tmp_path / "a").weights(), read_bundle(newest).weights()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    two = run_cli("average", *sorted((toy.run / "checkpoints").iterdir()), "--out", tmp_path / "b")
    assert two.code == 0, two.err
    assert run_cli("translate", tmp_path / "b", stdin="sun\n").code == 0


def test_average_says_when_there_are_too_few(toy: Toy, tmp_path: Path) -> None:
    result = run_cli("average", toy.run, "--last", "9", "--out", tmp_path / "a")
    assert (result.code, result.out) == (2, "")
    assert "has 2 checkpoints, and the average of the last 9 is asked for" in result.err
    assert not (tmp_path / "a").exists()


def test_inspect_describes_and_draws(toy: Toy, tmp_path: Path) -> None:
    text = run_cli("inspect", toy.run).out
    assert "1 encoder, 1 decoder, pre-norm" in text
    picture = tmp_path / "attention.svg"
    drawn = run_cli("inspect", toy.run, "sun moon", "--attention", picture)
    assert drawn.out == translate_toy("sun moon") + "\n"
    assert b"<svg" in picture.read_bytes()
    for bad in ("picture.txt", "picture"):
        result = run_cli("inspect", toy.run, "sun", "--attention", tmp_path / bad)
        assert result.code == 2
        assert ".png" in result.err


def test_pictures_of_any_characters(toy: Toy, tmp_path: Path) -> None:
    sentence = "猫 قطة 🐈 $x_1$ \\alpha"
    result = run_cli("inspect", toy.run, sentence, "--attention", tmp_path / "a.png", "--target", sentence)
    assert result.code == 0, result.err
    assert (tmp_path / "a.png").stat().st_size > 5000
    assert result.err.count("\n") <= 3


def test_a_finished_run_is_not_overwritten_and_resumes_to_itself(toy: Toy) -> None:
    from tests.e2e.conftest import TOY_SETTINGS

    before = (toy.run / "model" / "model.safetensors").read_bytes()
    settings = [item for value in TOY_SETTINGS for item in ("--set", value)]
    refused = run_cli("train", "--data", toy.data, "--out", toy.run, *settings)
    assert refused.code == 2
    assert "add --resume" in refused.err
    resumed = run_cli("train", "--data", toy.data, "--out", toy.run, "--resume", *settings)
    assert resumed.code == 0, resumed.err
    assert (toy.run / "model" / "model.safetensors").read_bytes() == before


def test_two_processes_never_train_in_one_directory(toy: Toy) -> None:
    from tests.e2e.conftest import TOY_SETTINGS
    from transduce.base.files import locked_directory

    settings = [item for value in TOY_SETTINGS for item in ("--set", value)]
    with locked_directory(toy.run):  # as a training that goes on at this moment
        refused = run_cli("train", "--data", toy.data, "--out", toy.run, "--resume", *settings)
    assert refused.code == 2
    assert "another process is training here" in refused.err


def test_settings_of_a_trained_model_cannot_be_changed(toy: Toy) -> None:
    result = run_cli("translate", toy.run, "--set", "model.d_model=8", stdin="sun\n")
    assert result.code == 2
    assert result.err == (
        "error: --set model.d_model=8: has no effect, since the model is trained; only decode.* can be set here\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "nowhere"], "error: nowhere: no such bundle; give the directory that 'transduce train' wrote\n"),
        (["recipes", "smal"], "did you mean 'small'?"),
        (["settings", "explain", "train.bach_tokens"], "did you mean 'train.batch_tokens'?"),
        (["bleu", "gone.hyp", "gone.ref"], "error: gone.hyp: no such file"),
        (["train", "gone.toml", "--out", "x"], "error: gone.toml: no such settings file"),
        (["train", "--data", "gone", "--out", "x"], "error: gone: this is not a prepared data set"),
        (["settings", "show", "--set", "model.d_modle=3"], "did you mean 'd_model'?"),
    ],
)
def test_mistakes_end_in_one_sentence(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli(*arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_traceback_is_shown_when_asked_for() -> None:
    with pytest.raises(Exception, match="no such bundle"):
        run_cli("translate", "nowhere", "--traceback")


def test_version_and_doctor() -> None:
    assert run_cli("--version").out.startswith("transduce 0.")
    findings = json.loads(run_cli("doctor", "--json").out)
    assert {"transduce", "torch", "CUDA", "cores"} <= findings.keys()
