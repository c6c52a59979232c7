from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from transduce.base import cache
from transduce.base.cache import CACHE_VARIABLE, cache_directory, has_sha256


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert cache_directory() == tmp_path
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert cache_directory() is None
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "transduce"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory() == Path.home() / ".cache" / "transduce"


@pytest.mark.parametrize("size", [10, 5_000_000])
def test_a_sum_is_checked_again_as_soon_as_the_file_is_touched(
    size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "weights"
    file.write_bytes(b"a" * size)
    right = hashlib.sha256(b"a" * size).hexdigest()
    assert not has_sha256(file, "0" * 64)
    assert has_sha256(file, right)
    if size > 1_000_000:  # and now the file is not read again
        with monkeypatch.context() as patch:
            patch.setattr(cache, "sha256_file", lambda path: pytest.fail(f"{path} was read"))
            assert has_sha256(file, right)
    with file.open("r+b") as stream:  # the same size, other bytes
        stream.write(b"b")
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))  # a clock may be too coarse for a test this quick
    assert not has_sha256(file, right)


def test_a_cache_that_cannot_be_written_does_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    file = tmp_path / "weights"
    file.write_bytes(b"a" * 5_000_000)
    assert has_sha256(file, hashlib.sha256(b"a" * 5_000_000).hexdigest())
