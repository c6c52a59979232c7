"""Of many processes, the first to fail says why, and the others end in silence.

What the processes know of each other when connections break stands in the store where they met: with ``torchrun`` it
belongs to the starter and outlives any of them.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import Protocol, final, runtime_checkable

from torch.distributed.rendezvous import rendezvous

from transduce.base.errors import OtherRankFailedError, RankLostError, TrainingError
from transduce.base.launch import Launch

__all__ = ["Failures", "MeetingPlace", "is_first_to_fail"]

_GRACE_S = 10.0
"""How long to wait for the others to say that they live. ``torchrun`` kills after 30 seconds."""
_SETTLE_S = 1.0
_CLAIM = "transduce/failed"


@runtime_checkable  # for the type checks that tests make at run time
class MeetingPlace(Protocol):
    """What is used of a store of torch: small values that all processes see."""

    def set(self, key: str, value: str) -> None:
        """Write a value."""
        ...

    def get(self, key: str) -> bytes:
        """Read a value; wait for it where it is not there yet."""
        ...

    def add(self, key: str, value: int) -> int:
        """Add to a number and return what it has become, at one stroke."""
        ...

    def check(self, keys: list[str]) -> bool:
        """Say whether there are values."""
        ...


@final
class Failures:
    """Finds out who failed, and who says so.

    Args:
        store: Where the processes met.
        launch: Which one this is.
    """

    def __init__(self, store: MeetingPlace, launch: Launch) -> None:
        self._store, self._launch = store, launch
        self._store.set(self._key("who", launch.rank), f"process {os.getpid()} on {socket.gethostname()}")
        self._is_first: bool | None = None

    def claim(self) -> bool:
        """Say that this process is failing. Return whether it is the first, which says why. Asked twice, it answers the same."""
        if self._is_first is None:
            try:
                self._store.set(self._key("left", self._launch.rank), "1")
                self._is_first = self._store.add(_CLAIM, 1) == 1
            except RuntimeError:  # the store has gone with the process that held it: better two messages than none
                self._is_first = True
        return self._is_first

    def note_alive(self) -> None:
        """Say that this process has seen a failure, and so is not the one that is gone."""
        with suppress(RuntimeError):  # the store has gone: nobody asks any more
            self._store.set(self._key("left", self._launch.rank), "1")

    def leave(self) -> None:
        """End after a failure. Where the store is rank 0's own, it stays with it until the others need it no more."""
        self.note_alive()
        with suppress(RuntimeError):
            self._store.set(self._key("gone", self._launch.rank), "1")
        if self._launch.is_first and not _is_store_of_starter():
            self._without("gone")

    def lost(self, error: RuntimeError) -> TrainingError:
        """Return what to raise when other ranks do not answer: with their names, if no other rank gives them.

        Args:
            error: What torch says; it knows addresses only.
        """
        if not self.claim():
            return OtherRankFailedError("another process has failed before; see its message")
        if threading.current_thread() is threading.main_thread():
            # torchrun ends the processes that are left as soon as it sees one die. Let the reason be said first.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        missing = self._without("left")
        who = "; ".join(f"rank {rank} ({self._who(rank)})" for rank in missing)
        silent = "does not answer" if len(missing) == 1 else "do not answer"
        return RankLostError(
            f"{who or 'one of the processes'} {silent} any more: killed, out of memory, or hanging; all "
            f"{self._launch.size} processes stop. Start the same command again with --resume to go on from the last "
            f"checkpoint ({str(error).partition(chr(10))[0].partition('. This is')[0]})"
        )

    def _without(self, kind: str) -> list[int]:
        """Return the other ranks of which there is no value of a kind within some seconds."""
        others = [rank for rank in range(self._launch.size) if rank != self._launch.rank]
        deadline = time.monotonic() + _GRACE_S
        missing = others
        while time.monotonic() < deadline:
            time.sleep(0.1)
            with suppress(RuntimeError):
                missing = [rank for rank in others if not self._store.check([self._key(kind, rank)])]
            if len(missing) <= 1:  # most likely the one
                deadline = min(deadline, time.monotonic() + _SETTLE_S)
        return missing

    def _who(self, rank: int) -> str:
        try:
            return self._store.get(self._key("who", rank)).decode()
        except RuntimeError:
            return "unknown"

    @staticmethod
    def _key(kind: str, rank: int) -> str:
        return f"transduce/{kind}/{rank}"


def is_first_to_fail() -> bool:
    """Say whether a process that failed before it met the others is the first to fail, and so the one that says why.

    Known only under ``torchrun``, whose store is there before the processes are; without it every process says why.
    """
    if not _is_store_of_starter():
        return True
    try:
        store, _, _ = next(iter(rendezvous("env://", timeout=timedelta(seconds=10))))
        return bool(store.add(_CLAIM, 1) == 1)
    except (RuntimeError, ValueError):
        return True


def _is_store_of_starter() -> bool:
    """Say whether the store belongs to ``torchrun``, and not to rank 0."""
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
