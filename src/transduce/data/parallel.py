"""Work on all cores, with the results in the order of the work and little of it in memory at any time."""

from __future__ import annotations

import itertools
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from transduce.base.errors import DataError

__all__ = ["count_cores", "map_in_order", "map_on_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_MIN_ITEMS = 8
"""With fewer items the work is done at once in the time that processes need to start."""
_AHEAD = 3
"""Items that wait for each worker, or whose results wait for an earlier one."""

_work: Callable[[Any], Any] | None = None
"""What a worker process does. Set once by :func:`_start_worker`, in worker processes only."""


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    executor: Executor, work: Callable[[Item], Result], items: Iterable[Item], *, n_ahead: int
) -> Generator[Result, None, None]:
    """Apply ``work`` to every item on an executor and yield the results in the order of the items.

    Items are taken from the iterable only as results are taken out, so that an endless one does no harm.

    Args:
        executor: Threads or processes. The caller opens and closes it.
        work: What to do. An error that it raises is raised here in the place of its result.
        items: What to do it to.
        n_ahead: At most this many items are in work or done and waiting at one time.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(map_in_order(threads, abs, [-1, 2, -3], n_ahead=2))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(executor.submit(work, item))
        if len(waiting) >= n_ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def map_on_processes(
    work: Callable[[Item], Result], items: Iterable[Item], *, n_workers: int
) -> Generator[Result, None, None]:
    """Apply ``work`` to every item on worker processes and yield the results in the order of the items.

    The number of workers never changes the results. With one worker, or with very few items, all is done in this process.

    Processes are started afresh (*spawn*) and not forked: a fork of a process in which a tokenizer or torch has started
    threads can hang. ``work`` is sent to each worker once.

    Args:
        work: What to do: a function of a module, or an object that pickle can send to another process.
        items: What to do it to; each is sent to a worker.
        n_workers: Number of worker processes.

    Raises:
        DataError: A worker process was killed.
    """
    iterator = iter(items)
    head = list(itertools.islice(iterator, _MIN_ITEMS))
    items = itertools.chain(head, iterator)
    if n_workers == 1 or len(head) < _MIN_ITEMS:
        yield from map(work, items)
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(n_workers, mp_context=context, initializer=_start_worker, initargs=(work,))
    try:
        yield from map_in_order(executor, _run_work, items, n_ahead=_AHEAD * n_workers)
    except BrokenProcessPool:
        raise DataError(
            "a worker process ended before its work was done: it was killed, perhaps for want of memory, or the calling "
            "script does not start with \"if __name__ == '__main__':\"; try again with data.n_workers=1"
        ) from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _start_worker(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    # Ctrl-C reaches the whole group of processes: the parent answers it and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One thread a worker: the processes are the parallelism.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the parent process to end, however it does, and end with it: no worker outlives a killed parent."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _run_work(item: Any) -> Any:
    if _work is None:
        raise RuntimeError("this process was not started as a worker")
    return _work(item)
