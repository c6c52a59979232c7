"""The parts of the Wall Street Journal treebank by the numbers of its files: sections 02-21 to train on, 22, 23, and others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import check_readable, read_lines
from transduce.base.log import plural
from transduce.text.trees import Tree, read_trees

__all__ = ["SectionFiles", "find_sections", "parse_sections", "read_sections"]

_RANGE = re.compile(r"(\d\d|\d{4})(?:-(\d\d|\d{4}))?")
_FILE = re.compile(r"wsj_(\d{4})")
_PACKED = (".gz", ".zst")


def parse_sections(text: str) -> list[range]:
    """Return the file numbers that a choice of sections means.

    Two digits are a section, which is the hundred files of that number; four digits are one file. A dash joins the ends of a
    range, both of them included, and commas join several.

    Args:
        text: Such as ``02-21``, ``22``, ``0001-0169`` or ``00,01,24``.

    Raises:
        DataError: The text is something else, or a range ends before it begins.

    >>> parse_sections("02-21"), parse_sections("0170-0184, 23")
    ([range(200, 2200)], [range(170, 185), range(2300, 2400)])
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise DataError(
                f"'{part.strip()}' names no sections: write two digits for a section (23), four for a file (0185), "
                f"a dash for a range (02-21), and commas between several"
            )
        numbers = range(_first_file(match[1]), _end(match[2] or match[1]))
        if not numbers:
            raise DataError(f"the sections {part.strip()} end before they begin; write the lower number first")
        ranges.append(numbers)
    return ranges


def _first_file(number: str) -> int:
    return int(number) * (100 if len(number) == 2 else 1)


def _end(number: str) -> int:
    return _first_file(number) + (100 if len(number) == 2 else 1)


@dataclass(frozen=True)
class SectionFiles:
    """Where the trees of some sections stand."""

    paths: tuple[Path, ...]
    """The files to read: those of the sections, or one file of trees and its index."""
    sections: str
    """Which sections, as :func:`parse_sections` reads it."""
    has_index: bool
    """True: the second path is the index of the first."""

    def read(self) -> Iterator[Tree]:
        """Yield the trees of the sections, in the order of the files.

        Raises:
            DataError: A file is wrong, or has no tree of these sections (when the reader gets there).
        """
        if self.has_index:
            trees, index = self.paths
            return _read_indexed(trees, index, self.sections)
        return (tree for path in self.paths for tree in read_trees(path))

    def missing(self) -> list[str]:
        """Return the sections that were chosen as a whole and of which there is nothing, as two digits each."""
        names = read_lines(self.paths[1]) if self.has_index else (path.name for path in self.paths)
        there = {int(match[1]) // 100 for match in map(_FILE.match, names) if match is not None}
        wanted = {
            section
            for numbers in parse_sections(self.sections)
            for section in range(-(-numbers.start // 100), numbers.stop // 100)
        }
        return [f"{section:02d}" for section in sorted(wanted - there)]


def find_sections(path: Path, sections: str) -> SectionFiles:
    """Find some sections of the Wall Street Journal.

    Args:
        path: The directory of the treebank, whose files are named ``wsj_NNNN.mrg`` at any depth below it; or one file with
            all trees, ``NAME.trees``, beside which ``NAME.index`` has for each tree the name of the file it came from, as
            the first word of a line. ``.gz`` and ``.zst`` are read too.
        sections: As :func:`parse_sections` reads it.

    Raises:
        DataError: There are no such files, or the choice of sections is none.
    """
    wanted = parse_sections(sections)
    if path.is_dir():
        return SectionFiles(tuple(_files(path, sections, wanted)), sections, has_index=False)
    check_readable(path)
    index = _index_of(path)
    check_readable(index)
    return SectionFiles((path, index), sections, has_index=True)


def read_sections(path: Path, sections: str) -> Iterator[Tree]:
    """Yield the trees of some sections: what :func:`find_sections` finds, read at once.

    Raises:
        DataError: As :func:`find_sections`, and as :meth:`SectionFiles.read`.
    """
    return find_sections(path, sections).read()


def _files(directory: Path, sections: str, wanted: Sequence[range]) -> list[Path]:
    found = [path for path in sorted(directory.rglob("wsj_[0-9]*")) if path.is_file()]
    chosen = [path for path in found if _is_wanted(path.name, wanted)]
    if not chosen:
        raise DataError(
            f"{directory}: no file of sections {sections} among {plural(len(found), 'file')} named wsj_NNNN; "
            f"give the directory that holds the treebank, for example parsed/mrg/wsj"
        )
    counts = Counter(path.name[: len("wsj_NNNN")] for path in chosen)
    twice = next((path for path in chosen if counts[path.name[: len("wsj_NNNN")]] > 1), None)
    if twice is not None:
        raise DataError(f"{twice}: this file is there more than once below {directory}; give one copy of the treebank")
    return chosen


def _index_of(path: Path) -> Path:
    """Return the index that belongs to a file of trees."""
    packed = path.suffix if path.suffix in _PACKED else ""
    name = path.name.removesuffix(packed)
    if not name.endswith(".trees"):
        raise DataError(
            f"{path}: sections can be chosen in a directory of wsj_NNNN.mrg files, or in a file NAME.trees with NAME.index "
            f"beside it; take away the choice of sections to read the whole file"
        )
    return path.with_name(f"{name.removesuffix('.trees')}.index{packed}")


def _read_indexed(path: Path, index: Path, sections: str) -> Iterator[Tree]:
    wanted = parse_sections(sections)
    names = read_lines(index)
    n_chosen = n_trees = 0
    for tree in read_trees(path):
        n_trees += 1
        name = next(names, None)
        if name is None:
            raise DataError(
                f"{index}: {plural(n_trees - 1, 'line')}, and {path} has more trees; they must have as many"
            )
        if _is_wanted(name, wanted):
            n_chosen += 1
            yield tree
    if next(names, None) is not None:
        raise DataError(f"{index}: more lines than the {plural(n_trees, 'tree')} of {path}; they must have as many")
    if not n_chosen:
        raise DataError(f"{path}: no tree of sections {sections}, as far as {index} tells")


def _is_wanted(name: str, wanted: Sequence[range]) -> bool:
    match = _FILE.match(name)
    return match is not None and any(int(match[1]) in numbers for numbers in wanted)
