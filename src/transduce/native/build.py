"""Compiling the C++ of ``src/`` beside this file into one shared library, by plain calls of the compiler.

``setup.py`` calls it while the package is installed, the tests call it for sanitized builds, and people can::

    python -m transduce.native.build                                    into the installed package
    python -m transduce.native.build --sanitize thread --out DIR        for debugging
    python -m transduce.native.build --driver tests/native/driver.cpp --sanitize address,undefined --out DIR

``kernels.cpp`` (and any other ``kernels*.cpp``) is compiled once for each instruction set of the machine, with
``-DTRANSDUCE_ISA=NAME`` and the flags of the set; every other file is compiled once, with a ``-DTRANSDUCE_HAVE_NAME`` for
each set that there is, and chooses among them when the program runs. So one library is right for every CPU of its kind.

Of what is installed nothing is imported but the standard library, since this file runs before anything is. ``CXX``,
``CXXFLAGS`` and ``LDFLAGS`` are respected, and ``TRANSDUCE_NO_NATIVE=1`` means that there is no compiler.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from transduce.base.cores import count_cores
from transduce.native import LIBRARY

__all__ = [
    "INSTRUCTION_SETS",
    "SOURCES",
    "BuildError",
    "Compiler",
    "NoCompilerError",
    "build_driver",
    "build_library",
    "find_compiler",
]

SOURCES = Path(__file__).resolve().parent / "src"
"""The directory with the ``.cpp`` and ``.h`` files."""

INSTRUCTION_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "x86_64": {
        "base": (),
        "avx2": ("-mavx2", "-mfma"),
        "avx512": ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni", "-mfma"),
    },
    "aarch64": {
        "base": ("-march=armv8-a",),
        "neon_dot": ("-march=armv8.2-a+dotprod",),
    },
}
"""By machine, the instruction sets with the flags of each; a machine that is not listed has ``base`` without flags."""

_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}
_COMPILERS = ("c++", "g++", "clang++")
_WARNINGS = ("-Wall", "-Wextra")
_COMMON = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-pthread", *_WARNINGS)
_FAST = ("-O3", "-ffp-contract=fast")
_SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=fast", "-fno-sanitize-recover=all")


class BuildError(Exception):
    """The compiler did not accept something; the message holds what it printed."""


class NoCompilerError(BuildError):
    """There is no C++ compiler, or none is to be used: no fault, since everything works through torch too."""


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler with the flags of one kind of build."""

    command: tuple[str, ...]
    """The words that call it."""
    version: str
    """What it says about itself: another compiler makes other objects."""
    flags: tuple[str, ...]
    """Flags of every call."""
    link_flags: tuple[str, ...] = ()
    """More flags of the linker."""

    def run(self, *arguments: str) -> None:
        """Call it.

        Raises:
            BuildError: It failed.
        """
        done = _call([*self.command, *self.flags, *arguments])
        if done.returncode != 0:
            raise BuildError(f"the C++ compiler failed\n{shlex.join(done.args)}\n{done.stderr.strip()}")

    def accepts(self, *flags: str) -> bool:
        """Tell whether it can make a program with some flags: it knows them, and the libraries they need are there."""
        with tempfile.TemporaryDirectory() as place:
            source = Path(place) / "empty.cpp"
            source.write_text("int main() { return 0; }\n", encoding="utf-8")
            command = [*self.command, *self.flags, *flags, str(source), "-o", str(source.with_suffix(""))]
            return _call(command).returncode == 0


def find_compiler(sanitize: Sequence[str] = ()) -> Compiler:
    """Return the compiler of this machine: ``CXX``, or the first of c++, g++ and clang++.

    Args:
        sanitize: Sanitizers to build with, such as ``["address", "undefined"]``; none: a fast build.

    Raises:
        NoCompilerError: There is none, or ``TRANSDUCE_NO_NATIVE`` is set.
    """
    if os.environ.get("TRANSDUCE_NO_NATIVE", "0") not in ("", "0"):
        raise NoCompilerError("TRANSDUCE_NO_NATIVE is set")
    named = shlex.split(os.environ.get("CXX", ""))
    command = named or [name for name in _COMPILERS if shutil.which(name)][:1]
    if not command or shutil.which(command[0]) is None:
        raise NoCompilerError(
            f"no C++ compiler was found (looked for {command[0] if command else 'c++, g++, clang++'})"
        )
    kind = (*_SANITIZED, f"-fsanitize={','.join(sanitize)}") if sanitize else _FAST
    return Compiler(
        command=tuple(command),
        version=_call([*command, "--version"]).stdout,
        flags=(*_COMMON, *kind, *shlex.split(os.environ.get("CXXFLAGS", ""))),
        link_flags=tuple(shlex.split(os.environ.get("LDFLAGS", ""))),
    )


def build_library(out: Path, *, work: Path, compiler: Compiler | None = None, sources: Path = SOURCES) -> Path:
    """Compile and link the shared library. What has not changed since the last time is not compiled again.

    Args:
        out: The library's path. A library in use is replaced, never overwritten.
        work: Directory of the object files; keep it, and the next build is quick.
        compiler: None: :func:`find_compiler`'s.
        sources: Directory of the C++ files.

    Returns:
        ``out``.

    Raises:
        NoCompilerError: There is no compiler.
        BuildError: It failed; nothing has been written to ``out``.
    """
    compiler = compiler or find_compiler()
    objects = _compile(compiler, sorted(sources.glob("*.cpp")), sources, work)
    if not objects:
        raise BuildError(f"{sources}: there are no C++ files here")
    return _link(compiler, objects, out, work, "-shared")


def build_driver(
    driver: Path, out: Path, *, work: Path, compiler: Compiler | None = None, sources: Path = SOURCES
) -> Path:
    """Compile and link a program: a file with a ``main`` that calls the C ABI, and everything of the library.

    Args:
        driver: The C++ file with ``main``. It may include the headers beside the sources.
        out: The program's path.
        work: As in :func:`build_library`.
        compiler: As in :func:`build_library`.
        sources: As in :func:`build_library`.

    Returns:
        ``out``.

    Raises:
        NoCompilerError: There is no compiler.
        BuildError: It failed; nothing has been written to ``out``.
    """
    compiler = compiler or find_compiler()
    objects = _compile(compiler, [driver, *sorted(sources.glob("*.cpp"))], sources, work)
    return _link(compiler, objects, out, work)


@dataclass(frozen=True)
class _Unit:
    """One call of the compiler."""

    source: Path
    name: str
    flags: tuple[str, ...]


def _compile(compiler: Compiler, files: Sequence[Path], sources: Path, work: Path) -> list[Path]:
    """Compile files, each core one at a time, and return the objects; other objects in ``work`` are deleted.

    The name of an object holds a digest of all that it is made from, so that one that exists is right.
    """
    work.mkdir(parents=True, exist_ok=True)
    units = _units(compiler, files, sources)
    headers = [header.read_bytes() for header in sorted(sources.glob("*.h"))]
    common = _digest(compiler.version, *compiler.command, *compiler.flags, *headers)

    def compile_one(unit: _Unit) -> Path:
        target = work / f"{unit.name}-{_digest(common, *unit.flags, unit.source.read_bytes())}.o"
        if not target.exists():
            temporary = target.with_suffix(f".{os.getpid()}.part")
            compiler.run(*unit.flags, "-c", str(unit.source), "-o", str(temporary))
            temporary.replace(target)
        return target

    with ThreadPoolExecutor(count_cores()) as pool:
        objects = list(pool.map(compile_one, units))
    for old in set(work.glob("*.o")) - set(objects):
        old.unlink(missing_ok=True)
    return objects


def _units(compiler: Compiler, files: Sequence[Path], sources: Path) -> list[_Unit]:
    """Return the calls that compile files, those that take longest first."""
    machine = platform.machine().lower()
    known = INSTRUCTION_SETS.get(_ALIASES.get(machine, machine), {"base": ()})
    usable = {name: flags for name, flags in known.items() if not flags or compiler.accepts(*flags)}
    shared = (f"-I{sources}", *(f"-DTRANSDUCE_HAVE_{name.upper()}=1" for name in usable))
    return [
        *(
            _Unit(file, f"{file.stem}-{name}", (*shared, f"-DTRANSDUCE_ISA={name}", *flags))
            for file in files
            if file.stem.startswith("kernels")
            for name, flags in usable.items()
        ),
        *(_Unit(file, file.stem, shared) for file in files if not file.stem.startswith("kernels")),
    ]


def _link(compiler: Compiler, objects: Sequence[Path], out: Path, work: Path, *flags: str) -> Path:
    linked = work / f"linked-{out.name}-{_digest(*(file.name for file in objects), *compiler.link_flags)}"
    if not linked.exists():
        for old in work.glob(f"linked-{out.name}-*"):
            old.unlink()
        temporary = linked.with_name(f"{linked.name}.{os.getpid()}.part")
        compiler.run(*flags, *map(str, objects), "-o", str(temporary), *compiler.link_flags)
        temporary.replace(linked)
    if not out.exists() or out.read_bytes() != linked.read_bytes():
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = out.with_name(f".{out.name}.{os.getpid()}.part")
        shutil.copy(linked, beside)
        beside.replace(out)
    return out


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return digest.hexdigest()[:16]


def _call(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build from the command line, and return the exit code: 1 if it failed; no compiler is no failure of a fast build."""
    parser = argparse.ArgumentParser(prog="python -m transduce.native.build", description="Compile the native engine.")
    parser.add_argument("--out", type=Path, help="directory to write to (default: the installed package)")
    parser.add_argument("--work", type=Path, help="directory of the object files, kept (default: a temporary one)")
    parser.add_argument("--sanitize", default="", metavar="NAMES", help="such as address,undefined or thread")
    parser.add_argument("--driver", type=Path, help="a C++ file with a main: build a program, not the library")
    options = parser.parse_args(arguments)
    sanitize = [name for name in options.sanitize.split(",") if name]
    if (sanitize or options.driver) and options.out is None:
        parser.error("--sanitize and --driver need --out")
    place: Path = options.out or LIBRARY.parent
    with tempfile.TemporaryDirectory() as temporary:
        work: Path = options.work or Path(temporary)
        try:
            compiler = find_compiler(sanitize)
            if options.driver is not None:
                made = build_driver(options.driver, place / options.driver.stem, work=work, compiler=compiler)
            else:
                made = build_library(place / LIBRARY.name, work=work, compiler=compiler)
        except NoCompilerError as error:
            sys.stderr.write(f"the native engine was not built: {error}; translating needs torch\n")
            return 1 if sanitize or options.driver else 0
        except (BuildError, OSError) as error:
            sys.stderr.write(f"error: the native engine could not be built: {error}\n")
            return 1
    sys.stdout.write(f"{made}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
