from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.pipeline import partial as partial_module
from transduce.pipeline.partial import partial_output

LINES = [f"line {number}" for number in range(10)]
MADE_BY = {"bundle": "abc", "decode.beam_size": 4}


class StoppedError(Exception):
    """What ends the writing in the middle."""


def write(
    output: Path,
    *,
    resume: bool = False,
    stop_after: int | None = None,
    lines: list[str] = LINES,
    made_by: dict[str, object] = MADE_BY,
    error: type[BaseException] = StoppedError,
) -> int:
    """Write lines in capitals, three at a time, and return how many of them were written before."""
    stream: Iterator[str] = iter(lines)
    with partial_output(output, stream, made_by=made_by, resume=resume) as partial:
        before = partial.n_lines
        while window := list(itertools.islice(stream, 3)):
            if stop_after is not None and partial.n_lines >= stop_after:
                raise error
            partial.write(window, "".join(f"{line.upper()}\n" for line in window))
    return before


def stop(output: Path, after: int) -> None:
    with pytest.raises(StoppedError):
        write(output, stop_after=after)


def part(output: Path) -> Path:
    return output.with_name(f"{output.name}.part")


def test_a_whole_run_leaves_the_output_alone(tmp_path: Path) -> None:
    assert write(tmp_path / "new" / "out.txt") == 0
    assert (tmp_path / "new" / "out.txt").read_text() == "".join(f"{line.upper()}\n" for line in LINES)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out.txt"]


@pytest.mark.parametrize("after", [3, 6, 9])
@pytest.mark.parametrize("tail", [b"", b"LINE 6\nhalf a li", b"\xc3"])
def test_resumed_is_uninterrupted(tmp_path: Path, after: int, tail: bytes) -> None:
    """Also when a kill has left more than the record knows of: whole lines, half a line, half a character."""
    write(tmp_path / "whole")
    stop(tmp_path / "out", after)
    with part(tmp_path / "out").open("ab") as stream:
        stream.write(tail)
    assert write(tmp_path / "out", resume=True) == after
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_a_part_of_many_chunks_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_module, "_CHUNK_BYTES", 5)  # 42 bytes are written: no whole number of chunks
    stop(tmp_path / "out", 6)
    with part(tmp_path / "out").open("ab") as stream:
        stream.write(b"half a li")
    assert write(tmp_path / "out", resume=True) == 6
    assert (tmp_path / "out").read_text() == "".join(f"{line.upper()}\n" for line in LINES)


def test_the_translations_are_on_the_disk_before_the_record_tells_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk = [0]
    sync = os.fsync

    def note(handle: int) -> None:
        sync(handle)
        if part(tmp_path / "out").exists() and os.path.samestat(os.fstat(handle), part(tmp_path / "out").stat()):
            assert told() == on_disk[-1], "the record is still the one before"
            on_disk.append(os.fstat(handle).st_size)

    def told() -> int:
        n_bytes: int = json.loads((tmp_path / "out.part.json").read_text())["n_bytes"]
        return n_bytes

    monkeypatch.setattr(os, "fsync", note)
    stop(tmp_path / "out", 9)
    assert on_disk == [0, 21, 42, 63]  # three lines of 7 bytes at a time
    assert told() == 63


def test_without_resume_a_part_is_replaced(tmp_path: Path) -> None:
    stop(tmp_path / "out", 6)
    assert write(tmp_path / "out") == 0
    assert (tmp_path / "out").read_text().count("\n") == 10


def test_resume_with_nothing_there_begins(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("an older one")
    assert write(tmp_path / "out", resume=True) == 0
    assert (tmp_path / "out").read_text().count("\n") == 10


def test_an_old_output_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("an older one")
    stop(tmp_path / "out", 3)
    assert (tmp_path / "out").read_text() == "an older one"


def test_an_error_before_the_first_window_leaves_nothing(tmp_path: Path) -> None:
    stop(tmp_path / "out", 0)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_says_what_is_kept(tmp_path: Path) -> None:
    with pytest.raises(
        KeyboardInterrupt, match=r"^interrupted: the first 3 lines are kept in .*out\.part, and --resume"
    ):
        write(tmp_path / "out", stop_after=3, error=KeyboardInterrupt)


def test_lines_added_behind_do_not_matter(tmp_path: Path) -> None:
    stop(tmp_path / "out", 6)
    assert write(tmp_path / "out", resume=True, lines=[*LINES[:8], "another"]) == 6
    assert (tmp_path / "out").read_text().endswith("LINE 7\nANOTHER\n")


@pytest.mark.parametrize(
    ("lines", "made_by", "message"),
    [
        (["other", *LINES[1:]], MADE_BY, "the first 6 lines of the input were others"),
        (LINES[:5], MADE_BY, "the input has fewer lines than the 6 translated so far"),
        (LINES, MADE_BY | {"bundle": "xyz"}, 'it was begun with bundle = "abc", and now that is "xyz"'),
        (LINES, MADE_BY | {"decode.beam_size": 1}, "it was begun with decode.beam_size = 4, and now that is 1"),
        (LINES, MADE_BY | {"more": True}, "it was begun with more = null, and now that is true"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    tmp_path: Path, lines: list[str], made_by: dict[str, object], message: str
) -> None:
    stop(tmp_path / "out", 6)
    before = part(tmp_path / "out").read_bytes()
    with pytest.raises(DataError) as caught:
        write(tmp_path / "out", resume=True, lines=lines, made_by=made_by)
    assert f"out.part: cannot be gone on with: {message}; start again without --resume" in str(caught.value)
    assert part(tmp_path / "out").read_bytes() == before, "nothing is lost by asking"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"n_lines": "3"}), "-n_lines", "-n_bytes"])
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    stop(tmp_path / "out", 6)
    if text.startswith("-"):
        values = json.loads((tmp_path / "out.part.json").read_text())
        text = json.dumps(values | {text[1:]: -1})
    (tmp_path / "out.part.json").write_text(text)
    with pytest.raises(DataError, match=r"out\.part\.json (is damaged|cannot be read)"):
        write(tmp_path / "out", resume=True)


def test_changed_bytes_are_refused(tmp_path: Path) -> None:
    stop(tmp_path / "out", 6)
    part(tmp_path / "out").write_bytes(part(tmp_path / "out").read_bytes().replace(b"3", b"4"))
    with pytest.raises(DataError, match="its bytes are not those that were written"):
        write(tmp_path / "out", resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_two_at_a_time_are_refused(tmp_path: Path, resume: bool) -> None:
    out = tmp_path / "out"
    with partial_output(out, iter(LINES), made_by=MADE_BY, resume=False) as partial:
        partial.write(LINES[:3], "LINE 0\nLINE 1\nLINE 2\n")
        with pytest.raises(DataError, match=r"out: another process is writing this file; wait for it, or choose"):
            write(out, resume=resume)
        partial.write(LINES[3:], "the rest\n")
    assert out.read_text() == "LINE 0\nLINE 1\nLINE 2\nthe rest\n"
    assert write(out) == 0


@pytest.mark.parametrize("change", [b"", b"LINE 1\n" * 10, b"more" * 100])
def test_what_another_program_has_changed_gets_no_name(tmp_path: Path, change: bytes) -> None:
    out = tmp_path / "out"
    with (
        pytest.raises(DataError, match=r"out\.part: another program has changed this file while it was written"),
        partial_output(out, iter(LINES), made_by=MADE_BY, resume=False) as partial,
    ):
        partial.write(LINES, "LINE 0\n" * 10)
        part(out).write_bytes(change)
    assert not out.exists()


def test_a_full_disk_is_told_with_the_name_of_the_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    with (
        pytest.raises(OSError, match=r"No space left on device: '.*out\.part'"),
        partial_output(out, iter(LINES), made_by=MADE_BY, resume=False) as partial,
    ):
        partial.write(LINES[:3], "LINE\n" * 3)
        monkeypatch.setattr(os, "fsync", _refuse_as_full)
        partial.write(LINES[3:], "LINE\n" * 7)


def _refuse_as_full(handle: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "out")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "out").read_text().count("\n") == 10
