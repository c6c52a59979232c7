"""What a run is computed on and with: enough to understand its numbers years later."""

from __future__ import annotations

import platform
import resource
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import torch

__all__ = [
    "device_name",
    "find_commit",
    "gpu_uuids",
    "peak_device_bytes",
    "peak_memory_bytes",
    "short_commit",
    "versions",
]


def device_name(device: torch.device) -> str:
    """Return the name of a GPU, or of the processor."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def gpu_uuids(device: torch.device) -> list[str]:
    """Return what NVML calls the GPU of this process; nothing for another kind of device."""
    return [f"GPU-{torch.cuda.get_device_properties(device).uuid}"] if device.type == "cuda" else []


def peak_memory_bytes() -> int:
    """Return the most main memory that this process has ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def peak_device_bytes(device: torch.device) -> int | None:
    """Return the most memory that tensors have held on a GPU; None for another kind of device."""
    return int(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else None


def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    packages = {name: version(name) for name in ("transduce", "torch", "numpy")}
    return {"Python": platform.python_version(), **packages}


def find_commit() -> str | None:
    """Return the commit that this package is checked out at, with ``-dirty`` where files differ from it; None: it is not."""
    root = Path(__file__).resolve().parents[3]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    command = [git, "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def short_commit(commit: str) -> str:
    """Return what people need of a commit, as :func:`find_commit` names it.

    >>> short_commit("2b3d1e60c4" * 4), short_commit("2b3d1e60c4" * 4 + "-dirty")
    ('2b3d1e60c42b', '2b3d1e60c42b-dirty')
    """
    digits, mark, rest = commit.partition("-")
    return f"{digits[:12]}{mark}{rest}"
