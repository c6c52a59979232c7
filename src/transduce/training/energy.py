"""The energy that a machine says it has used: by counters of the processors (RAPL) and of NVIDIA's GPUs (NVML)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final, runtime_checkable

__all__ = ["Energy", "EnergyMeter", "find_counters", "gpu_counters", "processor_counters"]

_POWERCAP = Path("/sys/class/powercap")


@final
@dataclass(frozen=True)
class EnergyCounter:
    """A counter that only rises, until it begins again from zero."""

    name: str
    read: Callable[[], int]
    """Returns what it shows now."""
    joules: float
    """What one of its units is."""
    n_values: int | None
    """It begins again after so many; None: never."""


@dataclass(frozen=True)
class Energy:
    """What was used, as far as the machine tells."""

    joules: float | None
    """By everything that ran on the counted parts of the machine. None: the machine does not tell."""
    note: str
    """What was counted, or why nothing was."""
    n_counters: int
    """How many counters were read."""


@final
class EnergyMeter:
    """Adds up what counters show. It must be asked now and then: a counter of a processor begins again within the hour.

    Args:
        counters: What to read.
        missing: Why there are none, in words, if so.

    >>> shown = iter([10, 70, 20])
    >>> meter = EnergyMeter([EnergyCounter("package-0", lambda: next(shown), joules=0.5, n_values=100)], "")
    >>> meter.read().joules, meter.read().joules
    (30.0, 55.0)
    """

    def __init__(self, counters: Sequence[EnergyCounter], missing: str) -> None:
        self._counters, self._missing = tuple(counters), missing
        self._joules = 0.0
        self._shown = [counter.read() for counter in self._counters]

    def read(self) -> Energy:
        """Return what has been used since the meter was made."""
        if not self._counters:
            return Energy(None, self._missing, 0)
        for place, counter in enumerate(self._counters):
            shown = counter.read()
            risen = shown - self._shown[place]
            if risen < 0 and counter.n_values is not None:
                risen += counter.n_values
            self._joules += max(0, risen) * counter.joules
            self._shown[place] = shown
        names = ", ".join(counter.name for counter in self._counters)
        return Energy(self._joules, f"all that ran on {names}", len(self._counters))


def find_counters(gpu_uuids: Sequence[str], *, local_rank: int = 0) -> tuple[list[EnergyCounter], str]:
    """Return what a process of a run is to count, so that together they count everything once; and why that is nothing, if so.

    Each counts its GPUs. The processors, which all processes of a machine share, are counted by the first of them.

    Args:
        gpu_uuids: The GPUs of this process, such as ``GPU-5c5b...``; none for a run on the CPU.
        local_rank: Which process of its machine this is, from 0.
    """
    counters, reasons = processor_counters() if local_rank == 0 else ([], [])
    if gpu_uuids:
        gpus, missing = gpu_counters(gpu_uuids, _load_nvml())
        counters, reasons = counters + gpus, [*reasons, *missing]
    return counters, "; ".join(reasons)


def processor_counters(root: Path = _POWERCAP) -> tuple[list[EnergyCounter], list[str]]:
    """Return the counters of all processor packages, and what is missing, in words.

    Args:
        root: Where Linux shows its power caps.
    """
    counters: list[EnergyCounter] = []
    for package in sorted(root.glob("intel-rapl:*")):
        if package.name.count(":") > 1:
            continue  # a part of a package, which the package counts too
        file = package / "energy_uj"
        try:
            _read_number(file)
            counter = EnergyCounter(
                name=f"{(package / 'name').read_text(encoding='ascii').strip()} (processor)",
                read=lambda file=file: _read_number(file),  # type: ignore[misc]
                joules=1e-6,
                n_values=_read_number(package / "max_energy_range_uj") + 1,
            )
        except PermissionError:
            return [], [f"{file} may be read by root only"]
        except (OSError, ValueError):
            continue
        counters.append(counter)
    return counters, [] if counters else [f"this machine shows no counter of its processors in {root}"]


@runtime_checkable  # for the type checks that tests make at run time
class Nvml(Protocol):
    """The functions of NVIDIA's management library that are used. Each returns 0 when all went well."""

    def nvmlInit_v2(self) -> int:  # noqa: N802 (these are the library's own names)
        """Start the library."""
        ...

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: object) -> int:  # noqa: N802
        """Find a GPU."""
        ...

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: object, millijoules: object) -> int:  # noqa: N802
        """Read millijoules since the driver was loaded."""
        ...


def gpu_counters(uuids: Sequence[str], nvml: Nvml | None) -> tuple[list[EnergyCounter], list[str]]:
    """Return the counters of some GPUs, and what is missing, in words.

    Args:
        uuids: The GPUs.
        nvml: NVIDIA's management library; None: it is not there.
    """
    if nvml is None or nvml.nvmlInit_v2() != 0:
        return [], ["NVIDIA's management library (NVML) is not there"]
    counters = []
    for uuid in uuids:
        handle = ctypes.c_void_p()
        if nvml.nvmlDeviceGetHandleByUUID(uuid.encode("ascii"), ctypes.byref(handle)) != 0:
            return [], [f"NVML does not know {uuid}"]
        try:
            _gpu_millijoules(nvml, handle)
        except OSError as error:
            return [], [str(error)]
        read: Callable[[], int] = lambda handle=handle: _gpu_millijoules(nvml, handle)  # type: ignore[misc] # noqa: E731
        counters.append(EnergyCounter(uuid, read, joules=1e-3, n_values=None))
    return counters, []


def _gpu_millijoules(nvml: Nvml, handle: ctypes.c_void_p) -> int:
    shown = ctypes.c_ulonglong()
    if nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(shown)) != 0:
        raise OSError("this GPU does not count its energy")
    return shown.value


def _load_nvml() -> Nvml | None:
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None


def _read_number(file: Path) -> int:
    return int(file.read_text(encoding="ascii"))
