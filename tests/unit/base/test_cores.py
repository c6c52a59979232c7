"""Counting cores, with and without the limits of containers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from transduce.base import cores
from transduce.base.cores import count_cores


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process bound to 8 cores, in the group ``/pod/app`` of a tree that starts at the returned directory."""
    root, own = tmp_path / "cgroup", tmp_path / "own"
    (root / "pod" / "app").mkdir(parents=True)
    own.write_text("0::/pod/app\n")
    (tmp_path / "cpu.max").write_text("100000 100000\n")  # above the tree: says nothing about this process
    monkeypatch.setattr(cores, "_CONTROL_GROUPS", root)
    monkeypatch.setattr(cores, "_OWN_GROUPS", own)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    return root


@pytest.mark.parametrize(
    ("place", "limit", "expected"),
    [
        (".", "max 100000\n", 8),
        (".", "250000 100000\n", 2),  # as seen inside of a container, and not a whole number
        ("pod", "400000 100000\n", 4),  # the limit of a group holds for the groups in it
        ("pod/app", "10000 20000\n", 1),  # half a core is still one thread
        ("pod/app", "1600000 100000\n", 8),  # more is granted than there is
        ("pod/app", "nonsense\n", 8),
        ("elsewhere", "100000 100000\n", 8),  # of other processes
    ],
)
def test_cores_are_no_more_than_granted(groups: Path, place: str, limit: str, expected: int) -> None:
    (groups / place).mkdir(exist_ok=True)
    (groups / place / "cpu.max").write_text(limit)
    assert count_cores() == expected


def test_the_tightest_limit_counts(groups: Path) -> None:
    for place, limit in ((".", "600000 100000"), ("pod", "300000 100000"), ("pod/app", "max 100000")):
        (groups / place / "cpu.max").write_text(limit)
    assert count_cores() == 3


@pytest.mark.parametrize("text", ["", "9:name=systemd:/\n1:cpu:/pod/app\n"])
def test_control_groups_of_another_kind_are_left_alone(groups: Path, text: str) -> None:
    (groups / "cpu.max").write_text("100000 100000")
    (groups.parent / "own").write_text(text)
    assert count_cores() == 8
    (groups.parent / "own").unlink()
    assert count_cores() == 8


def test_a_system_without_affinities_has_what_it_says(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert count_cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert count_cores() == 1
