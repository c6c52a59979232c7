"""Training and scoring the rows of a table: a process for each step, several rows at once.

A row is some commands that anyone could type: for translation ``transduce train --resume``, ``transduce translate`` and
``transduce score``. So its memory is given back when it ends, a crash takes nothing else with it, and one that was stopped goes on
from its last checkpoint.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Generic, NamedTuple, TypeVar, final

from transduce.base.errors import DataError, TrainingError, TransduceError
from transduce.base.log import logger, plural
from transduce.bundle import list_checkpoints
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.plan import RECIPE, PlannedRun, Run
from transduce.pipeline.reproduction.results import (
    OUTPUT_FILE,
    SENTENCES_FILE,
    TRAIN_FILE,
    TRANSLATIONS_FILE,
    Failure,
    begin_run,
    write_failure,
)

__all__ = [
    "RowRunner",
    "Slot",
    "Step",
    "averaged_checkpoints",
    "divide_machine",
    "own_cores",
    "row_steps",
    "sigterm_as_interrupt",
    "stopping_in_order",
    "trained_bundle",
    "visible_gpus",
]

Planned = TypeVar("Planned", bound=Run)

_AVERAGE = "average"
"""The bundle of the averaged checkpoints, in the directory of a run."""
_OUTPUT_ENDS = 400
"""Characters of the last line of a failed process that its failure quotes."""
_ERROR = "error: "
"""So begins the line in which one of our processes says what was wrong."""


@dataclass(frozen=True)
class Slot:
    """A part of the machine that one row has for itself."""

    cores: frozenset[int]
    """Empty: as the system likes."""
    gpus: tuple[str, ...]
    """As in ``CUDA_VISIBLE_DEVICES``. Empty: no GPU is handed out."""


def divide_machine(n_jobs: int, cores: Sequence[int], gpus: Sequence[str]) -> list[Slot]:
    """Divide cores and GPUs among rows that run at once, as evenly as they go.

    Args:
        n_jobs: How many rows run at once.
        cores: Those that this process may use; none: not known, and so none is handed out.
        gpus: The GPUs, if any.

    Raises:
        TrainingError: There are fewer GPUs, or on a machine without any fewer cores, than rows.

    >>> [slot.gpus for slot in divide_machine(2, range(8), ["0", "1", "2"])]
    [('0', '2'), ('1',)]
    """
    have, what = (len(gpus), "GPU") if gpus else (len(cores), "core")
    if have and n_jobs > have:
        raise TrainingError(f"--jobs {n_jobs}: this machine has {plural(have, what)}; give at most that many")
    return [
        Slot(frozenset(cores[job::n_jobs]) if n_jobs > 1 else frozenset(), tuple(gpus[job::n_jobs]))
        for job in range(n_jobs)
    ]


def trained_bundle(run: PlannedRun, out: Path) -> Path:
    """Return what of a trained run is scored: the average of its last checkpoints, or for Table 3 the last one.

    It is never the best one by the dev set, which the finished model of a run may be: the paper has no such choice, and on the dev
    set, where the rows of Table 3 are scored, it would seem a little better than it is.

    Raises:
        DataError: The run has no checkpoint any more.
    """
    return run.directory(out) / _AVERAGE if run.part == "test" else averaged_checkpoints(run, out)[-1]


def averaged_checkpoints(run: PlannedRun, out: Path) -> list[Path]:
    """Return the checkpoints of a run that are averaged: as many of the last as its settings say, if there are so many.

    Raises:
        DataError: The run has no checkpoint any more.
    """
    train = run.directory(out) / "train"
    checkpoints = list_checkpoints(train)
    if not checkpoints:
        raise DataError(f"{train}: holds no checkpoint; remove {train.parent}, and run again")
    return checkpoints[-load_settings(RECIPE, run.overrides).train.average_last :]


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM stop everything in order, as Ctrl-C does. In another thread than the main one nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def stopping_in_order(write_report: Callable[[], Path]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM stop the rows that are run inside, with a report of what is finished.

    Args:
        write_report: Writes it, and returns its file.

    Raises:
        KeyboardInterrupt: It says where the report is and how to go on.
    """
    try:
        with sigterm_as_interrupt():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; {write_report()} holds what is finished. Give the same command again to go on"
        ) from None


def own_cores() -> list[int]:
    """Return the cores that this process may use; nothing where the system does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, as ``CUDA_VISIBLE_DEVICES`` names them."""
    import torch

    names = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = torch.cuda.device_count()
    return [name.strip() for name in names.split(",")][:found] if names else [str(gpu) for gpu in range(found)]


class Step(NamedTuple):
    """One command of a row."""

    arguments: list[str]
    """What stands behind ``transduce``."""
    to: Path | None = None
    """The file that gets what it prints; None: the output of the run, with all that it says."""


def row_steps(run: PlannedRun, out: Path, data: Path) -> Iterator[Step]:
    """Yield the commands that train a translator, let it translate a part of the data, and score the references.

    Args:
        run: The run.
        out: The directory of the reproduction.
        data: The prepared data of the run.
    """
    directory, part = run.directory(out), data / run.part
    settings = [word for override in run.overrides for word in ("--set", override)]
    train = ["train", RECIPE, "--data", str(data), "--out", str(directory / "train"), "--resume", *settings]
    yield Step([*train, "--json"], directory / TRAIN_FILE)
    bundle = str(trained_bundle(run, out))
    if (
        run.part == "test" and not (directory / _AVERAGE / "bundle.json").is_file()
    ):  # a bundle is there as a whole or not at all
        yield Step(["average", *map(str, averaged_checkpoints(run, out)), "--out", bundle])
    yield Step(["translate", bundle, "--input", f"{part}/src.txt", "--output", f"{directory}/{TRANSLATIONS_FILE}"])
    yield Step(["score", bundle, f"{part}/src.txt", f"{part}/tgt.txt", "--json"], directory / SENTENCES_FILE)


@final
class RowRunner(Generic[Planned]):
    """Runs rows, each in a part of the machine of its own.

    Args:
        out: The directory of the reproduction.
        steps: The commands of a run. Each is asked for when those before it have ended well.
        slots: The parts of the machine: as many rows run at once.
    """

    def __init__(self, out: Path, steps: Callable[[Planned], Iterator[Step]], slots: Sequence[Slot]) -> None:
        self._out, self._steps = out, steps
        self._n_jobs = len(slots)
        self._slots: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for slot in slots:
            self._slots.put(slot)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock, self._finishing = threading.Lock(), threading.Lock()
        self._is_stopping = False

    def run(self, runs: Sequence[Planned], finish: Callable[[Planned], None]) -> list[Failure]:
        """Train and score runs. One that fails does not stop the others.

        Args:
            runs: In the order in which they are started.
            finish: Is called for each run that is trained and scored, in the order in which they end, one at a time. A
                :class:`~transduce.base.errors.TransduceError` that it raises is a failure of that run.

        Returns:
            The failures, which are also noted in the directories of the runs.

        Raises:
            KeyboardInterrupt: Ctrl-C; the processes have saved their state and ended.
        """
        failures: list[Failure] = []

        def work(run: Planned) -> None:
            slot = self._slots.get()
            try:
                message = self._complete(run, slot, finish)
                if message is None:
                    logger.info("%s: finished", run.name)
                elif not self._is_stopping:
                    failures.append(write_failure(run, self._out, message))
                    logger.warning("%s: failed: %s (all of it: %s)", run.name, message, self._output(run))
            finally:
                self._slots.put(slot)

        with ThreadPoolExecutor(self._n_jobs) as pool:
            futures = [pool.submit(work, run) for run in runs]
            try:
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:
                self._stop()
                pool.shutdown(cancel_futures=True)
                raise
        return failures

    def _complete(self, run: Planned, slot: Slot, finish: Callable[[Planned], None]) -> str | None:
        """Bring one run to its end. Return what went wrong."""
        try:
            message = self._work(run, slot)
            if message is None:
                with self._finishing:
                    finish(run)
        except TransduceError as error:
            return str(error)
        return message

    def _work(self, run: Planned, slot: Slot) -> str | None:
        """Train and score one run. Return what went wrong."""
        if self._is_stopping:
            return "stopped"
        begin_run(run, self._out)
        logger.info("%s: started; follow it in %s", run.name, self._output(run))
        for step in self._steps(run):
            if (message := self._call(step, run, slot)) is not None:
                return message
        return None

    def _call(self, step: Step, run: Planned, slot: Slot) -> str | None:
        """Run a command of ours and wait for it. Return what it said last where it failed."""
        output, to = self._output(run), step.to
        with output.open("ab") as log, (to or output).open("wb" if to is not None else "ab") as out:
            start = log.tell()
            process = self._start(_command(step.arguments, slot), slot, out.fileno(), log.fileno())
            if process is None:
                return "stopped"
            code = process.wait()
        with self._lock:
            self._running.discard(process)
        return None if code == 0 else _last_words(output, start, code)

    def _start(self, command: list[str], slot: Slot, out: int, log: int) -> subprocess.Popen[bytes] | None:
        environment = dict(os.environ)
        if slot.gpus:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(slot.gpus)
        with self._lock:
            if self._is_stopping:
                return None
            # In a group of its own: Ctrl-C reaches this process alone, which then tells the others, once.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=environment, process_group=0
            )
            self._running.add(process)
        if slot.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, slot.cores)  # before it has threads, which inherit it
        return process

    def _stop(self) -> None:
        """Let all processes save their state and end."""
        with self._lock:
            self._is_stopping = True
            for process in self._running:
                process.send_signal(signal.SIGTERM)

    def _output(self, run: Planned) -> Path:
        return run.directory(self._out) / OUTPUT_FILE


def _command(arguments: list[str], slot: Slot) -> list[str]:
    """Return the command line: with several GPUs, training is started once for each."""
    if arguments[0] == "train" and len(slot.gpus) > 1:
        ranks = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={len(slot.gpus)}"]
        return [sys.executable, *ranks, "-m", "transduce", *arguments]
    return [sys.executable, "-m", "transduce", *arguments]


def _last_words(output: Path, start: int, code: int) -> str:
    """Return what a failed process said last of what was wrong: its error, else its last line.

    Args:
        output: What all processes of the run have said.
        start: Where in it this one begins.
        code: Its exit code.
    """
    said = output.read_bytes()[start:].decode(errors="replace")
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(_ERROR)]  # behind that of a rank comes the report of torchrun
    last = (errors or lines or ["it said nothing"])[-1]
    following = lines[lines.index(last) + 1 :] if errors else []
    details = [line.strip() for line in takewhile(lambda line: line.startswith(" "), following)]  # as of wrong settings
    last = " ".join([last.removeprefix(_ERROR), *details])
    ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{last[-_OUTPUT_ENDS:]} ({ended})"
