"""Free memory, with and without the limits of containers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from transduce.base import memory
from transduce.base.memory import free_memory_bytes


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with 8000 bytes free, and a process in the group ``/pod/app`` below the returned directory."""
    root = tmp_path / "cgroup"
    (root / "pod" / "app").mkdir(parents=True)
    (root / "memory" / "pod" / "app").mkdir(parents=True)
    (tmp_path / "own").write_text("0::/pod/app\n")
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:   8 kB\n")
    for name, file in (("_CONTROL_GROUPS", "cgroup"), ("_OWN_GROUPS", "own"), ("_MEMORY", "meminfo")):
        monkeypatch.setattr(memory, name, tmp_path / file)
    return root


def _limit(group: Path, limit: str, used: str = "1000\n", stat: str | None = "anon 900\ninactive_file 100\n") -> None:
    (group / "memory.max").write_text(limit)
    (group / "memory.current").write_text(used)
    if stat is not None:
        (group / "memory.stat").write_text(stat)


def test_without_limits_it_is_that_of_the_machine(groups: Path) -> None:
    _limit(groups / "pod", "max\n")
    assert free_memory_bytes() == 8192


def test_the_tightest_group_counts_and_its_cache_is_free(groups: Path) -> None:
    _limit(groups / "pod", "5000\n")
    assert free_memory_bytes() == 4100
    _limit(groups / "pod" / "app", "3000\n", stat=None)
    assert free_memory_bytes() == 2000
    _limit(groups / "pod" / "app", "500\n", stat=None)
    assert free_memory_bytes() == 0  # never less


def test_the_first_version_of_control_groups(groups: Path) -> None:
    (groups.parent / "own").write_text("4:cpu,memory:/pod/app\n3:freezer:/\n")
    group = groups / "memory" / "pod" / "app"
    (group / "memory.limit_in_bytes").write_text("6000\n")
    (group / "memory.usage_in_bytes").write_text("2000\n")
    (group / "memory.stat").write_text("total_inactive_file 500\n")
    assert free_memory_bytes() == 4500


def test_a_system_that_says_nothing(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (groups.parent / "own").unlink()
    (groups.parent / "meminfo").unlink()
    monkeypatch.setattr(os, "sysconf", {"SC_AVPHYS_PAGES": 3, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert free_memory_bytes() == 3 * 4096
    monkeypatch.delattr(os, "sysconf")
    assert free_memory_bytes() is None
