"""Files: one rule for line ends, whole or nothing, and messages that name file and line."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from transduce.base.errors import DataError
from transduce.base.files import (
    STDIN,
    atomic_directory,
    atomic_file,
    check_readable,
    check_writable_directory,
    check_writable_file,
    locked_directory,
    locked_file,
    read_lines,
    read_text,
    sha256_file,
)

TEXT = "one\ntwo\u2028two\u0085two\x0ctwo\r\n\n  spaces  \nÜmläut 猫 🐈"
LINES = ["one", "two\u2028two\u0085two\x0ctwo", "", "  spaces  ", "Ümläut 猫 🐈"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_lines_are_the_same_however_the_file_is_packed(tmp_path: Path, suffix: str) -> None:
    raw = TEXT.encode()
    packed = {"": raw, ".gz": gzip.compress(raw), ".zst": zstandard.compress(raw)}[suffix]
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(packed)
    assert list(read_lines(file)) == LINES


def test_stdin_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode()), encoding="latin-1"))
    assert list(read_lines(STDIN)) == LINES


@pytest.mark.parametrize(
    ("raw", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"\n", 1), (b"a\r\nb\r\n", 2)]
)
def test_the_last_newline_ends_a_line_and_starts_none(tmp_path: Path, raw: bytes, count: int) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(raw)
    assert len(list(read_lines(file))) == count


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), min_size=1))
def test_any_text_without_line_ends_comes_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    lines = ["first", *lines]
    file = tmp_path_factory.mktemp("lines") / "a.txt"
    file.write_bytes("".join(line + "\n" for line in lines).encode())
    assert list(read_lines(file)) == lines


def test_a_byte_order_mark_is_dropped_at_the_start_only(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffone\n\ufefftwo\n".encode())
    assert list(read_lines(file)) == ["one", "\ufefftwo"]


def test_a_whole_text_keeps_its_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\n\n two\rthree")
    assert read_text(tmp_path / "a") == "one\r\n\n two\rthree"
    (tmp_path / "a").write_bytes(b"one\nt\xe9\n")
    with pytest.raises(DataError, match="line 2: not UTF-8"):
        read_text(tmp_path / "a")


def test_bad_utf8_names_file_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"fine\nfine\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"a\.txt, line 3: not UTF-8 \(byte 0xe9 at column 4\)"):
        list(read_lines(file))


def test_bad_utf8_on_standard_input_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"fine\ncaf\xe9\n")))
    with pytest.raises(DataError, match=r"^standard input, line 2: not UTF-8"):
        list(read_lines(STDIN))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "not packed", "flipped"])
def test_damaged_packing_is_named(tmp_path: Path, suffix: str, damage: str) -> None:
    raw = os.urandom(4000).hex().encode()
    packed = gzip.compress(raw) if suffix == ".gz" else zstandard.ZstdCompressor(write_checksum=True).compress(raw)
    middle = len(packed) // 2
    bad = {
        "cut": packed[:-40],
        "not packed": b"plain text\n",
        "flipped": packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :],
    }[damage]
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(bad)
    with pytest.raises(DataError, match=r"a\.txt"):
        list(read_lines(file))


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        check_readable(tmp_path / "gone")
    with pytest.raises(DataError, match="this is a directory"):
        check_readable(tmp_path)


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for bad in (file, file / "below", Path("/proc/nowhere")):
        with pytest.raises(DataError, match="choose another --out"):
            check_writable_directory(bad)
        with pytest.raises(DataError, match="choose another place"):
            check_writable_file(bad / "a.txt")
    with pytest.raises(DataError, match="this is a directory, and a file is to be written"):
        check_writable_file(tmp_path)
    check_writable_directory(tmp_path / "new" / "deep")
    check_writable_file(tmp_path / "new" / "a.txt")
    check_writable_file(file)
    assert not (tmp_path / "new").exists() and file.read_text() == "x"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(file) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_directory_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "d"
    with atomic_directory(target) as temporary:
        (temporary / "x").write_text("old")
    with pytest.raises(RuntimeError), atomic_directory(target) as temporary:
        (temporary / "x").write_text("half")
        raise RuntimeError
    assert (target / "x").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "d"
    for name in ("x", "y"):
        with atomic_directory(target) as temporary:
            (temporary / name).write_text(name)
    assert [path.name for path in target.iterdir()] == ["y"]


@pytest.mark.parametrize("writing", [atomic_file, atomic_directory])
def test_the_names_of_new_directories_are_put_on_the_disk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writing: Callable[[Path], AbstractContextManager[Path]],
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("transduce.base.files._sync", synced.append)
    with writing(tmp_path / "a" / "b" / "out"):
        pass
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} <= set(synced)
    synced.clear()
    with writing(tmp_path / "a" / "b" / "out"):
        pass
    assert tmp_path not in synced  # it was there


def test_sha256_of_the_empty_file_is_the_known_one(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    assert sha256_file(file) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_writable_file(pipe)
        with atomic_file(pipe) as place:
            place.write_text("text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()  # as /dev/null is still a device after --output /dev/null
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_and_the_file_behind_it_is_written(tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "file.dat", tmp_path / "link.txt"
    file.parent.mkdir()
    for _ in range(2):  # a file that is not there yet, then one that is
        link.unlink(missing_ok=True)
        link.symlink_to(file)
        check_writable_file(link)
        with atomic_file(link) as temporary:
            assert temporary.suffix == ".txt"
            temporary.write_text("text")
        assert link.is_symlink()
        assert file.read_text() == "text"
        assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("writing", [atomic_file, atomic_directory])
def test_a_full_disk_is_reported_with_the_name_of_what_was_being_written(
    tmp_path: Path, writing: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    with pytest.raises(OSError, match="No space left") as caught, writing(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with locked_directory(tmp_path) as first, locked_directory(tmp_path) as second:
        assert (first, second) == (True, False)
    with locked_directory(tmp_path) as later:
        assert later


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with locked_file(tmp_path / "a") as first, locked_file(tmp_path / "a") as second:
        assert (first, second) == (True, False)
    with locked_file(tmp_path / "a") as later:
        assert later


def test_the_file_that_has_the_name_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the one that had it is renamed between its opening and its lock."""
    import fcntl

    lock = fcntl.flock

    def rename_first(handle: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        (tmp_path / "a").rename(tmp_path / "b")
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", rename_first)
    with locked_file(tmp_path / "a") as first, locked_file(tmp_path / "a") as second:
        assert (first, second) == (True, False)
    assert (tmp_path / "a").exists()
