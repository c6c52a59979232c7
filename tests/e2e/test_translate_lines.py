"""``transduce translate``: JSON Lines in and out, wishes of a line, documents, and options that do not go together."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli import run_cli
from tests.e2e.conftest import Toy, translate_toy
from tests.random_bundle import write_random_bundle
from transduce import Translator
from transduce.decoding.request import Request


@pytest.fixture(scope="module")
def random_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_bundle(tmp_path_factory.mktemp("random") / "bundle")


def translate(toy: Toy, records: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(record) + "\n" for record in records)
    result = run_cli("translate", toy.run, "--format", "jsonl", *options, stdin=lines)
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.lines]


def texts(found: dict[str, Any]) -> list[str]:
    return [item["text"] for item in found["translations"]]


def test_each_line_has_its_own_wishes(toy: Toy) -> None:
    found = translate(
        toy,
        [
            {"text": "sun moon"},
            {"text": "sun moon", "n_best": 3, "id": "three"},
            {"text": "sun moon", "prefix": "mar", "id": 0},
            {"text": "sun moon", "required": ["pis"], "id": [1]},
            {"text": "sun moon", "banned": ["sol"], "id": {"a": None}},
            {"text": "sun Xyz moon", "keep": ["Xyz"]},
            {"text": "  "},
        ],
    )
    assert [item["line"] for item in found] == [1, 2, 3, 4, 5, 6, 7]
    assert [item.get("id") for item in found] == [None, "three", 0, [1], {"a": None}, None, None]
    best = translate_toy("sun moon")
    assert texts(found[0]) == [best]
    assert texts(found[1])[0] == best and len(set(texts(found[1]))) == 3
    assert texts(found[2])[0].startswith("mar")
    assert "pis" in texts(found[3])[0].split()
    assert "sol" not in texts(found[4])[0]
    assert "Xyz" in texts(found[5])[0]
    assert texts(found[6]) == [""]


def test_files_are_known_by_their_names(toy: Toy, tmp_path: Path) -> None:
    record = json.dumps({"text": "sea tree", "id": "x"}) + "\n"
    (tmp_path / "in.jsonl").write_text(record)
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(record.encode()))
    outs = [run_cli("translate", toy.run, "-i", tmp_path / name).out for name in ("in.jsonl", "in.jsonl.gz")]
    assert outs[0] == outs[1] != ""
    assert json.loads(outs[0])["id"] == "x"
    as_text = run_cli("translate", toy.run, "-i", tmp_path / "in.jsonl", "--format", "text", "--json")
    assert "id" not in json.loads(as_text.out)


def test_the_command_and_the_python_api_agree(toy: Toy) -> None:
    records: list[dict[str, Any]] = [{"text": "sun moon", "n_best": 2}, {"text": "fish", "prefix": "avi"}]
    requests = [Request("sun moon", n_best=2), Request("fish", prefix="avi")]
    found = Translator(toy.run).translate_nbest(requests)
    for line, translations in zip(translate(toy, records), found, strict=True):
        shown = [(item["text"], item["score"], item["log_prob"]) for item in line["translations"]]
        assert shown == [(item.text, item.score, item.log_prob) for item in translations]


def test_json_says_what_was_ended_by_force(toy: Toy) -> None:
    [cut, whole] = translate(toy, [{"text": "sun moon sea tree fish"}, {"text": "sun"}], "--set", "decode.max_tokens=3")
    assert cut["translations"][0]["at_limit"] is True
    assert "at_limit" not in whole["translations"][0]


@pytest.mark.parametrize("options", [["--scores"], ["--n-best", "2"], []])
def test_text_of_what_was_ended_by_force_is_named_in_a_warning(toy: Toy, options: list[str]) -> None:
    lines = "sun\nsun moon sea tree fish\n\nmoon\n"
    result = run_cli("translate", toy.run, "--set", "decode.max_tokens=3", *options, stdin=lines)
    assert result.code == 0
    assert result.err.startswith("warning: the translations of ")
    assert "as many tokens as the limit allows" in result.err and "2" in result.err.partition(": line")[2]
    assert result.err.endswith("; raise decode.max_extra_tokens or decode.max_tokens\n")
    assert run_cli("translate", toy.run, "--set", "decode.max_tokens=3", "--json", stdin=lines).err == ""


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system does not name the pipes of a process")
def test_a_pipe_is_read_once_though_a_bar_is_shown(random_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.cli.translation.show_bar", lambda to_stdout: True)
    reading, writing = os.pipe()
    os.write(writing, b"sun\n\nmoon\n")
    os.close(writing)
    try:
        result = run_cli("translate", random_bundle, "-i", f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert (result.code, len(result.lines)) == (0, 3), result.err


def test_alignment_and_pieces_stand_in_the_json(toy: Toy) -> None:
    [found] = translate(toy, [{"text": "sun moon sea"}], "--align", "--pieces")
    [item] = found["translations"]
    assert item["alignment"]["src"] == ["sun", "moon", "sea"]
    assert item["alignment"]["tgt"] == item["text"].split()
    assert all(set(link) == {"src", "tgt", "share"} for link in item["alignment"]["links"])
    assert "".join(item["pieces"]).replace("▁", " ").strip() == item["text"]


def test_confidence_needs_a_calibration(random_bundle: Path) -> None:
    result = run_cli("translate", random_bundle, "--json", "--confidence", stdin="sun\n")
    assert (result.code, result.out) == (2, "")
    assert "has no calibration" in result.err


def test_glossary_and_tags(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("moon\tMondo\n")
    result = run_cli("translate", toy.run, "--glossary", tmp_path / "terms.tsv", stdin="sun moon\n")
    assert "Mondo" in result.out
    tagged = run_cli("translate", toy.run, "--keep-tags", stdin="sun <b>moon</b> sea\n")
    assert "<b>lun</b>" in tagged.out


def test_bundles_vote_together(toy: Toy, random_bundle: Path) -> None:
    with_itself = run_cli("translate", toy.run, "--with", f"{toy.run}=2", stdin="sun moon\n")
    assert with_itself.lines == [translate_toy("sun moon")]
    other = run_cli("translate", toy.run, "--with", random_bundle, stdin="sun moon\n")
    assert other.code == 2
    assert "vocabularies differ" in other.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scores", "--json"], "--scores has no effect with --n-best or JSON, which show scores anyway"),
        (["--scores", "--format", "jsonl"], "--scores has no effect with --n-best or JSON, which show scores anyway"),
        (["--align"], "--align, --confidence and --pieces are written as JSON: add --json"),
        (["--document", "--json"], "--document translates a text as a whole, and so does not go with --json"),
        (["--document", "--format", "jsonl"], "and so does not go with --format jsonl"),
        (["--document", "--resume", "-o", "x"], "and so does not go with --resume"),
        (["--n-best", "9"], "--n-best 9 (decode.n_best): n_best (9) must be at most beam_size (4)"),
        (["--set", "beam_size=2"], "--set beam_size=2: unknown setting; did you mean 'decode.beam_size'?"),
        (["--document", "--line-by-line"], "and so does not go with --line-by-line"),
        (["two.en"], "error: two.en: one argument too many; a file to translate is given as --input FILE"),
        (["--set", "decode.temperature=0.5"], "temperature (0.5) has no effect with search = 'beam'"),
        (["--glossary", "gone.tsv"], "gone.tsv: no such file"),
    ],
)
def test_what_has_no_effect_is_refused(
    random_bundle: Path, options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli("translate", random_bundle, *options, stdin="sun\n")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"text": "sun", "n_best": 5}',
            "error: standard input, line 2 asks for 5 translations: n_best (5) must be at most beam_size (--beam)",
        ),
        ("{", "error: standard input, line 2: not JSON"),
    ],
)
def test_mistakes_in_a_line_are_named_by_its_number(random_bundle: Path, line: str, message: str) -> None:
    result = run_cli("translate", random_bundle, "--format", "jsonl", stdin=f'{{"text": "sun"}}\n{line}\n')
    assert (result.code, result.out) == (2, "")
    assert message.replace(" (--beam)", "") in result.err


def test_an_id_comes_back_to_the_letter(random_bundle: Path) -> None:
    lines = "".join(f'{{"text": "", "id": {written}}}\n' for written in ("null", "1.10", "1e400")) + '{"text": ""}\n\n'
    result = run_cli("translate", random_bundle, "--format", "jsonl", stdin=lines)
    starts = [line.partition(', "translations"')[0] for line in result.lines]
    assert starts == [
        '{"line": 1, "id": null', '{"line": 2, "id": 1.10', '{"line": 3, "id": 1e400', '{"line": 4', '{"line": 5',
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a.tmx", "a.XLF", "a.xliff.gz", "a.po", "a.mo", "a.tsv"])
def test_files_of_two_languages_are_not_taken_as_text(random_bundle: Path, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("sun\tsol\n")
    refused = run_cli("translate", random_bundle, "-i", tmp_path / name)
    assert (refused.code, refused.out) == (2, "")
    assert " file holds two languages, and is not translated as it is; write its source texts to a file" in refused.err
    if not name.endswith(".gz"):
        assert run_cli("translate", random_bundle, "-i", tmp_path / name, "--format", "text").code == 0


@pytest.mark.parametrize("options", [[], ["--document"]])
@pytest.mark.parametrize(
    ("role", "source", "glossary", "output"),
    [
        ("input", "in.txt", None, "in.txt"),
        ("input", "in.txt", None, "link.txt"),
        ("input", "link.txt", None, "here/../in.txt"),
        ("glossary", "in.txt", "terms.tsv", "terms.tsv"),
    ],
)
def test_what_is_read_is_never_replaced(
    random_bundle: Path, role: str, source: str, glossary: str | None, output: str, options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "in.txt").write_text("sun\n")
    (tmp_path / "terms.tsv").write_text("sun\tSonne\n")
    (tmp_path / "link.txt").symlink_to("in.txt")
    terms: list[str | Path] = ["--glossary", tmp_path / glossary] if glossary else []
    refused = run_cli(
        "translate", random_bundle, "-i", tmp_path / source, "-o", f"{tmp_path}/{output}", *terms, *options
    )
    assert refused.code == 2
    assert f"writing this would replace the {role} (" in refused.err and refused.err.count("\n") == 1
    assert (tmp_path / "in.txt").read_text() == "sun\n"
    assert (tmp_path / "terms.tsv").read_text() == "sun\tSonne\n"


def test_a_part_that_is_read_is_never_replaced(random_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "out.part").write_text("sun\n")
    refused = run_cli("translate", random_bundle, "-i", tmp_path / "out.part", "-o", tmp_path / "out")
    assert refused.code == 2
    assert (tmp_path / "out.part").read_text() == "sun\n"


def run_in_shell(bundle: Path, rest: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, whose streams are what the shell makes of them."""
    command = f'set -o pipefail; "{sys.executable}" -m transduce translate "{bundle}" {rest}'
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def test_a_reader_that_has_enough_ends_it_in_silence(random_bundle: Path) -> None:
    done = run_in_shell(random_bundle, "--line-by-line --json --beam 1 | head -1", "sun moon\n" * 100_000)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (141, 1, "")


def test_a_closed_output_is_refused(random_bundle: Path) -> None:
    done = run_in_shell(random_bundle, ">&-", "sun\n")
    reason = "standard output is closed, and so the translations would be lost; give --output FILE"
    assert (done.returncode, done.stderr) == (2, f"error: {reason}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
@pytest.mark.parametrize(
    ("rest", "name"),
    [
        ("--json > /dev/full", "standard output"),
        ("--document > /dev/full", "standard output"),
        ("--json -o /dev/full", "/dev/full"),
        ("--document -o /dev/full", "/dev/full"),
    ],
)
def test_a_full_disk_is_told_with_the_name_of_the_file(random_bundle: Path, rest: str, name: str) -> None:
    done = run_in_shell(random_bundle, rest, "sun\n")
    assert (done.returncode, done.stderr) == (2, f"error: {name}: No space left on device\n")


def test_a_pipe_that_waits_is_answered_line_by_line(random_bundle: Path) -> None:
    command = [sys.executable, "-m", "transduce", "translate", str(random_bundle), "--line-by-line"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in ("sun moon\n", "\n", "sea\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().endswith("\n")
        process.stdin.close()
    assert process.returncode == 0


def test_a_document_keeps_its_layout(toy: Toy, tmp_path: Path) -> None:
    text = "# sun moon\r\n\r\n  - sea tree. Fish\r\n  - bird!\r\n\r\n----\r\n"
    (tmp_path / "in.md").write_bytes(text.encode())
    result = run_cli("translate", toy.run, "--document", "-i", tmp_path / "in.md", "-o", tmp_path / "out.md")
    assert result.code == 0, result.err
    translator = Translator(toy.run)
    title, first, second, third = translator.translate(["sun moon", "sea tree.", "Fish", "bird!"])
    expected = f"# {title}\r\n\r\n  - {first} {second}\r\n  - {third}\r\n\r\n----\r\n"
    assert (tmp_path / "out.md").read_bytes().decode() == expected
    assert title == translate_toy("sun moon")
    assert translator.translate_document(text) == expected


def test_nothing_of_a_document_is_cut(toy: Toy) -> None:
    """A sentence that is too long is translated in parts: each word of it comes back."""
    sentence = "sun moon, " * 30 + "sea"
    parts = Translator(toy.run).translate_document(sentence)
    limited = run_cli("translate", toy.run, "--document", "--set", "decode.max_src_tokens=6", stdin=sentence)
    assert limited.code == 0
    assert limited.err == "", "no warning, since nothing was cut"
    assert limited.out.split().count("lun") >= 30
    assert limited.out.rstrip().endswith(translate_toy("sea"))
    assert parts
