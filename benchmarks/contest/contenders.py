"""Who takes part, and with which settings: every peer gets all those that may be its best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["CONTENDERS", "Contender", "Precision", "Setting", "Shape", "Task", "settings_of"]

Shape = Literal["small", "base"]
Task = Literal["file", "latency", "start"]
Precision = Literal["float32", "int8"]

_ONE_PROCESS_TWO_THREADS = (1, 2)
_TWO_WORKERS = (2, 1)


@dataclass(frozen=True)
class Contender:
    """One program that translates."""

    name: str
    """For the command line and the tables."""
    driver: str
    """Module that measures it."""
    environment: str
    """Virtual environment under the bench directory; empty: the one that runs the benchmark."""
    precisions: tuple[Precision, ...]
    engine: str = ""
    """Which of its engines."""
    per_precision: bool = False
    """True: it has a converted model for each precision."""
    slow: bool = False
    """True: it gets a quarter of the sentences, since it would take up most of the time."""


CONTENDERS = (
    Contender("native", "peers.transduce", "", ("float32", "int8"), engine="native"),
    Contender("torch", "peers.transduce", "", ("float32",), engine="torch"),
    Contender("ct2", "peers.ctranslate2", "ct2", ("float32", "int8"), per_precision=True),
    Contender("hf", "peers.transformers", "v", ("float32",), slow=True),
    Contender("onmt", "peers.onmt", "onmt", ("float32",), slow=True),
    Contender("eole", "peers.eole", "eole", ("float32",), slow=True),
)


@dataclass(frozen=True)
class Setting:
    """One way to run a contender."""

    contender: Contender
    precision: Precision
    workers: int
    """Batches computed at the same time."""
    threads: int
    """CPU threads of each worker."""
    batch: int
    batch_type: Literal["examples", "tokens"]
    passive: bool
    """True: OpenMP threads sleep while they wait (``OMP_WAIT_POLICY=passive``). False: as the library does by itself."""

    @property
    def label(self) -> str:
        """Name of the setting within its contender and precision."""
        unit = " tokens" if self.batch_type == "tokens" else ""
        waiting = ", passive" if self.passive else ""
        return f"{self.workers}x{self.threads}, batch {self.batch}{unit}{waiting}"


def settings_of(contender: Contender, precision: Precision, task: Task) -> Iterator[Setting]:
    """Yield the settings in which a contender is measured."""
    for workers, threads in _threads(contender, task):
        for batch, batch_type in _batches(contender, task):
            for passive in _waiting(contender):
                yield Setting(contender, precision, workers, threads, batch, batch_type, passive)


def _threads(contender: Contender, task: Task) -> tuple[tuple[int, int], ...]:
    if contender.name == "ct2" and task != "start":
        return _ONE_PROCESS_TWO_THREADS, _TWO_WORKERS
    return (_ONE_PROCESS_TWO_THREADS,)


def _batches(contender: Contender, task: Task) -> tuple[tuple[int, Literal["examples", "tokens"]], ...]:
    match contender.name:
        case "native" | "torch":
            return ((4096, "tokens"),)  # the default of the project
        case _ if task != "file":
            return ((1, "examples"),)
        case "ct2":
            return (32, "examples"), (64, "examples"), (2048, "tokens")
        case _:
            return ((64, "examples"),)


def _waiting(contender: Contender) -> tuple[bool, ...]:
    match contender.name:
        case "ct2":
            return True, False
        case _:
            return (True,)  # ours: as its command line sets it
