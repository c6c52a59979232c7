"""How many processor cores this process may use: those it is bound to, and no more than its container is granted."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["count_cores"]

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""Where Linux shows the limits of groups of processes, of which a container is one."""
_OWN_GROUPS = Path("/proc/self/cgroup")
"""Where it shows which groups this process is in."""


def count_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    A container granted 2.5 cores of a large machine sees all of that machine's cores, and is stopped for the rest of each
    tenth of a second in which its threads have used more than 0.25 seconds together: it is given 2.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min([bound, *_quotas()])))


def _quotas() -> list[float]:
    """Return the cores granted to each group that this process is in, as far as they are limited (control groups, version 2)."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []  # not Linux
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if own is None:
        return []
    innermost = _CONTROL_GROUPS / own
    files = [group / "cpu.max" for group in (innermost, *innermost.parents) if group.is_relative_to(_CONTROL_GROUPS)]
    return [quota for file in files if (quota := _quota(file)) is not None]


def _quota(file: Path) -> float | None:
    """Read microseconds of computing in each period of so many microseconds: ``150000 100000``, or ``max 100000``."""
    try:
        granted, period = file.read_text(encoding="ascii").split()
        return int(granted) / int(period)
    except (OSError, ValueError):  # this group has no limit
        return None
