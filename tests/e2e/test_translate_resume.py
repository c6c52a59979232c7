"""Long files: stopped and gone on with, in memory that does not grow."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli import CliResult, run_cli
from tests.random_bundle import WORDS, write_random_bundle

SMALL_WINDOWS = ("--set", "decode.window_lines=20")
FORMS = {
    "text": (),
    "n-best": ("--n-best", "3", "--beam", "3"),
    "json": ("--json", "--n-best", "2", "--align", "--pieces"),
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_bundle(tmp_path_factory.mktemp("random") / "bundle")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("lines") / "in.txt"
    lines = [" ".join(rng.choices(WORDS, k=rng.randint(0, 6))) for _ in range(800)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def translate(bundle: Path, source: Path, out: Path, *options: str) -> CliResult:
    return run_cli("translate", bundle, "-i", source, "-o", out, *SMALL_WINDOWS, *options)


def stop_in_the_middle(bundle: Path, source: Path, out: Path, number: signal.Signals, *options: str) -> tuple[int, str]:
    """Run the command in a process of its own, and send it a signal as soon as a window is written."""
    command = [sys.executable, "-m", "transduce", "translate", str(bundle), "-i", str(source), "-o", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*command, *SMALL_WINDOWS, *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # A shell that runs the tests in the background makes its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    record = out.with_name(f"{out.name}.part.json")
    deadline = time.monotonic() + 120
    while not (record.exists() and json.loads(record.read_text())["n_lines"] > 0):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate()
    return process.returncode, err


@pytest.mark.parametrize("form", FORMS)
def test_killed_and_resumed_is_uninterrupted(bundle: Path, source: Path, tmp_path: Path, form: str) -> None:
    options = FORMS[form]
    out, whole = tmp_path / "out", tmp_path / "whole"
    code, _ = stop_in_the_middle(bundle, source, out, signal.SIGKILL, *options)
    assert code == -signal.SIGKILL
    assert not out.exists()
    n_lines = json.loads((tmp_path / "out.part.json").read_text())["n_lines"]
    assert 0 < n_lines < 800
    with (tmp_path / "out.part").open("ab") as part:
        part.write(b"half a li")  # what a kill between two writes leaves
    (tmp_path / ".out.part-abc.part.json").write_text("{")  # and one in the middle of a record
    resumed = translate(bundle, source, out, *options, "--resume")
    assert resumed.code == 0, resumed.err
    assert translate(bundle, source, whole, *options).code == 0
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_one_line_and_keeps_what_is_done(
    bundle: Path, source: Path, tmp_path: Path, number: signal.Signals
) -> None:
    code, err = stop_in_the_middle(bundle, source, tmp_path / "out", number, "--json")
    assert code == 130
    assert err.startswith("interrupted: the first ")
    assert err.endswith("out.part, and --resume goes on from there\n")
    assert err.count("\n") == 1
    assert translate(bundle, source, tmp_path / "out", "--json", "--resume").code == 0
    assert (tmp_path / "out").read_bytes().count(b"\n") == 800


def test_a_mistake_in_the_middle_can_be_mended_and_gone_on_from(bundle: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"id": number, "text": "sun moon"}) for number in range(50)]
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join([*lines[:45], '{"txt": "sea"}', *lines[46:]]) + "\n")
    failed = translate(bundle, source, out)
    assert failed.code == 2
    warning, error, rest = failed.err.split("\n")
    assert warning.startswith("warning: the first 40 lines are kept in ")
    assert error.startswith(f'error: {source}, line 46: unknown key "txt"; the keys are ')
    assert rest == ""
    source.write_text("\n".join(lines) + "\n")
    assert translate(bundle, source, out, "--resume").code == 0
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(item["line"], item["id"]) for item in found] == [(number + 1, number) for number in range(50)]


def test_other_settings_or_another_model_are_refused(bundle: Path, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    stop_in_the_middle(bundle, source, out, signal.SIGKILL)
    refused = translate(bundle, source, out, "--resume", "--beam", "2")
    assert refused.code == 2
    assert "it was begun with decode.beam_size = 4, and now that is 2; start again without --resume" in refused.err
    other = write_random_bundle(tmp_path / "other", seed=4)
    assert "it was begun with bundle = " in translate(other, source, out, "--resume").err
    as_json = translate(bundle, source, out, "--resume", "--json")
    assert 'it was begun with output = ["text"], and now that is ["json"]' in as_json.err


def test_another_engine_is_refused(bundle: Path, source: Path, tmp_path: Path) -> None:
    """As on a machine with other instruction sets, where everything that was asked for is the same."""
    out, record = tmp_path / "out", tmp_path / "out.part.json"
    stop_in_the_middle(bundle, source, out, signal.SIGKILL)
    values = json.loads(record.read_text())
    own = values["made_by"]["engine"]
    values["made_by"]["engine"] = "native, abacus, float32"
    record.write_text(json.dumps(values))
    refused = translate(bundle, source, out, "--resume")
    assert refused.code == 2
    reason = f'it was begun with engine = "native, abacus, float32", and now that is "{own}"'
    assert refused.err == f"error: {out}.part: cannot be gone on with: {reason}; start again without --resume\n"


def test_resume_needs_a_file(bundle: Path) -> None:
    for output in ([], ["-o", "/dev/null"]):
        result = run_cli("translate", bundle, "--resume", *output, stdin="sun\n")
        assert (result.code, result.err) == (2, "error: --resume goes on with a file, and so needs --output FILE\n")


def test_a_device_is_written_to_as_it_is(bundle: Path) -> None:
    result = run_cli("translate", bundle, "--json", "-o", "/dev/null", stdin="sun\n")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert not Path("/dev/null.part").exists()


_MEASURE = """
import resource, sys
from pathlib import Path
from transduce.pipeline.translate import TranslateJob, translate_file

peaks = []
def note(n_lines):
    if n_lines % 10_000 == 0:
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
job = TranslateJob(sys.argv[1], Path(sys.argv[2]), overrides=["decode.beam_size=1"])
translate_file(job, Path(sys.argv[3]), progress=note)
print(*peaks)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_memory_does_not_grow_with_the_lines(bundle: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    source = tmp_path / "in.txt"
    with source.open("w", encoding="utf-8") as file:
        for _ in range(50_000):
            file.write(" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) + "\n")
    command = [sys.executable, "-c", _MEASURE, str(bundle), str(source), str(tmp_path / "out")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    peaks = [int(peak) for peak in done.stdout.split()[1:]]  # kilobytes at 10,000, 20,000 ... lines
    assert len(peaks) == 5
    assert peaks[-1] - peaks[0] < 10_000  # the lines and their translations alone are 3 MB, all objects of them 40
