"""Parses as pictures in files: one file for one sentence, or a directory with a file for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from transduce.base.errors import DataError
from transduce.base.files import atomic_directory, atomic_file, check_writable_directory, is_special, naming, read_lines
from transduce.pipeline.translate import TranslateJob, translate_windows
from transduce.text import is_blank

__all__ = ["check_picture_place", "draw_parses", "is_one_picture"]


def is_one_picture(output: Path) -> bool:
    """Tell whether a place is for one picture, and not for a directory of them.

    >>> is_one_picture(Path("out/dog.svg")), is_one_picture(Path("out/drawings"))
    (True, False)
    """
    return is_special(output) or (output.suffix.lower() == ".svg" and not output.is_dir())


def check_picture_place(output: Path) -> None:
    """Make sure that a directory for pictures is new or empty, since it is written as a whole.

    Raises:
        DataError: It is not, or it cannot be written.
    """
    check_writable_directory(output, advice="choose another --output")
    if output.is_dir() and any(output.iterdir()):
        raise DataError(f"{output}: holds files already; choose a new directory for the drawings")


def draw_parses(
    job: TranslateJob, output: Path | TextIO, *, progress: Callable[[int], None] = lambda n_lines: None
) -> None:
    """Parse the lines of a file, and write each parse as a picture.

    Args:
        job: What to parse; its form draws SVG.
        output: A file ``NAME.svg`` or a stream, where the input has one sentence; any other name is a new directory, which gets
            ``000001.svg`` for the first line and so on, and nothing for blank lines.
        progress: Told the number of lines done so far.

    Raises:
        TransduceError: As :func:`transduce.pipeline.translate.translate_windows`; the input cannot be read; or it has several
            sentences, or none, and there is room for one picture.
    """
    lines = read_lines(job.source)
    if isinstance(output, Path) and not is_one_picture(output):
        check_picture_place(output)
        with atomic_directory(output) as directory:
            for number, drawn in _drawn(job, lines, progress):
                (directory / f"{number:06}.svg").write_text(drawn, encoding="utf-8", newline="\n")
        return
    [(_, picture)] = _drawn(job, [_only_sentence(lines)], progress)
    if not isinstance(output, Path):
        output.write(picture)
        return
    with naming(output), atomic_file(output) as temporary:
        temporary.write_text(picture, encoding="utf-8", newline="\n")


def _drawn(job: TranslateJob, lines: Iterable[str], progress: Callable[[int], None]) -> Iterator[tuple[int, str]]:
    """Yield the number of each line that is not blank, and its picture."""
    for window in translate_windows(job, lines):
        first = window.n_lines - len(window.written) + 1
        yield from ((number, drawn) for number, drawn in enumerate(window.written, start=first) if drawn)
        progress(window.n_lines)


def _only_sentence(lines: Iterable[str]) -> str:
    sentences = (line for line in lines if not is_blank(line))
    first = next(sentences, None)
    if first is None:
        raise DataError("there is no sentence to draw the parse of")
    if next(sentences, None) is not None:
        raise DataError(
            "one SVG file holds one drawing, and the input has several sentences; give --output DIRECTORY for a file each"
        )
    return first
