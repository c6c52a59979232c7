"""shortlist, and translating with it, through the real command line, on one small trained model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import refusal
from tests.e2e.conftest import Toy, translate_toy
from transduce.bundle import read_bundle
from transduce.decoding.shortlist import Shortlist
from transduce.pipeline.shortlist import N_FREQUENT, PER_TOKEN


@pytest.fixture(scope="module")
def run(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the run, with a shortlist of the narrowest kind in its bundle."""
    copy = tmp_path_factory.mktemp("shortlist") / "run"
    shutil.copytree(toy.run, copy)
    made = run_cli("shortlist", copy, toy.data, "--per-token", "10", "--frequent", "0", "--json")
    assert made.code == 0, made.err
    report = json.loads(made.out)
    assert "learning: 5 of 5 passes done" in made.err
    # The language maps each word to one word: a list of a few tokens a word and the bytes has all of them.
    assert report["p_covered"] == 1 and report["n_sentences"] == 60
    assert 260 <= report["mean_length"] < report["tgt_vocab_size"]
    assert report["bleu_listed"]["value"] == pytest.approx(report["bleu_whole"]["value"], abs=1)
    assert report["bleu_listed"]["signature"] == report["bleu_whole"]["signature"]
    assert min(report["speed_listed"], report["speed_whole"]) > 0 and 0 <= report["p_same"] <= 1
    return copy


def test_it_is_a_part_of_the_bundle_and_used_only_when_asked(run: Path, toy: Toy) -> None:
    src = toy.files["test"][0]
    whole = run_cli("translate", toy.run, "-i", src, "--json")
    assert run_cli("translate", run, "-i", src, "--json").out == whole.out
    listed = run_cli("translate", run, "-i", src, "--json", "--shortlist")
    assert listed.code == 0, listed.err
    pairs = [
        (json.loads(ours)["translations"][0], json.loads(theirs)["translations"][0])
        for ours, theirs in zip(listed.lines, whole.lines, strict=True)
    ]
    same = [(ours, theirs) for ours, theirs in pairs if ours["text"] == theirs["text"]]
    assert len(same) >= 55
    # Over fewer tokens the same translation is at least as probable; a hundred roundings of float32 aside.
    assert all(ours["log_prob"] >= theirs["log_prob"] - 1e-5 for ours, theirs in same)
    assert any(ours["log_prob"] > theirs["log_prob"] for ours, theirs in same)


def test_every_engine_and_every_search_has_it(run: Path, toy: Toy) -> None:
    src = toy.files["test"][0]
    shortlist = Shortlist.load(read_bundle(run))
    bundle = read_bundle(run)
    texts = src.read_text(encoding="utf-8").splitlines()
    for options in (["--engine", "torch"], ["--beam", "1"], ["--set", "decode.search=sample"], ["--with", str(run)]):
        result = run_cli("translate", run, "-i", src, "--json", "--pieces", "--shortlist", *options)
        assert result.code == 0, result.err
        for text, line in zip(texts, result.lines, strict=True):
            allowed = bundle.tokenizers.tgt.pieces(shortlist.for_source(bundle.tokenizers.src.encode(text)).tolist())
            assert set(json.loads(line)["translations"][0]["pieces"]) <= set(allowed)


def test_the_table_for_people(run: Path, toy: Toy) -> None:
    result = run_cli("shortlist", run, toy.data)
    assert result.code == 0, result.err
    names = [line[:19].strip() for line in result.lines[1:]]
    assert names == [
        "tokens of a sentence"[:19],
        "reference covered",
        "BLEU",
        "same translation",
        "sentences/s",
        "signature",
    ]
    assert "whole vocabulary: " in result.out and " times)" in result.out


def test_without_a_dev_set_it_is_made_and_not_measured(toy: Toy, tmp_path: Path) -> None:
    copy, data = tmp_path / "run", tmp_path / "data"
    shutil.copytree(toy.run, copy)
    shutil.copytree(toy.data, data)
    shutil.rmtree(data / "dev")
    made = run_cli("shortlist", copy, data, "--per-token", "10", "--frequent", "0", "--json")
    assert (made.code, made.out) == (0, "")
    assert "the dev set is missing or empty, so what the shortlist costs is not measured" in made.err
    assert run_cli("translate", copy, "--shortlist", stdin="sun moon\n").lines == [translate_toy("sun moon")]


def test_the_help_has_the_defaults() -> None:
    text = " ".join(run_cli("shortlist", "--help").out.replace("│", " ").split())
    assert f"Translations of each source token; not given, {PER_TOKEN}." in text
    assert f"every sentence may use; not given, {N_FREQUENT}." in text


def test_mistakes_are_named(toy: Toy, toy_data: Path, run: Path, tmp_path: Path) -> None:
    assert "make one with 'transduce shortlist BUNDLE PREPARED'" in refusal(
        run_cli("translate", toy.run, "--shortlist", stdin="sun\n")
    )
    assert "run prepare again" in refusal(run_cli("shortlist", run, tmp_path / "nothing"))
    assert "made with another tokenizer" in refusal(run_cli("shortlist", run, toy_data))
    assert "only decode.* can be set here" in refusal(run_cli("shortlist", run, toy.data, "--set", "train.seed=2"))
