"""The program of a worker process: it reads what to do, then item after item from its input, and writes the results.

It ends when its input does. So no worker outlives its parent, even one that was killed.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Work until there is nothing more to do."""
    items, results = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not end up among the results
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent answers it, and ends us
    work = _load_work(items)
    while True:
        try:
            item = pickle.load(items)
        except EOFError:
            return
        try:
            answer = (True, work(item))
        except Exception as error:
            answer = (False, error)  # raised again by the parent, in the place of the result
        pickle.dump(answer, results, protocol=pickle.HIGHEST_PROTOCOL)
        results.flush()


def _load_work(stream: Any) -> Callable[[Any], Any]:
    work: Callable[[Any], Any] = pickle.load(stream)
    return work
