"""Vectors without one instruction of ours, in widths that this machine may not have: what other processors will run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from transduce.native.build import NoCompilerError, build_library, find_compiler

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("width", [2, 16])
def test_engines_agree_with_plain_vectors(width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", f"-DTRANSDUCE_PLAIN_WIDTH={width}")
    try:
        compiler = find_compiler()
    except NoCompilerError as error:
        pytest.skip(str(error))
    library = build_library(tmp_path / "library.so", work=tmp_path / "objects", compiler=compiler)
    tests = ["tests/parity/test_decoding_native.py", "tests/parity/test_decoding_engines.py"]
    tests += ["tests/unit/native/test_training_rows.py", "tests/unit/native/test_training_attention.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env={**os.environ, "TRANSDUCE_NATIVE_LIBRARY": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
