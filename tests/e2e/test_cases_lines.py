"""Lines and encodings: fault cases of the kinds A and K."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import TINY, bytes_of, prepare, refusal, settings, stored_pairs, translate, wdiff
from tests.shared import case_file
from transduce.tokenizer import load_tokenizers
from transduce.tokenizer.protocol import N_CONTROL

# Kind A.


def test_b001_only_lf_ends_a_line(model_t: Path, tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "out", train="B001")
    assert "4 pairs read, 4 kept" in prepared.out
    sides = (case_file(f"B001.{side}").read_bytes().decode().split("\n")[:-1] for side in ("src", "tgt"))
    assert stored_pairs(tmp_path / "out") == list(zip(*sides, strict=True))
    source = case_file("B001.src").read_bytes()
    lines = translate(model_t, source)
    assert len(lines) == 4
    assert translate(model_t, source.split(b"\n")[3]) == lines[3:]


def test_b003_crlf_and_lf_are_the_same_text(model_t: Path, tmp_path: Path) -> None:
    for name in ("B003", "B003.lf"):
        files = ("--train-src", case_file(f"{name}.src"), "--train-tgt", case_file("B003.tgt"))
        assert run_cli("prepare", "--out", tmp_path / name, *files, *settings("tokenizer.vocab_size=300")).code == 0
    crlf, lf = (bytes_of(tmp_path / name, but=("settings.toml", "report.json")) for name in ("B003", "B003.lf"))
    assert crlf == lf
    tokenizer = load_tokenizers(tmp_path / "B003" / "tokenizer").src
    learned = tokenizer.pieces(range(N_CONTROL + 256, tokenizer.vocab_size))  # before them, every byte has its entry
    assert learned and not any("\r" in piece for piece in learned)
    crlf_lines = translate(model_t, case_file("B003.src").read_bytes())
    assert crlf_lines == translate(model_t, case_file("B003.lf.src").read_bytes())
    assert len(crlf_lines) == 4 and not any("\r" in line for line in crlf_lines)


def test_b005_a_byte_that_is_not_utf8_is_named_by_file_and_line(model_t: Path, tmp_path: Path) -> None:
    source, out = case_file("B005.src"), tmp_path / "out"
    results = [
        prepare(out, train="B005"),
        run_cli("translate", model_t, "--input", source, "--output", out),
        run_cli("bleu", source, case_file("B005.tgt")),
        run_cli("bleu", case_file("B005.tgt"), source),
        run_cli("evaluate", model_t, "--src", source, "--ref", case_file("B005.tgt"), "--output", out),
    ]
    for result in results:
        assert "B005.src, line 3: not UTF-8 (byte 0xe9 at column" in refusal(result)
    assert list(tmp_path.iterdir()) == []
    assert "standard input, line 3: not UTF-8" in refusal(run_cli("translate", model_t, stdin=source.read_bytes()))


def test_b005_in_a_dev_set_and_in_files_that_hold_both_sides(tmp_path: Path) -> None:
    lines = zip(*(case_file(f"B005.{side}").read_bytes().splitlines() for side in ("src", "tgt")), strict=True)
    (tmp_path / "both.tsv").write_bytes(b"".join(src + b"\t" + tgt + b"\n" for src, tgt in lines))
    both = run_cli("prepare", "--out", tmp_path / "out", "--train", tmp_path / "both.tsv")
    assert "both.tsv, line 3: not UTF-8" in refusal(both)
    assert "B005.src, line 3: not UTF-8" in refusal(prepare(tmp_path / "out", train="B007", dev="B005"))
    assert [path.name for path in tmp_path.iterdir()] == ["both.tsv"]


_C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
_UTF8_LOCALE = {"LC_ALL": "C.UTF-8"}


def _run_under(locale: dict[str, str], *arguments: str | Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    command = [sys.executable, "-m", "transduce", *map(str, arguments)]
    done = subprocess.run(command, env=environment | locale, capture_output=True, timeout=240, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()


@pytest.mark.parametrize("folder", ["plain", "größe"])
def test_b007_the_locale_decides_nothing(tmp_path: Path, folder: str) -> None:
    """Also where something is written into a folder with a name that the locale C cannot spell."""
    files = ("--train-src", case_file("B007.src"), "--train-tgt", case_file("B007.tgt"))
    for name, locale in (("c", _C_LOCALE), ("utf8", _UTF8_LOCALE)):
        values = settings("tokenizer.vocab_size=300", "data.n_workers=1")
        _run_under(locale, "prepare", "--out", tmp_path / folder / name, *files, *values)
    c, utf8 = (bytes_of(tmp_path / folder / name, but=("report.json",)) for name in ("c", "utf8"))
    assert c == utf8


@pytest.mark.slow  # two more processes that load torch
def test_b007_training_too(tmp_path: Path) -> None:
    files = [
        f"data.{part}_{side}=['{case_file(f'B007.{side}')}']" for part in ("train", "dev") for side in ("src", "tgt")
    ]
    values = settings(*TINY, *files, "tokenizer.vocab_size=300", "train.n_steps=2")
    for name, locale in (("größe", _C_LOCALE), ("utf8", _UTF8_LOCALE)):
        _run_under(locale, "train", "--out", tmp_path / name, *values)
    assert wdiff(tmp_path / "größe", tmp_path / "utf8") == 0.0


# Kind K.


def test_b089_line_i_translates_line_i(model_r: Path) -> None:
    source = case_file("B089.src").read_text(encoding="utf-8")
    short = settings("decode.max_tokens=5")  # a model that knows nothing does not end
    batches = settings("decode.batch_tokens=300", "decode.window_lines=10")
    together = translate(model_r, source, *short, *batches)
    alone = [line for text in source.split("\n")[:-1] for line in translate(model_r, text, *short)]
    assert len(together) == 30
    assert together == alone


def test_b091_blank_in_blank_out_in_all_modes(model_t: Path) -> None:
    source = case_file("B091.src").read_bytes()
    lines = translate(model_t, source)
    assert [bool(line) for line in lines] == [True, *[False] * 6, True]
    assert lines[:1] + lines[7:] == translate(model_t, "red boat\nblue tea\n")
    assert translate(model_t, source, "--beam", "1")[1:7] == [""] * 6
    assert translate(model_t, source, "--scores")[1:7] == ["0.000000\t"] * 6
    listed = translate(model_t, source, "--n-best", "2")
    assert listed[2:14] == [f"{line}\t{rank}\t0.000000\t" for line in range(2, 8) for rank in (1, 2)]
    minimum = settings("decode.min_tokens=3")
    assert translate(model_t, source, *minimum)[1:7] == [""] * 6


@pytest.mark.parametrize(
    ("name", "n_lines"),
    [("B093.nonl.src", 3), ("B093.blankend.src", 4), ("B093.crlfend.src", 3), ("toy/test.src", 100)],
)
def test_b093_as_many_lines_out_as_in(model_t: Path, tmp_path: Path, name: str, n_lines: int) -> None:
    windows = settings("decode.window_lines=32", "decode.max_tokens=8")
    lines = translate(model_t, case_file(name).read_bytes(), *windows)
    assert len(lines) == n_lines
    result = run_cli("translate", model_t, "-i", case_file(name), "-o", tmp_path / "out", *windows)
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "out").read_bytes().decode() == "".join(f"{line}\n" for line in lines)


def test_b093_nothing_in_nothing_out(model_t: Path) -> None:
    assert translate(model_t, "") == []
    assert translate(model_t, "\n") == [""]
