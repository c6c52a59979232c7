from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from transduce.training import energy as energy_module
from transduce.training.energy import EnergyMeter, find_counters, gpu_counters, processor_counters


def write_package(root: Path, name: str, microjoules: int, most: int = 999) -> Path:
    package = root / name
    package.mkdir()
    (package / "name").write_text(f"package-{name[-1]}\n")
    (package / "max_energy_range_uj").write_text(f"{most}\n")
    (package / "energy_uj").write_text(f"{microjoules}\n")
    return package / "energy_uj"


def test_processors_are_added_up_across_the_end_of_a_counter(tmp_path: Path) -> None:
    first, second = write_package(tmp_path, "intel-rapl:0", 900), write_package(tmp_path, "intel-rapl:1", 5)
    write_package(tmp_path, "intel-rapl:0:0", 1)  # a part of the first package
    counters, missing = processor_counters(tmp_path)
    assert missing == []
    meter = EnergyMeter(counters, "")
    first.write_text("40\n")  # 140 microjoules on, through 999
    second.write_text("25\n")
    energy = meter.read()
    assert energy.joules == pytest.approx(160e-6)
    assert energy.note == "all that ran on package-0 (processor), package-1 (processor)"
    assert meter.read().joules == energy.joules


def test_a_machine_without_counters_says_so(tmp_path: Path) -> None:
    counters, missing = processor_counters(tmp_path)
    energy = EnergyMeter(counters, "; ".join(missing)).read()
    assert energy.joules is None
    assert energy.note.startswith("this machine shows no counter")


def test_processors_are_counted_by_the_first_process_of_their_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path, "intel-rapl:0", 900)
    monkeypatch.setattr(energy_module, "processor_counters", lambda: processor_counters(tmp_path))
    counts = [len(find_counters([], local_rank=rank)[0]) for rank in range(3)]
    assert counts == [1, 0, 0]


class FakeNvml:
    """Counts a thousand millijoules at every look."""

    def __init__(self, code: int = 0) -> None:
        self.code, self.shown = code, 5000

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        return 0 if uuid == b"GPU-1" else 6

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any, millijoules: Any) -> int:
        self.shown += 1000
        ctypes.cast(millijoules, ctypes.POINTER(ctypes.c_ulonglong)).contents.value = self.shown
        return self.code


def test_gpus_are_counted_by_nvml() -> None:
    counters, missing = gpu_counters(["GPU-1"], FakeNvml())
    meter = EnergyMeter(counters, "")
    assert (missing, meter.read().joules, meter.read().joules) == ([], 1.0, 2.0)


def test_why_a_gpu_is_not_counted() -> None:
    assert gpu_counters(["GPU-1"], None)[1] == ["NVIDIA's management library (NVML) is not there"]
    assert gpu_counters(["GPU-2"], FakeNvml())[1] == ["NVML does not know GPU-2"]
    assert gpu_counters(["GPU-1"], FakeNvml(code=3))[1] == ["this GPU does not count its energy"]
