"""What happens to errors and to the log on their way out."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli import run_cli
from transduce.base.log import logger
from transduce.cli import main as module

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``transduce recipes`` fail."""

    def fail() -> list[str]:
        raise error

    monkeypatch.setattr("transduce.pipeline.recipes.recipe_names", fail)


@pytest.mark.parametrize(
    ("name", "extra"), [("torch", "train"), ("torch.nn.functional", "train"), ("sacrebleu", "score")]
)
def test_a_missing_extra_is_the_users_to_mend(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(ModuleNotFoundError(f"No module named {name!r}", name=name), monkeypatch)
    result = run_cli("recipes")
    assert result.code == 2
    assert result.err == (
        f"error: this command needs the package '{name.partition('.')[0]}', which is not installed: "
        f"pip install 'transduce[{extra}]'\n"
    )


@pytest.mark.parametrize("name", ["transduce.gone", "sympy", None])
def test_any_other_missing_module_is_our_fault(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(ModuleNotFoundError("gone", name=name), monkeypatch)
    result = run_cli("recipes")
    assert result.code == 1
    assert result.err.startswith("internal error: ModuleNotFoundError: gone (run again with --traceback")


def test_what_the_system_refuses_is_said_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(OSError(errno.ENOSPC, "No space left on device", "runs/x"), monkeypatch)
    result = run_cli("recipes")
    assert result.code == 2
    assert result.err == "error: runs/x: No space left on device\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "MemoryError"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: 4 bytes\nmore"),
            "DefaultCPUAllocator: can't allocate",
        ),
    ],
)
def test_too_little_memory_is_the_users_to_mend(error: Exception, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(error, monkeypatch)
    result = run_cli("recipes")
    assert result.code == 2
    assert result.err.startswith(f"error: there is not enough memory ({words}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_an_empty_one(closed: str) -> None:
    command = f'exec "{sys.executable}" -m transduce recipes small {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert (b"[model]" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_the_extras_are_those_of_the_project_file() -> None:
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    listed = {
        package.partition(">=")[0]: extra
        for extra, packages in extras.items()
        if extra not in ("all", "dev")
        for package in packages
        if not package.startswith("transduce[")  # an extra in an extra
    }
    assert listed == module._EXTRAS


def test_the_log_goes_to_what_is_standard_error_when_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers, level = logger.handlers, logger.level
    try:
        run_cli("recipes")  # attaches the handler
        later = io.StringIO()
        monkeypatch.setattr(sys, "stderr", later)
        logger.warning("%s is odd", "this")
        logger.info("plain")
    finally:
        logger.handlers, logger.level = handlers, level
    assert later.getvalue() == "warning: this is odd\nplain\n"
