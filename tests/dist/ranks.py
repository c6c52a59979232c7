"""Several processes that train together, without the half minute that ``torchrun`` takes to start them on a busy machine.

A server process imports torch and the training loop once, and every rank is a fork of it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from transduce.base.errors import TransduceError
from transduce.base.errors import OtherRankFailedError

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.dist.work"])
_TIMEOUT_S = 120.0

Work = Callable[..., Any]


class Ranks:
    """Some processes that do one piece of work; rank r's answer or error is written to ``out/r.json``.

    Args:
        out: A directory of its own.
        size: How many.
        work: A function of a module, called with ``arguments``.
        arguments: For all ranks alike, or for each its own: a function of the rank.
    """

    def __init__(self, out: Path, size: int, work: Work, arguments: Callable[[int], dict[str, Any]]) -> None:
        out.mkdir(parents=True)
        self.out, self.size = out, size
        port = _free_port()
        self.processes = [
            _CONTEXT.Process(target=_run, args=(rank, size, port, str(out), work, arguments(rank)), daemon=True)
            for rank in range(size)
        ]
        for process in self.processes:
            process.start()

    def wait(self) -> list[int | None]:
        """Wait for all ranks and return their exit codes; none may be alive after the time of a test."""
        for process in self.processes:
            process.join(_TIMEOUT_S)
        hanging = [process for process in self.processes if process.is_alive()]
        for process in hanging:
            process.kill()
        assert not hanging, f"{len(hanging)} of {self.size} processes hang"
        return [process.exitcode for process in self.processes]

    def answers(self) -> list[Any]:
        """Return what the ranks answered, once all have ended well."""
        codes = self.wait()
        assert codes == [0] * self.size, [self._file(rank) for rank in range(self.size)]
        return [self._file(rank)["answer"] for rank in range(self.size)]

    def errors(self) -> dict[int, str]:
        """Return the messages that a person would see, by rank, once all have ended and none well."""
        codes = self.wait()
        assert 0 not in codes, codes
        found = {rank: self._file(rank) for rank in range(self.size)}
        return {rank: values["error"] for rank, values in found.items() if "error" in values}

    def _file(self, rank: int) -> dict[str, Any]:
        path = self.out / f"{rank}.json"
        values: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return values


def together(out: Path, size: int, work: Work, **arguments: Any) -> list[Any]:
    """Let some processes do one piece of work, and return their answers."""
    return Ranks(out, size, work, lambda rank: arguments).answers()


def process_of(ranks: Ranks, rank: int) -> ForkServerProcess:
    """Return the process of a rank."""
    return ranks.processes[rank]


def _run(rank: int, size: int, port: int, out: str, work: Work, arguments: dict[str, Any]) -> None:
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server has it ignored
    values: dict[str, Any] = {}
    try:
        values = {"answer": work(**arguments)}
    except OtherRankFailedError:
        values = {"silent": True}
    except (TransduceError, KeyboardInterrupt) as error:
        values = {"error": f"{type(error).__name__}: {error}"}
    (Path(out) / f"{rank}.json").write_text(json.dumps(values))
    if "answer" not in values:
        raise SystemExit(3)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
