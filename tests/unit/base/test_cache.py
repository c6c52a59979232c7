from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from transduce.base import cache
from transduce.base.cache import CACHE_VARIABLE, cache_directory, forget_old, has_sha256


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


def test_a_sum_is_checked_again_even_if_the_time_of_the_change_was_set_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a copy that keeps times does it (``cp -p`` onto the file)."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "weights"
    file.write_bytes(b"a" * 5_000_000)
    right, before = hashlib.sha256(b"a" * 5_000_000).hexdigest(), file.stat()
    assert has_sha256(file, right)
    with file.open("r+b") as stream:
        stream.write(b"b")
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # a clock may be coarse
        os.utime(file, ns=(0, 0))
    os.utime(file, ns=(0, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert not has_sha256(file, right)


def test_what_nobody_has_used_for_a_month_is_deleted(tmp_path: Path) -> None:
    names = ["a.packed", "a.stamp", ".c-x.part.packed", "d.packed", "d.stamp", "e.packed", "somebody-elses"]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - (20 if name in ("d.stamp", "e.packed") else 31) * 24 * 3600))
    (tmp_path / "directory.packed").mkdir()  # cannot be deleted as a file, and does no harm
    os.utime(tmp_path / "directory.packed", (0, 0))
    forget_old(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "d.packed",
        "d.stamp",
        "e.packed",
        "directory.packed",
        "somebody-elses",
    }
    forget_old(tmp_path / "missing")


def test_a_stamp_in_use_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "weights"
    file.write_bytes(b"a" * 5_000_000)
    right = hashlib.sha256(b"a" * 5_000_000).hexdigest()
    assert has_sha256(file, right)
    [stamp] = (tmp_path / "cache").iterdir()
    os.utime(stamp, (0, 0))
    assert has_sha256(file, right)
    forget_old(tmp_path / "cache")
    assert stamp.exists()


def test_a_cache_that_can_only_be_read_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "weights"
    file.write_bytes(b"a" * 5_000_000)
    right = hashlib.sha256(b"a" * 5_000_000).hexdigest()
    assert has_sha256(file, right)

    def refuse(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(cache, "sha256_file", lambda path: pytest.fail(f"{path} was read"))
    assert has_sha256(file, right)
