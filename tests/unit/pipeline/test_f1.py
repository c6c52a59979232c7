"""Scoring files of parses."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.pipeline.f1 import f1_files

TREE = "(TOP (S (NP (NN tea)) (VP (VBZ helps) (NP (PRP us))) (. .)))"
FLAT = "(TOP (S (NN tea) (VBZ helps) (PRP us) (. .)))"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_gold_trees_may_be_laid_out_and_packed(tmp_path: Path) -> None:
    gold = tmp_path / "gold.mrg.gz"
    with gzip.open(gold, "wt", encoding="utf-8") as stream:
        stream.write("\n(TOP\n  (S (NP (NN tea))\n     (VP (VBZ helps) (NP (PRP us)))\n     (. .)))\n\n" + TREE + "\n")
    report = f1_files(gold, write(tmp_path / "pred", TREE, FLAT))
    assert report.scores.totals().n_matched == 5  # four brackets, and S
    assert report.f1 == pytest.approx(100 * 2 * 5 / (8 + 5))  # the harmonic mean of 5/8 and 5/5
    assert report.interval.low <= report.f1 <= report.interval.high
    assert report.comparison is None


def test_a_better_parser_is_compared_with_its_baseline(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold", *[TREE] * 20)
    good = write(tmp_path / "good", *[TREE] * 19, FLAT)
    bad = write(tmp_path / "bad", *[FLAT] * 19, "")
    found = f1_files(gold, good, baseline=bad).comparison
    assert found is not None and found.p_value < 0.01 and found.wins == 1.0
    assert found.system == f1_files(gold, good).f1 and found.baseline == f1_files(gold, bad).f1
    same = f1_files(gold, good, baseline=good).comparison
    assert same is not None and (same.difference, same.p_value) == (0.0, 1.0)


def test_messages_name_the_file_that_is_wrong(tmp_path: Path) -> None:
    gold, broken = write(tmp_path / "gold", TREE, TREE), write(tmp_path / "broken", TREE, "(TOP (S (NN tea))")
    with pytest.raises(DataError, match=r"pred: 2 gold trees and 1 predictions: .* a failed one leaves an empty line"):
        f1_files(gold, write(tmp_path / "pred", TREE))
    with pytest.raises(DataError, match=r"broken, line 2: "):
        f1_files(broken, gold)
    with pytest.raises(DataError, match=r"nowhere: no such file"):
        f1_files(gold, gold, baseline=tmp_path / "nowhere")
    bare = write(tmp_path / "bare", TREE, "(TOP (S tea))", "(TOP (S (NP the (NN tea))))")
    with pytest.raises(DataError, match=r"bare and .*gold: gold tree 3: 'the' does not stand in brackets"):
        f1_files(bare, write(tmp_path / "gold", TREE, TREE, TREE))
    with pytest.raises(DataError, match="only one file can be standard input"):
        f1_files("-", "-")


def test_roots_that_count_are_named_once_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    inner = TREE.removeprefix("(TOP ").removesuffix(")")
    gold = write(tmp_path / "gold", TREE, TREE, TREE, TREE)
    with caplog.at_level(logging.WARNING, "transduce"):
        f1_files(gold, write(tmp_path / "pred", TREE, f"( {inner} )", f"(ROOT {inner})", inner))
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'pred'}: the outermost brackets of 2 of 4 trees (no label and ROOT) count as brackets, for EVALB too, "
        "since the parameters do not delete them; let all trees have the root TOP"
    ]
