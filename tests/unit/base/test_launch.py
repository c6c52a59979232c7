"""The place of a process among others, and its share of the machine."""

from __future__ import annotations

import pytest

from transduce.base import launch as launch_module
from transduce.base.launch import Launch, own_threads

TWO = Launch(rank=0, size=2, local_rank=0, local_size=2)


@pytest.mark.parametrize(
    ("launch", "variables", "expected"),
    [
        (Launch(), {}, None),
        (Launch(), {"OMP_NUM_THREADS": "1"}, None),
        (Launch(rank=1, size=2), {}, None),  # one on each machine
        (TWO, {}, 32),
        (TWO, {"OMP_NUM_THREADS": "1", "TORCHELASTIC_RUN_ID": "none"}, 32),  # what torchrun sets where nobody has
        (TWO, {"OMP_NUM_THREADS": "4", "TORCHELASTIC_RUN_ID": "none"}, None),
        (TWO, {"OMP_NUM_THREADS": "1"}, None),
        (Launch(size=100, local_size=100), {}, 1),
    ],
)
def test_processes_share_the_cores_unless_a_person_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, launch: Launch, variables: dict[str, str], expected: int | None
) -> None:
    monkeypatch.setattr(launch_module, "count_cores", lambda: 64)
    for name in ("OMP_NUM_THREADS", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert own_threads(launch) == expected
