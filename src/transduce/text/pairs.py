"""Sentence pairs from files: two plain files in step, or one file that holds both sides, of the kind its suffix says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import STDIN, check_readable, read_lines
from transduce.base.log import plural
from transduce.text.jsonl import parse_jsonl
from transduce.text.po import read_mo, read_po
from transduce.text.segments import SentencePair
from transduce.text.tmx import read_tmx
from transduce.text.tsv import parse_tsv
from transduce.text.xliff import read_xliff

__all__ = ["PAIR_SUFFIXES", "SentencePair", "check_pairs_file", "is_pairs_file", "read_pairs", "read_parallel"]

PAIR_SUFFIXES = (".tsv", ".jsonl", ".tmx", ".xlf", ".xliff", ".po", ".mo")
"""Suffixes of the files that hold both sides. Each may be followed by ``.gz`` or ``.zst``."""

_PACKED = (".gz", ".zst")


def read_parallel(src: Path, tgt: Path) -> Iterator[SentencePair]:
    """Yield line ``i`` of one plain text file with line ``i`` of another.

    Args:
        src: The source side, one sentence a line; ``.gz``, ``.zst`` or ``-`` for standard input too.
        tgt: The target side.

    Raises:
        DataError: One of the files cannot be read (at the call), or they differ in their number of lines (at the end).
    """
    if src == tgt == STDIN:
        raise DataError("-: both sides are standard input; give a file for one of them")
    check_readable(src)
    check_readable(tgt)
    return _in_step(src, tgt)


def _in_step(src: Path, tgt: Path) -> Iterator[SentencePair]:
    src_lines, tgt_lines = read_lines(src), read_lines(tgt)
    n_pairs = 0
    for src_line, tgt_line in zip_longest(src_lines, tgt_lines):
        if src_line is None or tgt_line is None:
            break
        n_pairs += 1
        yield SentencePair(src_line, tgt_line)
    else:
        return
    n_src = n_pairs + (src_line is not None) + sum(1 for _ in src_lines)
    n_tgt = n_pairs + (tgt_line is not None) + sum(1 for _ in tgt_lines)
    raise DataError(
        f"{src} has {plural(n_src, 'line')} and {tgt} has {plural(n_tgt, 'line')}: parallel files must have as many; "
        f"find the line that is missing on one side, since every pair after it may be wrong"
    )


def read_pairs(path: Path, *, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    """Yield the pairs of a file that holds both sides. The suffix says how it is read; ``.gz`` and ``.zst`` below it too.

    Standard input has no suffix: it is JSONL when the first character that is not white space is ``{``, else TSV. A line
    break inside a segment becomes a space: a pair is one line on each side.

    Args:
        path: The file, or ``-`` for standard input.
        src_lang: Source language, for formats that name their languages.
        tgt_lang: Target language.
        skipped: Counts by reason the segments that are no pairs to learn from: fuzzy or untranslated ones, and those in
            other languages. It grows while the pairs are read.

    Raises:
        DataError: The file cannot be read or is of an unknown kind (at the call), or its content is wrong.
        MissingExtraError: The file needs a package that is not installed (at the call).
    """
    check_pairs_file(path)
    if path == STDIN:
        return _read_stdin(src_lang, tgt_lang)
    match _pair_suffix(path):
        case ".tsv":
            return parse_tsv(read_lines(path), str(path))
        case ".jsonl":
            return parse_jsonl(read_lines(path), str(path), src_lang=src_lang, tgt_lang=tgt_lang)
        case ".tmx":
            return read_tmx(path, src_lang=src_lang, tgt_lang=tgt_lang, skipped=skipped)
        case ".po":
            return read_po(path, src_lang=src_lang, tgt_lang=tgt_lang, skipped=skipped)
        case ".mo":
            return read_mo(path, src_lang=src_lang, tgt_lang=tgt_lang, skipped=skipped)
        case _:
            return read_xliff(path, src_lang=src_lang, tgt_lang=tgt_lang, skipped=skipped)


def check_pairs_file(path: Path) -> None:
    """Make sure that :func:`read_pairs` can start on a file: it is there, of a known kind, and its packages are too.

    Call it for every input before the first is read.

    Raises:
        DataError: The file cannot be read or is of an unknown kind.
        MissingExtraError: The file needs a package that is not installed.
    """
    if path == STDIN:
        return
    suffix = _pair_suffix(path)
    check_readable(path)
    if path.suffix == ".zst":
        require("zstandard", extra="formats", purpose="Reading .zst files")
    if suffix in (".tmx", ".xlf", ".xliff"):
        require("lxml.etree", extra="formats", purpose="Reading TMX and XLIFF files")
    if suffix in (".po", ".mo"):
        require("polib", extra="formats", purpose="Reading PO and MO files")


def is_pairs_file(name: str) -> bool:
    """Tell whether a file of this name holds both sides, as far as its suffix says; so does standard input (``-``).

    >>> is_pairs_file("memory.tmx.gz"), is_pairs_file("my.en"), is_pairs_file("-")
    (True, False, True)
    """
    path = Path(name)
    inner = path.with_suffix("") if path.suffix in _PACKED else path
    return path == STDIN or inner.suffix.lower() in PAIR_SUFFIXES


def _read_stdin(src_lang: str, tgt_lang: str) -> Iterator[SentencePair]:
    """Yield the pairs of standard input, of the kind that its first line with something in it looks like."""
    lines = read_lines(STDIN)
    head = []
    for line in lines:
        head.append(line)
        if line and not line.isspace():
            break
    everything = chain(head, lines)
    if head and head[-1].lstrip().startswith("{"):
        yield from parse_jsonl(everything, "standard input", src_lang=src_lang, tgt_lang=tgt_lang)
    else:
        yield from parse_tsv(everything, "standard input")


def _pair_suffix(path: Path) -> str:
    suffix = (path.with_suffix("") if path.suffix in _PACKED else path).suffix.lower()
    if suffix not in PAIR_SUFFIXES:
        raise DataError(
            f"{path}: unknown kind of file ('{suffix}'); files that hold both sides are {', '.join(PAIR_SUFFIXES)}, each "
            f"also with .gz or .zst, and - for JSONL or TSV on standard input; give two plain text files as one file a side, "
            f"for example train_src and train_tgt"
        )
    return suffix
