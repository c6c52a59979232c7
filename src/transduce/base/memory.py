"""How much memory this process can still get: what is free, and no more than its container is granted."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["free_memory_bytes"]

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_MEMORY = Path("/proc/meminfo")


def free_memory_bytes() -> int | None:
    """Return the bytes that this process can still allocate before the machine or its container runs out. None: not known.

    What the system keeps of files in memory counts as free where the system says that it can be given up at once.
    """
    found = [free for free in (_of_machine(), *_of_groups()) if free is not None]
    return max(0, min(found)) if found else None


def _of_machine() -> int | None:
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):  # not Linux
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _of_groups() -> list[int | None]:
    """Return what each limited group that this process is in has left (control groups, both versions)."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []  # not Linux
    found: list[int | None] = []
    for line in lines:
        number, controllers, own = line.split(":", 2)
        if number == "0":
            found += _walk(_CONTROL_GROUPS, own, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            found += _walk(_CONTROL_GROUPS / "memory", own, *names)
    return found


def _walk(root: Path, own: str, limit: str, usage: str, cache: str) -> list[int | None]:
    innermost = root / own.lstrip("/")
    groups = [group for group in (innermost, *innermost.parents) if group.is_relative_to(root)]
    return [_left(group, limit, usage, cache) for group in groups]


def _left(group: Path, limit: str, usage: str, cache: str) -> int | None:
    try:
        granted = int((group / limit).read_text(encoding="ascii"))
        used = int((group / usage).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or one without a limit ("max")
        return None
    return granted - used + _cached(group / "memory.stat", cache)


def _cached(file: Path, name: str) -> int:
    """Return the bytes of files that the group holds in memory and can give up at once."""
    try:
        return int(dict(line.split() for line in file.read_text(encoding="ascii").splitlines())[name])
    except (OSError, ValueError, KeyError):
        return 0
