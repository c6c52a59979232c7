"""Finding the text that a model is measured on: given by the user, or a part of the data of its run."""

from __future__ import annotations

from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import STDIN, StrPath, check_readable
from transduce.bundle import find_run_data, read_bundle
from transduce.data.corpora import corpus_files
from transduce.pipeline.bundles import read_run_settings

__all__ = ["find_part"]


def find_part(bundle: Path, src: StrPath | None, ref: StrPath | None, part: str) -> tuple[Path, Path]:
    """Return the files of the two sides.

    Args:
        bundle: The bundle, so that its run can be found.
        src: Source sentences; None: those of a part.
        ref: References; None: those of a part.
        part: ``test``, ``dev``, or a further test set of a named corpus.

    Raises:
        DataError: Only one side is given, a file is missing, or the run has no such part.
    """
    if (src is None) != (ref is None):
        raise DataError(f"source and references belong together: give both, or neither for the {part} set of the run")
    if src is not None and ref is not None:
        given = Path(src), Path(ref)
        if given[0] == given[1] == STDIN:
            raise DataError("-: both the source and the references are standard input; give a file for one of them")
        for file in given:
            check_readable(file)
        return given
    data = find_run_data(bundle)
    prepared = data / part if data is not None else None
    if prepared is not None and (prepared / "src.txt").is_file():
        return prepared / "src.txt", prepared / "tgt.txt"
    corpus = read_run_settings(read_bundle(bundle)).data.corpus
    if corpus is not None and corpus != "phrasebook":
        return corpus_files(corpus, part)
    where = f" in {data}" if data is not None else ""
    raise DataError(f"{bundle}: there is no {part} set{where}; give a source and its references")
