"""The layout of a run directory, as far as more than training must know it.

::

    RUN/checkpoints/step-00001000/    bundles with the state of the run beside them
    RUN/best/                         the bundle of the lowest dev perplexity
    RUN/model/                        the finished bundle
    RUN/run.json                      where the prepared data of the run lies
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from transduce.base.errors import BundleError
from transduce.base.files import atomic_file

__all__ = ["find_run_data", "list_checkpoints", "note_run_data", "step_of"]

_NAME = re.compile(r"step-(\d{8,})")
_NOTE = "run.json"


def list_checkpoints(run: Path) -> list[Path]:
    """Return the checkpoints of a run, the oldest first."""
    found = [path for path in (run / "checkpoints").glob("step-*") if _NAME.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=step_of)


def step_of(checkpoint: Path) -> int:
    """Return the step of a checkpoint, from its name.

    >>> step_of(Path("run/checkpoints/step-00001000"))
    1000
    """
    return int(checkpoint.name.removeprefix("step-"))


def note_run_data(run: Path, data: Path) -> None:
    """Write down where the prepared data of a run lies: relative to the run when it is inside, so that it can be moved."""
    inside = data.resolve().is_relative_to(run.resolve())
    place = os.path.relpath(data.resolve(), run.resolve()) if inside else str(data.resolve())
    with atomic_file(run / _NOTE) as temporary:
        # A path that the locale cannot spell comes as surrogates, and is written as the bytes that it is made of.
        note = json.dumps({"data": place}, ensure_ascii=False) + "\n"
        temporary.write_bytes(note.encode("utf-8", errors="surrogateescape"))


def find_run_data(bundle: Path) -> Path | None:
    """Return the prepared data of the run that a bundle lies in; None when the bundle lies in no run.

    Raises:
        BundleError: The note of the run cannot be read.
    """
    for run in bundle.resolve().parents[:2]:  # RUN/model and RUN/checkpoints/step-N
        note = run / _NOTE
        if note.is_file():
            try:
                return run / str(json.loads(note.read_text(encoding="utf-8"))["data"])
            except (ValueError, KeyError, TypeError, OSError) as error:
                raise BundleError(f"{note}: damaged ({error}); it should say where the data of the run lies") from None
    return None
