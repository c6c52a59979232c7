"""Scoring finished translations: fault cases of the kind L."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import refusal
from tests.shared import case_file


def test_b097_an_empty_reference_is_refused_with_its_line() -> None:
    hypotheses, references = case_file("B097.hyp"), case_file("B097.ref")
    assert "reference 2 of 3 is empty" in refusal(run_cli("bleu", hypotheses, references))
    assert "reference 2 of 3 is empty" in refusal(run_cli("compare", references, hypotheses, hypotheses))
    several = refusal(run_cli("bleu", hypotheses, hypotheses, references, "--flavours", "--language", "en"))
    assert "reference 2 of 3 in set 2 of 2 is empty" in several


def test_b099_unequal_counts_are_refused_both_ways(model_r: Path, tmp_path: Path) -> None:
    hypotheses, references = case_file("B099.hyp"), case_file("B099.ref")
    assert "2 hypotheses and 3 references" in refusal(run_cli("bleu", hypotheses, references))
    assert "3 hypotheses and 2 references" in refusal(run_cli("bleu", references, hypotheses))
    assert "2 hypotheses and 3 references" in refusal(run_cli("compare", references, references, hypotheses))
    assert "3 hypotheses and 2 references in set 2 of 2" in refusal(
        run_cli("bleu", references, references, hypotheses, "--confidence")
    )
    for src, ref in ((hypotheses, references), (references, hypotheses)):
        message = refusal(run_cli("evaluate", model_r, "--src", src, "--ref", ref, "--output", tmp_path / "out"))
        assert "2" in message and "3" in message
    assert list(tmp_path.iterdir()) == []


def test_b099_unequal_counts_are_refused_before_the_first_update(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "run"
    assert run_cli("prepare", "phrasebook", "--out", data).code == 0
    target = data / "dev" / "tgt.txt"
    lines = target.read_text(encoding="utf-8").splitlines(keepends=True)
    target.write_text("".join(lines[:-1]), encoding="utf-8")
    message = refusal(run_cli("train", "phrasebook", "--data", data, "--out", out))
    assert f"{len(lines)} hypotheses and {len(lines) - 1} references" in message and str(target) in message
    assert not list(out.glob("checkpoints/*"))


def test_b101_tokenized_text_is_scored_as_it_is_with_a_warning() -> None:
    tokenized = run_cli("bleu", case_file("B101.tok.hyp"), case_file("B101.ref"))
    assert (
        tokenized.lines[0].startswith("BLEU 76.58 (nrefs:1|case:mixed|eff:no|tok:13a|") and "version:" in tokenized.out
    )
    assert tokenized.err.startswith(f"warning: {case_file('B101.tok.hyp')} looks tokenized")
    assert tokenized.err.count("\n") == 1
    compared = run_cli("compare", case_file("B101.ref"), case_file("B101.detok.hyp"), case_file("B101.tok.hyp"))
    assert compared.err.startswith(f"warning: {case_file('B101.tok.hyp')} looks tokenized")
    assert compared.err.count("\n") == 1
    plain = run_cli("bleu", case_file("B101.detok.hyp"), case_file("B101.ref"))
    assert plain.lines[0].startswith("BLEU 100.00 (")
    assert (plain.code, plain.err) == (0, "")


def test_b103_text_without_spaces_needs_its_own_tokenizer() -> None:
    hypotheses, references = case_file("B103.zh.hyp"), case_file("B103.zh.ref")
    chosen = json.loads(run_cli("bleu", hypotheses, references, "--tokenize", "zh", "--json").out)
    # The figures of sacrebleu 2.6.0 in the case, which has four digits.
    assert chosen["bleu"]["value"] == pytest.approx(66.1120, abs=5e-5)
    assert chosen["chrf"]["value"] == pytest.approx(54.3255, abs=5e-5)
    assert "tok:zh" in chosen["bleu"]["signature"]
    itself = run_cli("bleu", references, references, "--tokenize", "zh")
    assert itself.lines[0].startswith("BLEU 100.00 (") and itself.err == ""
    default = run_cli("bleu", hypotheses, references)
    assert default.lines[0].startswith("BLEU 0.00 (")
    assert default.err.startswith("warning: ") and "use --tokenize zh or char" in default.err
    compared = json.loads(run_cli("compare", references, hypotheses, references, "--json").out)
    assert "tok:zh" in compared["metrics"][0]["signature"]
    assert compared["metrics"][0]["systems"][0]["value"] == pytest.approx(66.1120, abs=5e-5)
