"""TSV: one pair a line, source TAB target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.text.segments import SentencePair

__all__ = ["parse_tsv"]


def parse_tsv(lines: Iterable[str], name: str) -> Iterator[SentencePair]:
    """Yield the first two columns of the lines of a TSV file as source and target.

    There is no header line and no quoting: a quotation mark is a quotation mark. Further columns (scores, names of
    authors) are allowed and not read, but each line must have as many as the first: a TAB inside a sentence would
    otherwise cut it without a word.

    Args:
        lines: The lines of the file.
        name: What messages call the file.

    Raises:
        DataError: A line has fewer than two columns, or another number than the first line has.
    """
    n_columns = 0
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise DataError(f"{name}, line {number}: 1 column, and 2 are needed: source, a TAB, target")
        n_columns = n_columns or len(columns)
        if len(columns) != n_columns:
            raise DataError(
                f"{name}, line {number}: {plural(len(columns), 'column')}, and line 1 has {n_columns}; "
                f"take out the TAB inside a sentence, or give every line the same columns"
            )
        yield SentencePair(columns[0], columns[1])
