"""From downloads to plain parallel files: ``train.en``, ``train.de`` and so on in a directory of the corpus."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import atomic_directory, check_writable_directory
from transduce.base.log import plural
from transduce.data.corpora.catalog import Corpus, Segment, find_corpus
from transduce.data.corpora.download import ProgressCallback, fetch
from transduce.data.corpora.lines import open_lines

__all__ = ["corpora_directory", "corpus_files", "get_corpus"]

_TEXT, _DOWNLOADS = "text", "downloads"


def corpora_directory() -> Path:
    """Return where fetched corpora lie: ``$TRANSDUCE_CORPORA``, or ``transduce/corpora`` in the user's cache directory."""
    if given := os.environ.get("TRANSDUCE_CORPORA"):
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "transduce" / "corpora"


def get_corpus(
    corpus: Corpus, *, mirror: str | None = None, directory: Path | None = None, progress: ProgressCallback
) -> dict[str, int]:
    """Fetch a corpus and write it as plain parallel files. What is there and right already is not fetched again.

    Args:
        corpus: An entry of the catalogue (:func:`find_corpus`), or one's own.
        mirror: A directory or an address to fetch from in place of the corpus's own addresses.
        directory: Where to; not given, :func:`corpora_directory`.
        progress: Is told how far each download is.

    Returns:
        The number of pairs of each part.

    Raises:
        DataError: A file cannot be fetched, written or read, the two sides of a part are not parallel, or a part has
            not as many pairs as is known of it. What was assembled before stands.
    """
    home = (directory or corpora_directory()) / corpus.name
    check_writable_directory(home)
    for download in corpus.downloads:
        fetch(download, home / _DOWNLOADS, mirror=mirror, progress=progress)
    try:
        with atomic_directory(home / _TEXT) as temporary:
            counts = dict.fromkeys(corpus.parts, 0)
            for segment in corpus.segments:
                counts[segment.part] += _write(corpus, segment, home / _DOWNLOADS, temporary)
            (temporary / "counts.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    except OSError as error:  # what goes wrong in reading is a DataError by now
        raise DataError(f"{home / _TEXT}: cannot be written ({error.strerror}); mend that, and call again") from None
    return counts


def corpus_files(name: str, part: str) -> tuple[Path, Path]:
    """Return the source and target file of a part of a fetched corpus.

    Raises:
        DataError: There is no such corpus or part, or it has not been fetched.
    """
    corpus = find_corpus(name)
    if part not in corpus.parts:
        raise DataError(f"the corpus '{name}' has no part '{part}'; it has {', '.join(corpus.parts)}")
    text = corpora_directory() / name / _TEXT
    files = text / f"{part}.{corpus.src_lang}", text / f"{part}.{corpus.tgt_lang}"
    if not all(file.is_file() for file in files):
        raise DataError(
            f"the corpus '{name}' is not here yet ({text}); fetch it first: transduce corpora get {name} (one that was "
            f"fetched with --out DIR is found with TRANSDUCE_CORPORA=DIR in the environment)"
        )
    return files


def _write(corpus: Corpus, segment: Segment, downloads: Path, out: Path) -> int:
    """Append a segment to the files of its part, and return its number of pairs."""
    n_src = n_tgt = 0
    with ExitStack() as stack:
        sides = [stack.enter_context(open_lines(downloads / side[0], side[1])) for side in (segment.src, segment.tgt)]
        files = [
            stack.enter_context((out / f"{segment.part}.{language}").open("a", encoding="utf-8", newline="\n"))
            for language in (corpus.src_lang, corpus.tgt_lang)
        ]
        for src, tgt in zip_longest(*sides):
            if src is not None:
                files[0].write(f"{src}\n")
                n_src += 1
            if tgt is not None:
                files[1].write(f"{tgt}\n")
                n_tgt += 1
    _check_counts(segment, n_src, n_tgt)
    return n_src


def _check_counts(segment: Segment, n_src: int, n_tgt: int) -> None:
    src, tgt = ("/".join(filter(None, side)) for side in (segment.src, segment.tgt))
    if n_src != n_tgt:
        raise DataError(
            f"{src} has {plural(n_src, 'line')} and {tgt} has {plural(n_tgt, 'line')}: they are not parallel; "
            "the files are damaged or of two editions, so use --from with a good copy"
        )
    if n_src == 0 or segment.n_pairs not in (None, n_src):
        known = plural(segment.n_pairs, "pair") if segment.n_pairs else "some"
        raise DataError(
            f"{src} and {tgt} have {plural(n_src, 'pair')}, and {known} should be there; "
            "the files are damaged or of another edition, so use --from with a good copy"
        )
