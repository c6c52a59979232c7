"""The C++ by itself, under the compiler's sanitizers: the drivers call the C ABI as Python does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from transduce.native.build import NoCompilerError, build_driver, find_compiler

DRIVERS = ["driver.cpp", "training_driver.cpp"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("sanitizers", [["address", "undefined"], ["thread"]], ids="-".join)
def test_drivers_are_clean(sanitizers: list[str], tmp_path: Path) -> None:
    try:
        compiler = find_compiler(sanitizers)
    except NoCompilerError as error:
        pytest.skip(str(error))
    if not compiler.accepts():
        pytest.skip(f"{compiler.command[0]} has no sanitizer for {' and '.join(sanitizers)}")
    # Before GCC 14, ThreadSanitizer finds no place for its shadow where the system scatters addresses widely.
    still = ["setarch", "-R"] if "thread" in sanitizers and shutil.which("setarch") else []
    for driver in DRIVERS:
        source = Path(__file__).with_name(driver)
        program = build_driver(source, tmp_path / source.stem, work=tmp_path / "objects", compiler=compiler)
        done = subprocess.run([*still, program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, driver + done.stdout + done.stderr
