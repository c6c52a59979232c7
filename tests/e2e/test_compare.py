"""Scoring and comparing files through the command line: what is printed, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import refusal
from tests.e2e.conftest import Toy
from transduce.base.files import read_lines
from transduce.metrics.bleu import bleu_statistics
from transduce.metrics.significance import confidence_interval

WORDS = ("der", "die", "ein", "Hund", "Katze", "läuft", "springt", "über", "Wiese", "Haus", "Well-Blech", "nicht")
FLAVOURS = [
    "BLEU", "BLEU lc", "BLEU intl", "BLEU intl lc", "tokenized BLEU", "tokenized BLEU lc", "split BLEU", "split BLEU lc",
    "tokenized BLEU norm lc", "chrF2", "chrF2++",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """References, and two outputs of which the second has fewer wrong words."""
    home, drawn = tmp_path_factory.mktemp("compare"), random.Random(3)
    references = [drawn.choices(WORDS, k=drawn.randint(4, 12)) for _ in range(150)]
    paths = {}
    for name, p_change in (("test.de", 0.0), ("bad.de", 0.5), ("good.de", 0.2)):
        noise = random.Random(4)
        changed = [
            [noise.choice(WORDS) if noise.random() < p_change else word for word in words] for words in references
        ]
        paths[name] = home / name
        paths[name].write_text("".join(f"{' '.join(words)}.\n" for words in changed), encoding="utf-8")
    return paths


def test_the_better_output_is_found_better(files: dict[str, Path]) -> None:
    result = run_cli(
        "compare", files["test.de"], files["bad.de"], files["good.de"], files["bad.de"], "--metric", "bleu"
    )
    assert (result.code, result.err) == (0, "")
    title, baseline, better, same = result.lines
    assert title.startswith("BLEU (nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert baseline.endswith("]  baseline")
    assert better.endswith("p = 0.0010  better in 100.0% of resamples")
    assert "+0.00 [+0.00, +0.00]  p = 1.0000  better in 0.0% of resamples" in same


def test_all_metrics_as_json(files: dict[str, Path]) -> None:
    metrics = [item for name in ("chrf++", "ter", "tokenized", "split") for item in ("--metric", name)]
    options = ("--test", "randomization", "--samples", "99", "--seed", "3", "--json")
    result = run_cli("compare", files["test.de"], files["bad.de"], files["good.de"], *metrics, *options)
    reports = json.loads(result.out)["metrics"]
    assert [report["metric"] for report in reports] == ["chrF2++", "TER", "tokenized BLEU", "split BLEU"]
    for report in reports:
        assert "|ar:99|seed:3|" in report["signature"]
        baseline, system = report["systems"]
        found = system["comparison"]
        assert baseline["comparison"] is None
        assert found["difference"] == pytest.approx(system["value"] - baseline["value"])
        assert (found["difference"] < 0) == (report["metric"] == "TER")
        assert (found["p_value"], found["wins"]) == (0.01, 1.0)
        assert baseline["interval"]["low"] < baseline["value"] < baseline["interval"]["high"]


def test_what_cannot_be_compared_is_refused(files: dict[str, Path]) -> None:
    no_such = refusal(run_cli("compare", files["test.de"], files["bad.de"], files["good.de"], "--metric", "meteor"))
    assert "there is no such metric; choose from bleu, chrf, chrf++, ter, tokenized, split" in no_such
    twice = refusal(run_cli("compare", files["test.de"], "-", "-", stdin="x\n"))
    assert "-: only one file can be standard input" in twice


def test_files_that_do_not_fit_are_named(files: dict[str, Path], tmp_path: Path) -> None:
    short, holed = tmp_path / "short.de", tmp_path / "holed.de"
    short.write_text("one\n")
    holed.write_text("x\n\n" + "x\n" * 148)
    unequal = refusal(run_cli("compare", files["test.de"], files["bad.de"], short))
    assert f"1 hypotheses and 150 references ({short} and {files['test.de']})" in unequal
    empty = refusal(run_cli("bleu", files["bad.de"], files["test.de"], holed))
    assert f"reference 2 of 150 in set 2 of 2 is empty ({holed})" in empty


def test_options_without_effect_are_refused(files: dict[str, Path]) -> None:
    three = (files["test.de"], files["bad.de"], files["good.de"])
    assert "--language has an effect on --metric tokenized and split only" in refusal(
        run_cli("compare", *three, "--language", "de")
    )
    assert "--tokenize has an effect on --metric bleu only" in refusal(
        run_cli("compare", *three, "--metric", "chrf", "--tokenize", "intl")
    )


def test_all_intervals_are_of_as_many_resamples_as_the_signature_says(files: dict[str, Path]) -> None:
    options = ("--metric", "bleu", "--metric", "bleu", "--samples", "1200", "--json")
    (report,) = json.loads(run_cli("compare", files["test.de"], files["bad.de"], files["good.de"], *options).out)[
        "metrics"
    ]
    assert "|bs:1200|" in report["signature"]
    baseline, system = report["systems"]
    assert (system["comparison"]["n_samples"], system["comparison"]["n_resamples"]) == (1200, 1200)
    references, bad = (list(read_lines(files[name])) for name in ("test.de", "bad.de"))
    interval = confidence_interval(bleu_statistics(bad, references), n_resamples=1200)
    assert baseline["interval"] == {"low": interval.low, "high": interval.high}


def test_flavours_with_intervals_and_the_one_that_the_paper_prints(files: dict[str, Path]) -> None:
    result = run_cli("bleu", files["good.de"], files["test.de"], "--flavours", "--ter", "--confidence")
    assert (result.code, result.err) == (0, "")
    assert [line.partition("  ")[0] for line in result.lines[:-1]] == [*FLAVOURS, "TER"]
    assert all("] " in line and "|bs:1000|seed:12345|" in line for line in result.lines[:-1])
    assert result.lines[-1] == "The paper's figures for English-German (Table 2) are split BLEU of newstest2014."
    alone = run_cli("bleu", files["good.de"], files["test.de"], "--confidence")
    assert alone.lines[0].partition(" (")[0].split() == result.lines[0].partition("   nrefs")[0].split()


def test_flavours_need_a_language_and_no_tokenizer(files: dict[str, Path], tmp_path: Path) -> None:
    plain = tmp_path / "out.txt"
    plain.write_bytes(files["good.de"].read_bytes())
    assert "give --language" in refusal(run_cli("bleu", plain, plain, "--flavours"))
    french = run_cli("bleu", plain, plain, "--flavours", "--language", "fr")
    assert "tok:moses-fr" in french.out and "are tokenized BLEU" in french.lines[-1]
    assert french.err == ""
    unknown = run_cli("bleu", plain, plain, "--flavours", "--language", "klingon")
    assert unknown.code == 0 and unknown.err.startswith("warning: language klingon: Moses has no abbreviations for it")
    assert "leave --tokenize and --lowercase out" in refusal(
        run_cli("bleu", plain, plain, "--flavours", "--language", "fr", "--tokenize", "intl")
    )
    assert "--language has an effect on --flavours only" in refusal(run_cli("bleu", plain, plain, "--language", "fr"))


def test_a_second_reference_can_only_help(files: dict[str, Path]) -> None:
    one = json.loads(run_cli("bleu", files["bad.de"], files["test.de"], "--json").out)
    two = json.loads(run_cli("bleu", files["bad.de"], files["test.de"], files["good.de"], "--json").out)
    assert two["bleu"]["value"] > one["bleu"]["value"]
    assert two["bleu"]["signature"].startswith("nrefs:2|")
    assert two["scores"] == [two["bleu"], two["chrf"]]


def test_evaluate_scores_as_bleu_does(toy: Toy, tmp_path: Path) -> None:
    src, ref = toy.files["dev"]
    out, options = tmp_path / "out.txt", ("--flavours", "--language", "de", "--confidence", "--ter")
    result = run_cli("evaluate", toy.run, "--src", src, "--ref", ref, "--output", out, *options)
    assert result.code == 0, result.err
    assert set(run_cli("bleu", out, ref, *options).lines) <= set(result.lines)
    report = json.loads(run_cli("evaluate", toy.run, "--src", src, "--ref", ref, "--json").out)
    # Both are the same sum of log-probabilities, divided by other counts.
    references = list(read_lines(ref))
    n_words = sum(len(text.split()) + 1 for text in references)
    n_characters = sum(len(text) + 1 for text in references)
    bits = report["bits_per_character"] * n_characters
    assert report["perplexity_per_word"] == pytest.approx(2 ** (bits / n_words))
    assert report["perplexity"] == pytest.approx(2 ** (bits / report["n_tokens"]))
