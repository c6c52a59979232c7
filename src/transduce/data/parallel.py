"""Work on all cores, with the results in the order of the work and little of it in memory at any time."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, Generic, TypeVar, cast

from transduce.base.errors import DataError

__all__ = ["map_in_order", "map_on_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_MIN_ITEMS = 8
"""With fewer items the work is done at once in the time that processes need to start."""
_AHEAD = 3
"""Items for each worker that are in work, or wait for one, or are done and wait for an earlier one."""


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

    The workers are programs of their own and not ``multiprocessing``'s: its forks can hang after a tokenizer or torch has
    started threads, its other ways run the caller's script once more in each worker, and its pool of Python 3.11 waits
    forever when a worker is killed while a large item is on its way.

    Args:
        work: What to do: a function of a module, or an object that pickle can send. It is sent to each worker once.
        items: What to do it to; each is sent to a worker.
        n_workers: Number of worker processes.

    Raises:
        DataError: A worker was killed.
    """
    iterator = iter(items)
    head = list(itertools.islice(iterator, _MIN_ITEMS))
    items = itertools.chain(head, iterator)
    if n_workers == 1 or len(head) < _MIN_ITEMS:
        yield from map(work, items)
        return
    workers: list[_Worker[Item, Result]] = []
    threads = ThreadPoolExecutor(n_workers, thread_name_prefix="map_on_processes")
    try:
        for _ in range(n_workers):
            workers.append(_Worker(work))
        free: SimpleQueue[_Worker[Item, Result]] = SimpleQueue()
        for worker in workers:
            free.put(worker)

        def run(item: Item) -> Result:
            worker = free.get()  # there are as many threads as workers, so one is free
            try:
                return worker(item)
            finally:
                free.put(worker)

        yield from map_in_order(threads, run, items, n_ahead=_AHEAD * n_workers)
    finally:
        for worker in workers:
            worker.end()  # after an error some are still at work, and nobody wants it any more
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()


class _Worker(Generic[Item, Result]):
    """A worker process, which does one item at a time. Not for two threads at once."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        # With our own search path it finds the same modules; with one thread each, the processes are the parallelism.
        start = f"import sys; sys.path[:] = {sys.path!r}; from transduce.data.worker import main; main()"
        environment = os.environ | {"TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self._items, self._results = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._send(work)

    def __call__(self, item: Item) -> Result:
        self._send(item)
        try:
            done, answer = pickle.load(self._results)
        except (EOFError, pickle.UnpicklingError):
            raise self._death() from None
        if not done:
            raise cast(Exception, answer)
        return cast(Result, answer)

    def end(self) -> None:
        self._process.kill()

    def close(self) -> None:
        with suppress(BrokenPipeError):  # an item that never left
            self._items.close()
        self._results.close()
        self._process.wait()

    def _send(self, message: Any) -> None:
        try:
            pickle.dump(message, self._items, protocol=pickle.HIGHEST_PROTOCOL)
            self._items.flush()
        except BrokenPipeError:
            raise self._death() from None

    def _death(self) -> DataError:
        code = self._process.wait()
        return DataError(
            f"a worker process ended before its work was done (exit code {code}): perhaps the memory was used up; "
            f"try again with fewer workers, for example data.n_workers=1"
        )
