from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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


def end_at_seven(n: int) -> int:
    if n == 7:
        os.kill(os.getpid(), signal.SIGTERM)
    return n


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
    with pytest.raises(DataError, match="a worker process ended before its work was done"):
        list(map_on_processes(end_at_seven, range(20), n_workers=2))


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
