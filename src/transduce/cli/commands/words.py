"""``transduce words``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["words_command"]


def words_command(
    file: Annotated[
        Path, typer.Argument(help="English sentences, one a line; not given, standard input.", readable=False)
    ] = Path("-"),
) -> None:
    """Part plain English sentences into words as treebanks have them, for a model that parses."""
    from transduce.base.files import read_lines
    from transduce.text.penn_words import WordSplitter

    splitter = WordSplitter()
    for line in read_lines(file):
        sys.stdout.write(" ".join(splitter.split(line)) + "\n")
