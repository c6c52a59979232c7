"""What is shipped, in environments of their own: the wheel with its plain dependencies translates, and torch is not there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import Toy, translate_toy
from transduce.native import LIBRARY
from transduce.native.build import NoCompilerError, find_compiler

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def run(
    *command: str | Path, text: str = "", cwd: Path = Path("/"), variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program away from the checkout, whose packages must not be found."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRANSDUCE"))}
    return subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**environment, **(variables or {})},
    )


def build_wheel(sdist: Path, out: Path, variables: Mapping[str, str] | None = None) -> Path:
    """Build a wheel from the archive of the sources, with the setuptools of this environment."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out)
    done = run(sys.executable, "-m", "pip", "wheel", *options, sdist, variables=variables)
    assert done.returncode == 0, done.stderr
    [wheel] = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the sources, as it would be published."""
    pytest.importorskip("setuptools", "77")
    out = tmp_path_factory.mktemp("sdist")
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(out)!r})"
    done = run(sys.executable, "-c", code, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    [archive] = out.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and what it depends on, and no extra."""
    place = tmp_path_factory.mktemp("plain") / "venv"
    assert run(sys.executable, "-m", "venv", place).returncode == 0
    pip = (place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    done = run(*pip, "--constraint", ROOT / "constraints.txt", wheel)
    assert done.returncode == 0, done.stderr
    return place / "bin"


@pytest.fixture(scope="module")
def library() -> Iterator[None]:
    try:
        find_compiler()
    except NoCompilerError as error:
        pytest.skip(str(error))
    yield


@pytest.mark.usefixtures("library")
def test_the_wheel_is_for_any_python_on_this_kind_of_machine(wheel: Path) -> None:
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert f"transduce/native/{LIBRARY.name}" in names
    assert {"transduce/native/src/api.cpp", "transduce/native/src/kernels.h"} <= set(names)  # to build it again
    assert not any(name.startswith(("tests/", "transduce-0.1.0.data/")) for name in names)


def test_a_wheel_made_without_a_compiler_is_for_any_machine(sdist: Path, tmp_path: Path) -> None:
    wheel = build_wheel(sdist, tmp_path, {"CXX": "no-such-compiler"})
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "transduce/cli/main.py" in names
    assert f"transduce/native/{LIBRARY.name}" not in names


@pytest.mark.usefixtures("library")
def test_plain_installation_translates_without_torch(plain: Path, toy: Toy) -> None:
    assert run(plain / "python", "-c", "import torch").returncode != 0
    source = "sun moon\n\nfish\n"
    done = run(plain / "transduce", "translate", toy.run, text=source)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(f"{translate_toy(line)}\n" for line in source.splitlines())
    code = f"from transduce import Translator; print(Translator({str(toy.run)!r}).translate('sun moon'))"
    done = run(plain / "python", "-c", code)
    assert done.stdout == f"{translate_toy('sun moon')}\n", done.stderr


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("train", ("train", "phrasebook", "--out", "{out}")),
        ("train", ("translate", "{run}", "--set", "decode.engine=torch")),
        ("score", ("bleu", "{hypotheses}", "{hypotheses}")),
    ],
    ids=["train", "translate", "bleu"],
)
def test_what_needs_an_extra_says_which(
    plain: Path, toy: Toy, tmp_path: Path, extra: str, arguments: tuple[str, ...]
) -> None:
    hypotheses = toy.files["test"][1]
    words = (word.format(run=toy.run, out=tmp_path / "out", hypotheses=hypotheses) for word in arguments)
    done = run(plain / "transduce", *words, text="sun\n")
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert last.endswith(f"which is not installed: pip install 'transduce[{extra}]'")
    assert not (tmp_path / "out").exists()


def test_doctor_says_what_is_there(plain: Path) -> None:
    done = run(plain / "transduce", "doctor", "--json")
    assert done.returncode == 0, done.stderr
    assert '"torch": "not installed: pip install \'transduce[train]\'"' in done.stdout
