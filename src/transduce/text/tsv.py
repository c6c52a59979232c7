"""TSV: one pair a line, source TAB target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.base.log import plural
from transduce.text.segments import SentencePair

__all__ = ["read_tsv"]


def read_tsv(path: Path) -> Iterator[SentencePair]:
    """Yield the first two columns of a TSV file as source and target.

    There is no header line and no quoting: a quotation mark is a quotation mark. Further columns (scores, names of
    authors) are allowed and not read, but each line must have as many as the first: a TAB inside a sentence would
    otherwise cut it without a word.

    Raises:
        DataError: A line has fewer than two columns, or another number than the first line has.
    """
    n_columns = 0
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise DataError(f"{path}, line {number}: 1 column, and 2 are needed: source, a TAB, target")
        n_columns = n_columns or len(columns)
        if len(columns) != n_columns:
            raise DataError(
                f"{path}, line {number}: {plural(len(columns), 'column')}, and line 1 has {n_columns}; "
                f"take out the TAB inside a sentence, or give every line the same columns"
            )
        yield SentencePair(columns[0], columns[1])
