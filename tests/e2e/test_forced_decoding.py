"""score, rescore, align and calibrate through the real command line, on one small trained model."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import refusal
from tests.e2e.conftest import Toy, translate_toy
from transduce.base.files import read_lines
from transduce.bundle import read_bundle
from transduce.decoding.confidence import Calibration


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    src, tgt = tmp_path / "a.src", tmp_path / "a.tgt"
    src.write_text("sun moon\n\nsea\nfish\n", encoding="utf-8")
    tgt.write_text(f"{translate_toy('sun moon')}\nmar\nmar\nfoc\n", encoding="utf-8")
    yield src, tgt


def test_score_prints_a_line_for_a_pair_in_order(toy: Toy, files: tuple[Path, Path]) -> None:
    result = run_cli("score", toy.run, *files)
    assert result.code == 0, result.err
    rows = [line.split("\t") for line in result.lines]
    assert [len(row) for row in rows] == [3, 3, 3, 3]
    assert rows[1] == ["nan", "0", "nan"]
    right, wrong = float(rows[2][0]), float(rows[3][0])
    assert wrong < right <= 0
    assert float(rows[3][2]) == pytest.approx(math.exp(-wrong / int(rows[3][1])), abs=1e-3)
    assert "3 pairs: log-probability " in result.err and "perplexity " in result.err
    assert "warning: 1 pair not scored: the source is blank" in result.err


def test_score_of_a_translation_is_the_one_that_the_search_gave(toy: Toy, tmp_path: Path) -> None:
    src = toy.files["test"][0]
    found = [json.loads(line)["translations"][0] for line in run_cli("translate", toy.run, "-i", src, "--json").lines]
    output = tmp_path / "out"
    output.write_text("".join(f"{item['text']}\n" for item in found), encoding="utf-8")
    scores = [json.loads(line) for line in run_cli("score", toy.run, src, output, "--json").lines]
    # Two ways through float32 arithmetic, some tokens each.
    assert [item["log_prob"] for item in scores] == pytest.approx([item["log_prob"] for item in found], abs=1e-3)


def test_score_total_is_the_perplexity_of_evaluate(toy: Toy) -> None:
    src, ref = toy.files["dev"]
    report = json.loads(run_cli("evaluate", toy.run, "--src", src, "--ref", ref, "--json").out)
    assert (
        f"perplexity {report['perplexity']:.3f} per token ({report['n_tokens']} tokens)"
        in run_cli("score", toy.run, src, ref).err
    )


def test_score_shows_every_token(toy: Toy, files: tuple[Path, Path]) -> None:
    rows = [line.split("\t") for line in run_cli("score", toy.run, *files, "--tokens").lines]
    objects = [json.loads(line) for line in run_cli("score", toy.run, *files, "--tokens", "--json").lines]
    assert [row[0] for row in rows if row[2] == "</s>"] == ["1", "3", "4"]
    for item in objects:
        tokens = item.get("tokens", [])
        assert [token["piece"] for token in tokens] == [row[2] for row in rows if row[0] == str(item["line"])]
        assert sum(token["log_prob"] for token in tokens) == pytest.approx(item["log_prob"] or 0)
    assert objects[1] == {"line": 2, "log_prob": None, "n_tokens": 0, "perplexity": None, "skipped": "blank"}


def test_score_refuses_files_out_of_step_before_it_prints(toy: Toy, files: tuple[Path, Path], tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("sol\n", encoding="utf-8")
    message = refusal(run_cli("score", toy.run, files[0], short))
    assert "has 4 lines" in message and "has 1 line" in message
    assert "no such file" in refusal(run_cli("score", toy.run, files[0], tmp_path / "gone"))


def test_score_passes_over_long_pairs_and_says_so(toy: Toy, files: tuple[Path, Path]) -> None:
    result = run_cli("score", toy.run, *files, "--set", "decode.max_src_tokens=1", "--json")
    assert [json.loads(line).get("skipped") for line in result.lines][:2] == ["too long", "blank"]
    assert "not scored: a side is longer than decode.max_src_tokens" in result.err


def test_rescoring_with_the_same_model_changes_nothing(toy: Toy, tmp_path: Path) -> None:
    src, nbest = toy.files["test"][0], tmp_path / "nbest"
    nbest.write_text(run_cli("translate", toy.run, "-i", src, "--n-best", "3").out, encoding="utf-8")
    again = run_cli("rescore", toy.run, nbest, src)
    assert again.code == 0, again.err
    before = [line.split("\t") for line in read_lines(nbest)]
    after = [line.split("\t") for line in again.lines]
    # Texts that were spelled in unusual pieces may move; the best of each list never does here.
    assert [row[3] for row in before if row[1] == "1"] == [row[3] for row in after if row[1] == "1"]
    old = {(row[0], row[3]): float(row[2]) for row in before}
    close = [abs(old[row[0], row[3]] - float(row[2])) < 1e-3 for row in after]
    assert sum(close) > 0.8 * len(close)


def test_rescore_keeps_what_an_object_holds_and_ranks_anew(toy: Toy, tmp_path: Path) -> None:
    src, nbest = tmp_path / "src", tmp_path / "nbest.jsonl"
    src.write_text("sun\n\n", encoding="utf-8")
    lists = [
        {
            "line": 1,
            "id": "x",
            "translations": [{"text": "mar", "score": -1, "n": 1}, {"text": "sol", "score": -2, "n": 2}],
        },
        {"line": 2, "translations": [{"text": "", "score": 0}]},
    ]
    nbest.write_text("".join(json.dumps(item) + "\n" for item in lists), encoding="utf-8")
    alone = [json.loads(line) for line in run_cli("rescore", toy.run, nbest, src).lines]
    assert alone[0]["id"] == "x"
    assert [(item["text"], item["n"], item["old_score"]) for item in alone[0]["translations"]] == [
        ("sol", 2, -2),
        ("mar", 1, -1),
    ]
    assert all(item["score"] == item["model_score"] for item in alone[0]["translations"])
    assert alone[1]["translations"] == [{"text": "", "score": 0, "old_score": 0, "model_score": None}]
    old = [
        json.loads(line) for line in run_cli("rescore", toy.run, nbest, src, "--weight", "0", "--old-weight", "1").lines
    ]
    assert [item["text"] for item in old[0]["translations"]] == ["mar", "sol"]


@pytest.mark.parametrize(
    ("nbest", "message"),
    [
        ("1\t1\t-1.0\tsol\n", "after the lists of 1 lines stands nothing, and not line 2"),
        ("1\t1\t-1.0\tsol\n3\t1\t-1.0\tsol\n", "stands line 3, and not line 2"),
        ("1\t1\t-1.0\ta\n2\t1\t-1.0\ta\n3\t1\t-1.0\ta\n", "has a list for line 3, but"),
        ("1\t1\tsol\n", "nbest, line 1: this is no line of an n-best list"),
        ("1\t1\tnan\tsol\n", "nbest, line 1: this is no line of an n-best list"),
        ('{"line": 1}\n', "nbest, line 1: this is no n-best list (KeyError: 'translations')"),
        ('{"line": "1", "translations": []}\n', "(TypeError: the value of 'line' is \"1\")"),
        ('{"line": true, "translations": []}\n', "(TypeError: the value of 'line' is true)"),
        ('{"line": 1, "translations": [{"text": 1, "score": -1}]}\n', "(TypeError: the value of 'text' is 1)"),
        (
            '{"line": 1, "translations": [{"text": "a", "score": "-1"}]}\n',
            "(TypeError: the value of 'score' is \"-1\")",
        ),
        ('{"line": 1, "translations": ["a"]}\n', '(TypeError: "a" is no object)'),
        (
            '{"line": 1, "id": "\\ud800", "translations": []}\n',
            "nbest, line 1: this is no n-best list (UnicodeEncodeError",
        ),
    ],
)
def test_lists_that_are_none_are_refused(toy: Toy, tmp_path: Path, nbest: str, message: str) -> None:
    src, file = tmp_path / "src", tmp_path / "nbest"
    src.write_text("sun\nsea\n", encoding="utf-8")
    file.write_text(nbest, encoding="utf-8")
    assert message in refusal(run_cli("rescore", toy.run, file, src))


def test_align_prints_links_of_every_pair(toy: Toy, files: tuple[Path, Path]) -> None:
    result = run_cli("align", toy.run, *files)
    assert result.code == 0, result.err
    assert len(result.lines) == 4 and result.lines[1] == ""
    objects = [json.loads(line) for line in run_cli("align", toy.run, *files, "--json").lines]
    assert objects[0]["src"] == ["sun", "moon"] and objects[0]["tgt"] == ["lun", "sol"]
    for line, item in zip(result.lines, objects, strict=True):
        assert line == " ".join(f"{link['src']}-{link['tgt']}" for link in item["links"])
    assert run_cli("align", toy.run, *files, "--layer", "1").out == result.out
    assert "there is no decoder layer 2; it has layers 1 to 1" in refusal(
        run_cli("align", toy.run, *files, "--layer", "2")
    )
    strong = run_cli("align", toy.run, *files, "--min-share", "1").lines
    assert all(set(some.split()) <= set(every.split()) for some, every in zip(strong, result.lines, strict=True))
    pieces = json.loads(run_cli("align", toy.run, *files, "--unit", "pieces", "--json").lines[0])
    assert "".join(pieces["src"]) == "▁sun▁moon"


def test_calibration_goes_into_the_bundle_and_is_used(toy: Toy, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(toy.run / "model", bundle)
    assert "make one with 'transduce calibrate'" in refusal(run_cli("calibrate", bundle, *toy.files["test"], "--check"))
    report = json.loads(run_cli("calibrate", bundle, *toy.files["dev"], "--json").out)
    assert report["n_sentences"] == 60 and report["p_right"] > 0.9
    assert report["n_words"] < 1000
    assert 0 <= report["error"] < 0.1
    calibration = Calibration.load(read_bundle(bundle))
    assert calibration.n_words == report["n_words"]
    again = run_cli("calibrate", bundle, *toy.files["dev"])
    assert f"its translations have only {report['n_words']} words" in again.err
    assert again.code == 0 and "calibration error" in again.out
    assert Calibration.load(read_bundle(bundle)) == calibration
    checked = run_cli("calibrate", bundle, *toy.files["test"], "--check")
    assert checked.code == 0 and "calibration error" in checked.out
    assert run_cli("translate", bundle, stdin="sun moon\n").lines == [translate_toy("sun moon")]


def test_calibration_takes_the_dev_set_of_the_run_and_needs_some_lines(toy: Toy, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(toy.run, run)
    note = json.loads((toy.run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({"data": str((toy.run / note["data"]).resolve())}), encoding="utf-8")
    assert json.loads(run_cli("calibrate", run, "--json").out)["n_sentences"] == 60
    few = tmp_path / "few"
    few.write_text("sun\n", encoding="utf-8")
    assert "has 1 lines, and calibration needs at least 10" in refusal(run_cli("calibrate", run, few, few))


def test_b087_bundles_that_cannot_vote_together_are_refused(toy: Toy, model_r: Path) -> None:
    message = refusal(run_cli("translate", toy.run, "--with", model_r, stdin="sun\n"))
    assert "cannot vote together" in message and "vocabularies differ" in message


def test_a_bundle_that_votes_with_itself_translates_as_alone(toy: Toy) -> None:
    source = toy.files["test"][0].read_bytes()
    together = run_cli("translate", toy.run, "--with", f"{toy.run / 'best'}=0", "--with", toy.run, stdin=source)
    assert together.code == 0, together.err
    assert together.out == run_cli("translate", toy.run, stdin=source).out


def test_mistakes_in_the_choice_of_files_and_weights_are_named(toy: Toy, tmp_path: Path) -> None:
    src, nbest = toy.files["test"][0], tmp_path / "nbest"
    nbest.write_text("1\t1\t-1.0\tsol\n", encoding="utf-8")
    assert "give both, or neither for the dev set of the run" in refusal(run_cli("calibrate", toy.run, src))
    assert "both the source and the references are standard input" in refusal(run_cli("calibrate", toy.run, "-", "-"))
    assert "both the translations and the references are standard input" in refusal(run_cli("bleu", "-", "-"))
    for weight in ("nan", "inf", "-inf"):
        assert f"{weight} is no weight of a score" in refusal(
            run_cli("rescore", toy.run, nbest, src, "--weight", weight)
        )
