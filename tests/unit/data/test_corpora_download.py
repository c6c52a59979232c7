from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.file_server import Asked, FileServer, Manners, serve
from tests.unit.data.archives import pack
from transduce.base.errors import DataError
from transduce.data.corpora.catalog import Download
from transduce.data.corpora.download import fetch

CONTENT = bytes(range(256)) * 1200  # 300 KiB: more than one chunk
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PINNED = Download("short.bin", "https://nowhere.invalid/a/long-name.bin", SHA256)
UNPINNED = replace(PINNED, sha256=None)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "*")
    root = tmp_path / "served"
    root.mkdir()
    (root / "long-name.bin").write_bytes(CONTENT)
    with serve(root) as running:
        yield running


class Seen:
    """Notes what it is told, and presses Ctrl-C when that many bytes are there."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.calls: list[tuple[str, int, int | None]] = []
        self._interrupt_at = interrupt_at

    def __call__(self, name: str, n_bytes: int, total: int | None) -> None:
        self.calls.append((name, n_bytes, total))
        if self._interrupt_at is not None and n_bytes >= self._interrupt_at:
            raise KeyboardInterrupt


def get(server: FileServer, folder: Path, download: Download = PINNED, seen: Seen | None = None) -> Path:
    return fetch(download, folder, mirror=server.url, progress=seen or Seen())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_once(server: FileServer, tmp_path: Path) -> None:
    seen = Seen()
    file = get(server, tmp_path / "to", seen=seen)
    assert file == tmp_path / "to" / "short.bin"
    assert file.read_bytes() == CONTENT
    assert names(tmp_path / "to") == ["short.bin"]
    assert seen.calls[-1] == ("short.bin", len(CONTENT), len(CONTENT))
    assert [n for _, n, _ in seen.calls] == sorted({n for _, n, _ in seen.calls})
    again = Seen()
    get(server, tmp_path / "to", seen=again)
    assert server.asked == [Asked("long-name.bin", 0)]
    assert again.calls == []


def test_only_the_missing_bytes_are_asked_for(server: FileServer, tmp_path: Path) -> None:
    server.manners = Manners(breaks_off_after=100_000)
    with pytest.raises(DataError, match=r"the connection broke off at 100,000 of 307,200 bytes; call again"):
        get(server, tmp_path)
    assert (tmp_path / "short.bin.partial").read_bytes() == CONTENT[:100_000]
    server.manners = Manners()
    seen = Seen()
    assert get(server, tmp_path, seen=seen).read_bytes() == CONTENT
    assert server.asked == [Asked("long-name.bin", 0), Asked("long-name.bin", 100_000)]
    assert server.n_bytes_sent == len(CONTENT)
    assert all(n > 100_000 and total == len(CONTENT) for _, n, total in seen.calls)
    assert "short.bin.partial" not in names(tmp_path)


def test_an_interrupt_leaves_what_is_there(server: FileServer, tmp_path: Path) -> None:
    server.manners = Manners(stalls_after=150_000)
    with pytest.raises(KeyboardInterrupt):
        get(server, tmp_path, seen=Seen(interrupt_at=150_000))
    assert (tmp_path / "short.bin.partial").read_bytes() == CONTENT[:150_000]
    server.manners = Manners()
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.asked[-1] == Asked("long-name.bin", 150_000)


def test_a_server_may_leave_the_connection_open(server: FileServer, tmp_path: Path) -> None:
    """Else the last read would wait for the time-out."""
    server.manners = Manners(stalls_after=len(CONTENT))
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_server_without_ranges_starts_again(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "short.bin.partial").write_bytes(CONTENT[:1000])
    server.manners = Manners(ranges=False)
    seen = Seen()
    assert get(server, tmp_path, seen=seen).read_bytes() == CONTENT
    assert server.asked == [Asked("long-name.bin", 1000)]
    assert all(total == len(CONTENT) for _, _, total in seen.calls)


def test_without_a_length_the_checksum_decides(server: FileServer, tmp_path: Path) -> None:
    server.manners = Manners(length=False)
    seen = Seen()
    assert get(server, tmp_path / "whole", seen=seen).read_bytes() == CONTENT
    assert seen.calls[-1] == ("short.bin", len(CONTENT), len(CONTENT))
    server.manners = Manners(length=False, breaks_off_after=1000)
    with pytest.raises(DataError, match="not the file that is expected"):
        get(server, tmp_path / "half")


def test_a_partial_file_may_be_complete(server: FileServer, tmp_path: Path) -> None:
    """A process may be killed between the last byte and the checksum."""
    (tmp_path / "short.bin.partial").write_bytes(CONTENT)
    seen = Seen()
    assert get(server, tmp_path, seen=seen).read_bytes() == CONTENT
    assert server.asked == [Asked("long-name.bin", len(CONTENT))]
    assert seen.calls == [("short.bin", len(CONTENT), len(CONTENT))]


def test_a_partial_file_that_is_too_long_is_fetched_anew(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "short.bin.partial").write_bytes(CONTENT + b"more")
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert [asked.start for asked in server.asked] == [len(CONTENT) + 4, 0]


def test_wrong_bytes_are_refused_and_removed(server: FileServer, tmp_path: Path) -> None:
    server.manners = Manners(sends=b"other")
    found = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(DataError) as caught:
        get(server, tmp_path)
    assert str(caught.value) == (
        f"{server.url}/long-name.bin: this is not the file that is expected (SHA-256 {found[:16]}..., should be "
        f"{SHA256[:16]}...), and it was removed; try again, or use --from with a good copy"
    )
    assert names(tmp_path) == ["served"]
    server.manners = Manners()
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_wrong_start_is_found_by_the_checksum(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "short.bin.partial").write_bytes(b"not the beginning of it")
    with pytest.raises(DataError, match="not the file that is expected"):
        get(server, tmp_path)
    assert get(server, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("download", [PINNED, UNPINNED])
def test_a_web_page_does_not_spoil_what_is_there(server: FileServer, tmp_path: Path, download: Download) -> None:
    (tmp_path / "short.bin.partial").write_bytes(CONTENT[:1000])
    server.manners = Manners(ranges=False, sends=b"<html>Please log in</html>", content_type="text/html; charset=utf-8")
    with pytest.raises(DataError, match="the server answers with a web page, not with the file"):
        get(server, tmp_path, download)
    assert (tmp_path / "short.bin.partial").read_bytes() == CONTENT[:1000]


def test_another_range_than_was_asked_for(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "short.bin.partial").write_bytes(CONTENT[:1000])
    server.manners = Manners(wrong_range=True)
    with pytest.raises(DataError, match="the server sends 'bytes 1001-307199/307200' where bytes from 1000 on"):
        get(server, tmp_path)
    assert (tmp_path / "short.bin.partial").read_bytes() == CONTENT[:1000]


@pytest.mark.parametrize(("status", "words"), [(404, "404 Not Found"), (503, "503 Service Unavailable"), (416, "416 ")])
def test_error_codes(server: FileServer, tmp_path: Path, status: int, words: str) -> None:
    server.manners = Manners(status=status)
    with pytest.raises(DataError, match=rf"long-name\.bin: the server answers {words}.*; use --from with a mirror"):
        get(server, tmp_path)


def test_no_server(tmp_path: Path) -> None:
    with serve(tmp_path) as gone:
        pass
    with pytest.raises(DataError, match=r"cannot be fetched \(.*refused.*\); call again to go on, or use --from"):
        get(gone, tmp_path)


@pytest.mark.parametrize("address", ["http://", "http://no such host", "http://a..b", "http://x:port"])
def test_impossible_addresses(tmp_path: Path, address: str) -> None:
    with pytest.raises(DataError, match="cannot be fetched"):
        fetch(PINNED, tmp_path, mirror=address, progress=Seen())


def test_a_damaged_copy_is_fetched_again(server: FileServer, tmp_path: Path) -> None:
    for download in (PINNED, UNPINNED):
        file = get(server, tmp_path, download)
        file.write_bytes(CONTENT[:-1])
        assert get(server, tmp_path, download).read_bytes() == CONTENT


def test_a_file_without_a_known_checksum(server: FileServer, tmp_path: Path) -> None:
    get(server, tmp_path, UNPINNED)
    assert (tmp_path / "short.bin.sha256").read_text(encoding="utf-8") == f"{SHA256}\n"
    get(server, tmp_path, UNPINNED)
    assert len(server.asked) == 1
    # A bad first download must not bind the second one.
    (tmp_path / "short.bin").unlink()
    (tmp_path / "short.bin.sha256").write_text("0" * 64)
    assert get(server, tmp_path, UNPINNED).read_bytes() == CONTENT
    get(server, tmp_path, UNPINNED)
    assert len(server.asked) == 2


def _half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _nothing(_content: bytes) -> bytes:
    return b""


def _other(_content: bytes) -> bytes:
    return b"<html>"


def _damaged(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 0xFF for byte in content[middle : middle + 64]) + content[middle + 64 :]


@pytest.mark.parametrize("spoil", [_half, _nothing, _other, _damaged])
@pytest.mark.parametrize("name", ["x.tgz", "x.tar", "x.gz"])
def test_an_archive_without_a_known_checksum_must_be_whole(
    server: FileServer, tmp_path: Path, name: str, spoil: Callable[[bytes], bytes]
) -> None:
    text = "".join(f"{number * 7919 % 10007}\n" for number in range(9000)).encode()
    if name == "x.gz":
        (server.root / name).write_bytes(gzip.compress(text))
    else:  # the .tar is like the only one of that kind in the catalogue: its texts are packed, and checked when read
        pack(server.root / name, {"a.gz": gzip.compress(text)})
    download = Download(name, f"https://nowhere.invalid/{name}")
    whole = (server.root / name).read_bytes()
    server.manners = Manners(sends=spoil(whole))
    if name == "x.tar" and spoil is _damaged:
        assert get(server, tmp_path, download).is_file()
        return
    with pytest.raises(
        DataError, match=rf"/{name}: the file is damaged or not complete, and it was removed; try again"
    ):
        get(server, tmp_path, download)
    assert names(tmp_path) == ["served"]
    server.manners = Manners()
    assert get(server, tmp_path, download).read_bytes() == whole


@pytest.mark.parametrize("name", ["long-name.bin", "short.bin"])
def test_a_directory_as_mirror(tmp_path: Path, name: str) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / name).write_bytes(CONTENT)
    seen = Seen()
    file = fetch(PINNED, tmp_path / "to", mirror=str(mirror), progress=seen)
    assert file.read_bytes() == CONTENT
    assert seen.calls[-1] == ("short.bin", len(CONTENT), len(CONTENT))
    assert names(mirror) == [name]


def test_a_poor_directory_as_mirror(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"/none: no such directory; --from takes a directory, or an address"):
        fetch(PINNED, tmp_path / "to", mirror=str(tmp_path / "none"), progress=Seen())
    with pytest.raises(DataError, match=r"there is no long-name\.bin in this directory \(--from\), and it is needed"):
        fetch(PINNED, tmp_path / "to", mirror=str(tmp_path), progress=Seen())
    (tmp_path / "short.bin").write_bytes(b"other")
    with pytest.raises(DataError, match=r"short\.bin: this is not the file that is expected"):
        fetch(PINNED, tmp_path / "to", mirror=str(tmp_path), progress=Seen())
    assert (tmp_path / "short.bin").read_bytes() == b"other"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "short.bin.partial").symlink_to("/dev/full")
    with pytest.raises(DataError) as caught:
        get(server, tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/short.bin.partial: cannot be written ({os.strerror(28)}); "
        "mend that, and the same command goes on from there"
    )
