"""Pairs to learn parsing from: each tree of a treebank as the sentence that it stands over, and itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import STDIN, check_readable
from transduce.data.inputs import InputVersion, file_version
from transduce.text.parses import tree_pair
from transduce.text.sections import SectionFiles, find_sections
from transduce.text.segments import SentencePair
from transduce.text.treebank import clean_tree
from transduce.text.trees import Tree, read_trees

__all__ = ["Treebank"]


@dataclass(frozen=True)
class Treebank:
    """Trees in Penn brackets: one file, or some sections of the Wall Street Journal."""

    path: Path
    sections: str = ""
    """Such as ``02-21``; empty: all trees of the file."""

    @classmethod
    def from_name(cls, name: str) -> Treebank:
        """Read what a setting says: a path, behind which ``#`` and sections may stand.

        >>> Treebank.from_name("treebank/wsj#02-21").sections, Treebank.from_name("a#b.mrg").sections
        ('02-21', '')
        """
        path, mark, sections = name.rpartition("#")
        if not mark or not re.sub("[-, ]", "", sections).isdigit():
            return cls(Path(name))
        return cls(Path(path), sections)

    @property
    def name(self) -> str:
        """What the setting says."""
        if self.path == STDIN:
            return "standard input"
        return f"{self.path}#{self.sections}" if self.sections else str(self.path)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are read."""
        return self._files().paths if self.sections else (self.path,)

    def check(self) -> None:
        """Make sure that the trees can be read, and that there is something of every section."""
        if self.sections:
            missing = self._files().missing()
            if missing:
                raise DataError(
                    f"{self.name}: there is nothing of section {', '.join(missing)}; complete the treebank, or choose the "
                    f"sections that are there"
                )
        else:
            check_readable(self.path)

    def versions(self) -> tuple[InputVersion, ...]:
        """Return the versions of all files that are read."""
        return tuple(file_version(path) for path in self.paths)

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        """Yield for each tree its sentence, words parted by spaces, and the clean tree in brackets.

        Args:
            skipped: Counts trees that have nothing but traces.
        """
        for tree in self._trees():
            clean = clean_tree(tree)
            if clean is None:
                skipped["nothing but traces"] += 1
            else:
                yield tree_pair(clean)

    def _trees(self) -> Iterator[Tree]:
        return self._files().read() if self.sections else read_trees(self.path)

    def _files(self) -> SectionFiles:
        return find_sections(self.path, self.sections)
