from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.data.parallel import map_in_order, map_on_processes


def slow_first(n: int) -> int:
    if n == 0:
        time.sleep(0.2)
    return n * n


def fail_at_seven(n: int) -> int:
    if n == 7:
        raise DataError("seven is wrong")
    return n


def end_at_seven(item: tuple[int, str]) -> int:
    if item[0] == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return item[0]


def print_and_add(n: int) -> int:
    print("at work")
    return n + 1


def process_id(n: int) -> int:
    time.sleep(0.01)
    return os.getpid()


@pytest.mark.parametrize("n_workers", [1, 3])
def test_results_come_in_the_order_of_the_items(n_workers: int) -> None:
    assert list(map_on_processes(slow_first, range(20), n_workers=n_workers)) == [n * n for n in range(20)]


def test_few_items_need_no_processes() -> None:
    assert list(map_on_processes(lambda n: n + 1, range(3), n_workers=8)) == [1, 2, 3]  # pickle cannot send a lambda


@pytest.mark.parametrize("n_workers", [1, 2])
def test_error_of_a_worker_is_raised_in_its_place(n_workers: int) -> None:
    results = map_on_processes(fail_at_seven, range(20), n_workers=n_workers)
    assert list(itertools.islice(results, 7)) == list(range(7))
    with pytest.raises(DataError, match="seven is wrong"):
        next(results)


def test_killed_worker_is_one_clear_sentence() -> None:
    """With items larger than any pipe holds, so that some of them are on their way."""
    with pytest.raises(DataError, match="a worker process ended before its work was done"):
        list(map_on_processes(end_at_seven, ((n, "x" * 1_000_000) for n in range(20)), n_workers=2))


def test_print_in_a_worker_does_no_harm(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(map_on_processes(print_and_add, range(9), n_workers=2)) == list(range(1, 10))
    assert capfd.readouterr().err.count("at work") == 9


def test_workers_end_with_the_iterator() -> None:
    process_ids = map_on_processes(process_id, itertools.count(), n_workers=2)
    workers = {next(process_ids) for _ in range(10)}
    process_ids.close()
    assert os.getpid() not in workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def test_workers_end_with_a_killed_parent() -> None:
    script = """
import itertools, sys
from tests.unit.data.test_parallel import process_id
from transduce.data.parallel import map_on_processes
for process in map_on_processes(process_id, itertools.count(), n_workers=2):  # a script without "if __name__ == ..."
    print(process, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(20)}
        parent.kill()
    for worker in workers:
        wait_for_end(worker)


def wait_for_end(process: int) -> None:
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{process}/stat").exists() and ") Z " in Path(f"/proc/{process}/stat").read_text():
            return  # it has ended, and whoever adopted it has not asked yet
        time.sleep(0.02)
    raise AssertionError(f"process {process} still runs")


def test_items_are_taken_only_as_results_are() -> None:
    n_taken = 0

    def endless() -> Iterator[int]:
        nonlocal n_taken
        for n in itertools.count():
            n_taken += 1
            yield n

    with ThreadPoolExecutor(2) as threads:
        results = map_in_order(threads, slow_first, endless(), n_ahead=4)
        assert [next(results) for _ in range(10)] == [n * n for n in range(10)]
        assert n_taken == 10 + 3  # ten taken out, and three more in work while the tenth was waited for
        results.close()
