"""Training and scoring the rows of a table: a process for each step, several rows at once.

A row is three commands that anyone could type: ``transduce train --resume``, ``transduce translate`` and ``transduce
score``. So its memory is given back when it ends, a crash takes nothing else with it, and one that was stopped goes on
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
from pathlib import Path
from types import FrameType
from typing import final

from transduce.base.errors import DataError, TrainingError, TransduceError
from transduce.base.log import logger
from transduce.bundle import list_checkpoints
from transduce.pipeline.reproduction.plan import RECIPE, PlannedRun
from transduce.pipeline.reproduction.results import (
    OUTPUT_FILE,
    SENTENCES_FILE,
    TRAIN_FILE,
    TRANSLATIONS_FILE,
    Failure,
    begin_run,
    write_failure,
)

__all__ = ["RowRunner", "Slot", "divide_machine", "sigterm_as_interrupt", "trained_bundle"]

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
    have, what = (len(gpus), "GPUs") if gpus else (len(cores), "cores")
    if have and n_jobs > have:
        raise TrainingError(f"--jobs {n_jobs}: there are only {have} {what}; give at most that many")
    return [
        Slot(frozenset(cores[job::n_jobs]) if n_jobs > 1 else frozenset(), tuple(gpus[job::n_jobs]))
        for job in range(n_jobs)
    ]


def trained_bundle(run: PlannedRun, out: Path) -> Path:
    """Return what of a trained run is scored: the finished model, or for Table 3 its last checkpoint.

    The finished model may be the best one of the run by the dev set, on which the rows of Table 3 are scored: it would
    seem a little better than it is.

    Raises:
        DataError: The run has no checkpoint any more.
    """
    train = run.directory(out) / "train"
    if run.part == "test":
        return train / "model"
    checkpoints = list_checkpoints(train)
    if not checkpoints:
        raise DataError(f"{train}: holds no checkpoint; remove {train.parent}, and run again")
    return checkpoints[-1]


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


@final
class RowRunner:
    """Runs rows, each in a part of the machine of its own.

    Args:
        out: The directory of the reproduction.
        data: The prepared data of a run.
        slots: The parts of the machine: as many rows run at once.
    """

    def __init__(self, out: Path, data: Callable[[PlannedRun], Path], slots: Sequence[Slot]) -> None:
        self._out, self._data = out, data
        self._n_jobs = len(slots)
        self._slots: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for slot in slots:
            self._slots.put(slot)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock, self._finishing = threading.Lock(), threading.Lock()
        self._is_stopping = False

    def run(self, runs: Sequence[PlannedRun], finish: Callable[[PlannedRun], None]) -> list[Failure]:
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

        def work(run: PlannedRun) -> None:
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

    def _complete(self, run: PlannedRun, slot: Slot, finish: Callable[[PlannedRun], None]) -> str | None:
        """Bring one run to its end. Return what went wrong."""
        try:
            message = self._work(run, slot)
            if message is None:
                with self._finishing:
                    finish(run)
        except TransduceError as error:
            return str(error)
        return message

    def _work(self, run: PlannedRun, slot: Slot) -> str | None:
        """Train and score one run. Return what went wrong."""
        if self._is_stopping:
            return "stopped"
        directory, data = run.directory(self._out), self._data(run)
        begin_run(run, self._out)
        logger.info("%s: started; follow it in %s", run.name, self._output(run))
        settings = [word for override in run.overrides for word in ("--set", override)]
        train = ["train", RECIPE, "--data", str(data), "--out", str(directory / "train"), "--resume", *settings]
        if (message := self._call([*train, "--json"], run, slot, directory / TRAIN_FILE)) is not None:
            return message
        bundle, part = str(trained_bundle(run, self._out)), data / run.part
        translate = ["translate", bundle, "--input", f"{part}/src.txt", "--output", f"{directory}/{TRANSLATIONS_FILE}"]
        if (message := self._call(translate, run, slot)) is not None:
            return message
        score = ["score", bundle, f"{part}/src.txt", f"{part}/tgt.txt", "--json"]
        return self._call(score, run, slot, directory / SENTENCES_FILE)

    def _call(self, arguments: list[str], run: PlannedRun, slot: Slot, to: Path | None = None) -> str | None:
        """Run a command of ours and wait for it. Return what it said last where it failed."""
        output = self._output(run)
        with output.open("ab") as log, (to or output).open("wb" if to is not None else "ab") as out:
            start = log.tell()
            process = self._start(_command(arguments, slot), slot, out.fileno(), log.fileno())
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

    def _output(self, run: PlannedRun) -> Path:
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
    last = (errors or lines or ["it said nothing"])[-1].removeprefix(_ERROR)
    ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{last[-_OUTPUT_ENDS:]} ({ended})"
