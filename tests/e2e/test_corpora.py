from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.file_server import FileServer, Manners, serve
from tests.shared import data_file
from tests.unit.data.archives import pack, sgml


@pytest.fixture
def multi30k(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    served = data_file("multi30k/train.en.gz").parent
    monkeypatch.setenv("no_proxy", "*")
    with serve(served) as server:
        yield server


def test_get_from_an_address(multi30k: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSDUCE_CORPORA", str(tmp_path))
    first = run_cli("corpora", "get", "multi30k", "--from", multi30k.url)
    assert first.code == 0, first.err
    assert "29,000 pairs" in first.out and str(tmp_path / "multi30k" / "text") in first.out
    assert first.err.splitlines()[0] == "fetched train.en.gz (568,929 bytes)"
    assert len(first.err.splitlines()) == len(multi30k.asked) == 8
    second = run_cli("corpora", "get", "multi30k", "--from", multi30k.url, "--json")
    assert (second.code, second.err) == (0, "")
    assert json.loads(second.out) == {"train": 29_000, "dev": 1_014, "test": 1_000, "test_2017_flickr": 1_000}
    assert len(multi30k.asked) == 8


def test_get_from_a_directory(tmp_path: Path) -> None:
    """Of this corpus neither checksums nor sizes have been published, so that a small one of our own will do."""
    talks = {f"de-en/train.tags.de-en.{side}": f"<title>T</title>\n{side}\n" for side in ("de", "en")}
    for test in ("dev2010", "tst2010", "tst2011", "tst2012"):
        talks |= {f"de-en/IWSLT14.TED.{test}.de-en.{side}.xml": sgml(side) for side in ("de", "en")}
    pack(tmp_path / "de-en.tgz", talks)
    result = run_cli("corpora", "get", "iwslt14-de-en", "--from", tmp_path, "--out", tmp_path / "to", "--json")
    assert (result.code, json.loads(result.out)) == (0, {"train": 1, "dev": 1, "test": 3})
    assert (tmp_path / "to" / "iwslt14-de-en" / "text" / "train.de").read_text() == "de\n"
    advice = f"for data.corpus=iwslt14-de-en to be found there: export TRANSDUCE_CORPORA={tmp_path / 'to'}\n"
    assert result.err.endswith(advice)


def test_ctrl_c_is_one_line_and_goes_on_later(multi30k: FileServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "transduce", "corpora", "get", "multi30k", "--from", multi30k.url, "--out"]
    multi30k.manners = Manners(stalls_after=200_000)
    with subprocess.Popen(
        [*command, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert multi30k.stalled.wait(timeout=60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err == b"interrupted: what is there is kept, and the same command goes on from there\n"
    partial = tmp_path / "multi30k" / "downloads" / "train.en.gz.partial"
    n_there = partial.stat().st_size if partial.exists() else 0
    multi30k.manners = Manners()
    assert run_cli("corpora", "get", "multi30k", "--from", multi30k.url, "--out", tmp_path).code == 0
    assert multi30k.asked[1].start == n_there


@pytest.mark.parametrize(
    ("manners", "words"),
    [
        (Manners(status=404), "train.en.gz: the server answers 404 Not Found; use --from with a mirror"),
        (Manners(status=503), "train.en.gz: the server answers 503 Service Unavailable; use --from with a mirror"),
        (Manners(sends=b"<html>", content_type="text/html"), "the server answers with a web page, not with the file"),
        (Manners(sends=b"<html>"), "train.en.gz: this is not the file that is expected"),
        (Manners(breaks_off_after=9), "the connection broke off at 9 of 568,929 bytes; call again to go on from there"),
    ],
)
def test_bad_servers_get_one_sentence(multi30k: FileServer, tmp_path: Path, manners: Manners, words: str) -> None:
    multi30k.manners = manners
    result = run_cli("corpora", "get", "multi30k", "--from", multi30k.url, "--out", tmp_path)
    assert (result.code, result.out) == (2, "")
    message = result.err.removeprefix("fetched train.en.gz (6 bytes)\n")
    assert message.startswith(f"error: {multi30k.url}/train.en.gz: ") and words in message
    assert message.count("\n") == 1


def test_names(tmp_path: Path) -> None:
    listed = run_cli("corpora", "list", "--json")
    assert listed.code == 0
    assert {"phrasebook", "multi30k", "wmt14-en-de", "wmt14-en-fr", "iwslt14-de-en"} <= set(json.loads(listed.out))
    table = run_cli("corpora", "list")
    assert "multi30k" in table.out and "non-commercial" in table.out
    wrong = run_cli("corpora", "get", "multi30", "--out", tmp_path)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "did you mean 'multi30k'?" in wrong.err
    assert run_cli("corpora", "get", "phrasebook").code == 2
