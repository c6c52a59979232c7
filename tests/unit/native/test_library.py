"""Finding the library: the one that is built in, another that the environment names, or one sentence that says why none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from transduce.base.errors import NativeUnavailableError
from transduce.native import library, model
from transduce.native.library import LIBRARY_VARIABLE, find_library, library_sha256, load_library
from transduce.pipeline.doctor import examine


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test load afresh, and without what the environment says."""
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    clear()
    yield
    clear()


def clear() -> None:
    for cached in (load_library, library_sha256, model._library, model.instruction_sets):
        cached.cache_clear()


def test_the_environment_may_name_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "libother.so"
    other.touch()
    monkeypatch.setenv(LIBRARY_VARIABLE, str(other))
    assert find_library() == other
    other.unlink()
    with pytest.raises(NativeUnavailableError, match=r"libother\.so: no such library; .* TRANSDUCE_NATIVE_LIBRARY"):
        find_library()


def test_its_sum_is_of_its_bytes() -> None:
    path = find_library()
    if path is None:
        pytest.skip("the native engine is not built: there is no C++ compiler")
    assert library_sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_missing_library_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "gone.so")
    assert find_library() is None
    with pytest.raises(NativeUnavailableError, match="was not built when transduce was installed; install") as caught:
        load_library()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("raw", [b"", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xb7\x00" + bytes(44), b"text"])
def test_a_library_for_another_machine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    wrong = tmp_path / "libtransduce.so"
    wrong.write_bytes(raw)
    monkeypatch.setattr(library, "LIBRARY", wrong)
    with pytest.raises(
        NativeUnavailableError, match=r"libtransduce\.so: cannot be loaded on this machine, \w+ "
    ) as caught:
        load_library()
    assert "\n" not in str(caught.value)
    assert str(caught.value).count(str(wrong)) == 1


def test_doctor_says_that_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "gone.so")
    assert examine()["native engine"].startswith("no: the native engine was not built when transduce was installed; ")


def test_doctor_says_what_the_library_runs_with() -> None:
    if find_library() is None:
        pytest.skip("the native engine is not built: there is no C++ compiler")
    assert re.fullmatch(r"yes, with (\w+, else )*base", examine()["native engine"])
