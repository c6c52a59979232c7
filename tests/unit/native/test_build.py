"""The build: once for each instruction set, only what has changed, and one clear error."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from transduce.native.build import BuildError, NoCompilerError, build_driver, build_library, find_compiler, main

KERNELS = """
#include "shared.h"
namespace TRANSDUCE_ISA { int answer() { return ANSWER; } }
"""
API = """
#include "shared.h"
namespace base { int answer(); }
extern "C" __attribute__((visibility("default"))) int answer() { return base::answer(); }
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small library whose function gives what a header says."""
    place = tmp_path / "src"
    place.mkdir()
    (place / "kernels.cpp").write_text(KERNELS)
    (place / "api.cpp").write_text(API)
    (place / "shared.h").write_text("#define ANSWER 41\n")
    try:
        find_compiler()
    except NoCompilerError as error:
        pytest.skip(str(error))
    return place


def test_what_has_not_changed_is_not_compiled_again(sources: Path, tmp_path: Path) -> None:
    out, work = tmp_path / "lib.so", tmp_path / "work"
    build_library(out, work=work, sources=sources)
    first = {file: file.stat().st_mtime_ns for file in [*work.iterdir(), out]}
    build_library(out, work=work, sources=sources)
    assert {file: file.stat().st_mtime_ns for file in [*work.iterdir(), out]} == first
    assert ctypes.CDLL(str(out)).answer() == 41

    (sources / "api.cpp").write_text(API.replace("base::answer()", "base::answer() + 1"))
    build_library(tmp_path / "second.so", work=work, sources=sources)
    assert ctypes.CDLL(str(tmp_path / "second.so")).answer() == 42
    kernels = [file for file in first if file.name.startswith("kernels")]
    assert kernels and all(file.stat().st_mtime_ns == first[file] for file in kernels)

    (sources / "shared.h").write_text("#define ANSWER 50\n")
    build_library(tmp_path / "third.so", work=work, sources=sources)
    assert ctypes.CDLL(str(tmp_path / "third.so")).answer() == 51
    assert not any(file.exists() for file in kernels)  # old objects are not kept


def test_only_what_is_exported_can_be_seen(sources: Path, tmp_path: Path) -> None:
    library = ctypes.CDLL(str(build_library(tmp_path / "lib.so", work=tmp_path / "work", sources=sources)))
    with pytest.raises(AttributeError):
        library._ZN4base6answerEv  # noqa: B018 (looking it up is the test)


def test_a_mistake_in_the_source_leaves_the_old_library(sources: Path, tmp_path: Path) -> None:
    out = build_library(tmp_path / "lib.so", work=tmp_path / "work", sources=sources)
    before = out.read_bytes()
    (sources / "api.cpp").write_text("nonsense;")
    with pytest.raises(BuildError, match="compiler failed"):
        build_library(out, work=tmp_path / "work", sources=sources)
    assert out.read_bytes() == before


def test_a_program_is_built_from_the_same_files(sources: Path, tmp_path: Path) -> None:
    driver = tmp_path / "driver.cpp"
    driver.write_text('#include "shared.h"\nextern "C" int answer();\nint main() { return answer() != ANSWER; }\n')
    program = build_driver(driver, tmp_path / "driver", work=tmp_path / "work", sources=sources)
    assert subprocess.run([program], check=False).returncode == 0


def test_without_a_compiler_the_command_says_so_and_is_content(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert main(["--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == (
        "the native engine was not built: no C++ compiler was found (looked for no-such-compiler); translating needs torch\n"
    )
    monkeypatch.setenv("TRANSDUCE_NO_NATIVE", "1")
    assert main(["--out", str(tmp_path), "--sanitize", "thread"]) == 1
    assert "TRANSDUCE_NO_NATIVE is set" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
