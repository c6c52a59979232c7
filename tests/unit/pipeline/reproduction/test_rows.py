"""Rows of a table as processes, with commands that are over at once in place of the real ones; those are in tests/e2e."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from transduce.base.errors import DataError, TrainingError
from transduce.pipeline.reproduction import rows as reproduce_rows
from transduce.pipeline.reproduction.plan import PlannedRun, plan_runs
from transduce.pipeline.reproduction.results import (
    SENTENCES_FILE,
    TRAIN_FILE,
    read_failure,
)
from transduce.pipeline.reproduction.rows import RowRunner, Slot, divide_machine, row_steps, sigterm_as_interrupt

FREE = Slot(frozenset(), ())


def runner_of(out: Path, slots: Sequence[Slot] = (FREE,)) -> RowRunner[PlannedRun]:
    return RowRunner(out, lambda run: row_steps(run, out, out), slots)


def runs(*rows: str) -> list[PlannedRun]:
    return list(plan_runs("table3", "smoke", rows, [1]))


def stand_in(monkeypatch: pytest.MonkeyPatch, out: Path, code: Callable[[list[str]], str]) -> list[str]:
    """Run Python code in place of each command, and return the verbs and rows that were asked for, in order."""
    asked: list[str] = []

    def command(arguments: list[str], slot: Slot) -> list[str]:
        row = next(part for word in arguments for part in Path(word).parts if part.endswith("-seed1"))
        asked.append(f"{arguments[0]} {row}")
        return [sys.executable, "-c", code(arguments)]

    monkeypatch.setattr(reproduce_rows, "_command", command)
    monkeypatch.setattr(reproduce_rows, "trained_bundle", lambda run, out: run.directory(out) / "bundle")
    return asked


def test_each_row_is_trained_translated_and_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = stand_in(monkeypatch, tmp_path, lambda arguments: f"print('{arguments[0]} said this')")
    finished: list[str] = []
    failures = runner_of(tmp_path).run(runs("base", "A-h1"), lambda run: finished.append(run.name))
    assert failures == []
    assert finished == ["base-seed1", "A-h1-seed1"]
    assert asked == [f"{verb} {name}" for name in finished for verb in ("train", "translate", "score")]
    directory = tmp_path / "runs" / "base-seed1"
    assert (directory / SENTENCES_FILE).read_text(encoding="utf-8") == "score said this\n"


def test_a_row_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def code(arguments: list[str]) -> str:
        is_bad = any("A-h1" in word for word in arguments)
        return "import sys; sys.stderr.write('step 100\\nerror: the disk is full\\n'); sys.exit(2)" if is_bad else ""

    stand_in(monkeypatch, tmp_path, code)
    finished: list[str] = []
    todo = runs("A-h1", "base")
    failures = runner_of(tmp_path).run(todo, lambda run: finished.append(run.name))
    assert finished == ["base-seed1"]
    assert [failure.message for failure in failures] == ["the disk is full (exit code 2)"]
    assert read_failure(todo[0], tmp_path) == failures[0]
    assert read_failure(todo[1], tmp_path) is None


def test_a_row_that_crashes_says_by_which_signal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, lambda arguments: "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    failures = runner_of(tmp_path).run(runs("base"), lambda run: None)
    assert [failure.message for failure in failures] == ["it said nothing (signal SIGKILL)"]


def test_a_failure_quotes_the_error_of_this_process_and_not_what_follows_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Behind the error of a rank torchrun reports for long; before it, the file may end with the error of an earlier try."""
    code = "import sys; sys.stderr.write('error: out of memory\\n' + 9 * '=' + '\\n'); sys.exit(1)"
    stand_in(monkeypatch, tmp_path, lambda arguments: code)
    runner, todo = runner_of(tmp_path), runs("base")
    assert [failure.message for failure in runner.run(todo, lambda run: None)] == ["out of memory (exit code 1)"]
    stand_in(monkeypatch, tmp_path, lambda arguments: "import sys; sys.exit(3)")
    assert [failure.message for failure in runner.run(todo, lambda run: None)] == ["it said nothing (exit code 3)"]


def test_a_run_without_checkpoints_fails_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = "import sys, pathlib; [pathlib.Path(word).mkdir(parents=True) for word in sys.argv[1:]]"
    with monkeypatch.context() as patch:
        patch.setattr(reproduce_rows, "_command", lambda arguments, slot: [sys.executable, "-c", code])
        failures = runner_of(tmp_path).run(runs("base", "A-h1"), lambda run: None)
    assert len(failures) == 2 and all("holds no checkpoint" in failure.message for failure in failures)


def test_a_mistake_that_scoring_finds_is_a_failure_of_that_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, lambda arguments: "")

    def finish(run: PlannedRun) -> None:
        if run.row == "base":
            raise DataError("a file is damaged")

    failures = runner_of(tmp_path).run(runs("base", "A-h1"), finish)
    assert [failure.message for failure in failures] == ["a file is damaged"]


def test_rows_run_at_once_on_their_own_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two rows that wait for each other end only when they run at the same time."""
    code = (
        "import os, pathlib, time; here = pathlib.Path({own!r}); here.touch(); other = pathlib.Path({other!r})\n"
        "while not other.exists(): time.sleep(0.01)\n"
        "print(sorted(os.sched_getaffinity(0)))"
    )

    def meet(arguments: list[str]) -> str:
        own = "A-h1" if any("A-h1" in word for word in arguments) else "base"
        names = {name: str(tmp_path / f"{arguments[0]}-{name}") for name in ("A-h1", "base")}
        return code.format(own=names[own], other=names["base" if own == "A-h1" else "A-h1"])

    stand_in(monkeypatch, tmp_path, meet)
    cores = sorted(os.sched_getaffinity(0))
    slots = [Slot(frozenset({cores[0]}), ()), Slot(frozenset({cores[-1]}), ())]
    finished: set[str] = set()
    lock = threading.Lock()

    def finish(run: PlannedRun) -> None:
        with lock:
            finished.add(run.name)

    assert runner_of(tmp_path, slots).run(runs("base", "A-h1"), finish) == []
    assert finished == {"base-seed1", "A-h1-seed1"}
    said = {(tmp_path / "runs" / name / SENTENCES_FILE).read_text(encoding="utf-8").strip() for name in finished}
    assert said == {f"[{cores[0]}]", f"[{cores[-1]}]"}


def test_several_gpus_make_one_process_each() -> None:
    command = reproduce_rows._command(["train", "base"], Slot(frozenset(), ("0", "3")))
    assert "--nproc-per-node=2" in command and command[-4:] == ["-m", "transduce", "train", "base"]
    assert "torch.distributed.run" not in reproduce_rows._command(["score", "x"], Slot(frozenset(), ("0", "3")))


def test_the_machine_is_divided_evenly() -> None:
    assert [sorted(slot.cores) for slot in divide_machine(2, [0, 1, 2], [])] == [[0, 2], [1]]
    assert [slot.cores for slot in divide_machine(1, [0, 1], [])] == [frozenset()]
    with pytest.raises(TrainingError, match="has 2 cores"):
        divide_machine(3, [0, 1], [])
    with pytest.raises(TrainingError, match="has 1 GPU;"):
        divide_machine(2, [0, 1], ["0"])


def test_a_stop_reaches_the_process_that_runs_and_no_other_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def code(arguments: list[str]) -> str:
        """Say that it runs, and save when it is told to stop."""
        return (
            "import pathlib, signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(130)))\n"
            f"pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
            "time.sleep(200)"
        )

    asked = stand_in(monkeypatch, tmp_path, code)

    def stop_when_begun() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_when_begun, daemon=True).start()
    with pytest.raises(KeyboardInterrupt), sigterm_as_interrupt():
        runner_of(tmp_path).run(runs("base", "A-h1"), lambda run: None)
    assert asked == ["train base-seed1"]
    directory = tmp_path / "runs" / "base-seed1"
    assert (directory / TRAIN_FILE).read_text(encoding="utf-8") == "saved\n"
    assert read_failure(runs("base")[0], tmp_path) is None  # a stop is no failure
