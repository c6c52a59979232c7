"""A prepared directory: what may be put in its place, and whether it is still up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transduce import __version__
from transduce.base.errors import DataError, TransduceError
from transduce.base.files import atomic_file, check_readable, check_writable_directory
from transduce.base.log import logger
from transduce.base.settings import dump_toml, read_toml, resolve
from transduce.bundle import find_bundle
from transduce.data.inputs import InputVersion, file_version
from transduce.data.sources import PARTS, PairSource, Part, check_sources
from transduce.data.store import INFO_FILE, TokenStore
from transduce.pipeline.prepare_report import PrepareReport, measure_batches, read_report, write_report
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer import load_tokenizers
from transduce.tokenizer.protocol import TokenizerPair

__all__ = [
    "REPORT_FILE",
    "SCORED_PARTS",
    "SETTINGS_FILE",
    "Sources",
    "check_everything",
    "describe_inputs",
    "find_finished",
]

Sources = Mapping[Part, list[PairSource]]
"""What each part is read from."""
SCORED_PARTS: tuple[Part, ...] = ("dev", "test")
"""Parts that are never cleaned, and whose text is kept."""
SETTINGS_FILE = "settings.toml"
REPORT_FILE = "report.json"

_OWN_NAMES = {SETTINGS_FILE, REPORT_FILE, "tokenizer", *PARTS}


def check_everything(settings: RunSettings, sources: Sources, out: Path) -> None:
    """Find what would fail later, before anything is read or written.

    Raises:
        TransduceError: An input cannot be read, or the output cannot be written or would replace files of other kinds.
    """
    if not sources["train"] and settings.data.task == "parsing":
        raise DataError(
            "no training data is given: set data.train to a file of trees in Penn brackets, or to sections of the Wall Street "
            "Journal (treebank/wsj#02-21)"
        )
    if not sources["train"]:
        raise DataError(
            "no training data is given: set data.train_src and data.train_tgt (two parallel text files), or data.train "
            "(a file with both sides), or data.corpus (a corpus by name)"
        )
    check_sources([source for part in PARTS for source in sources[part]])
    for path in _tokenizer_files(settings):
        check_readable(path)
    check_writable_directory(out)
    if out.exists():
        _check_replaceable(out)


def _check_replaceable(out: Path) -> None:
    """Make sure that a directory is empty or one that ``prepare`` has made, since all that is in it will be gone.

    Names alone do not tell: folders of raw text are called ``train`` and ``dev`` too.
    """
    names = sorted(path.name for path in out.iterdir())
    foreign = [name for name in names if name not in _OWN_NAMES]
    marks = [out / SETTINGS_FILE, out / REPORT_FILE, *(out / part / INFO_FILE for part in PARTS if part in names)]
    missing = [str(mark.relative_to(out)) for mark in marks if not mark.is_file()]
    if not names or not (foreign or missing):
        return
    shown = ", ".join(foreign or names)
    reason = f"it has no {missing[0]}" if missing else "prepare makes no such thing"
    raise DataError(
        f"{out}: holds {shown}, and is not a prepared directory ({reason}), but would be replaced as a whole; "
        f"choose another --out, or remove it yourself"
    )


def describe_inputs(settings: RunSettings, sources: Sources) -> tuple[InputVersion, ...]:
    """Return what every input is like now."""
    texts = [version for part in PARTS for source in sources[part] for version in source.versions()]
    return (*texts, *map(file_version, _tokenizer_files(settings)))


def find_finished(settings: RunSettings, inputs: tuple[InputVersion, ...], out: Path) -> PrepareReport | None:
    """Return the report of a directory that holds just what would be made again, or None.

    Settings of other sections do not change the data. Where they have changed, they are written down anew.

    Args:
        settings: The settings of this call.
        inputs: What the inputs are like now.
        out: The directory.
    """
    file = out / SETTINGS_FILE
    if not file.exists():
        return None
    try:
        report = read_report(out / REPORT_FILE)
        before = resolve(RunSettings, [read_toml(file)])
        if report.version != __version__ or report.inputs != inputs or _what_matters(before) != _what_matters(settings):
            return None
        _check_stores(out, load_tokenizers(out / "tokenizer"))
        if before != settings:
            n_too_long, share = measure_batches(out / "train", settings.train)
            report = replace(report, n_too_long=n_too_long, padding_share=share)
            with atomic_file(out / REPORT_FILE) as temporary:
                write_report(report, temporary)
            with atomic_file(file) as temporary:
                temporary.write_text(dump_toml(settings), encoding="utf-8")
    except TransduceError as error:
        logger.info("%s is prepared again, since it cannot be used (%s)", out, error)
        return None
    return report


def _tokenizer_files(settings: RunSettings) -> list[Path]:
    """Return the files that the tokenizers are imported from; of a bundle that which has the checksums of all others."""
    if settings.tokenizer.bundle is not None:
        return [find_bundle(settings.tokenizer.bundle) / "bundle.json"]
    return [value for value in vars(settings.tokenizer).values() if isinstance(value, Path)]


def _what_matters(settings: RunSettings) -> tuple[object, ...]:
    return settings.data.replace(n_workers=None), settings.clean, settings.tokenizer


def _check_stores(directory: Path, tokenizers: TokenizerPair) -> None:
    for part in PARTS:
        TokenStore.open(directory / part).check_tokenizers(tokenizers)
    for part in SCORED_PARTS:
        for side in ("src", "tgt"):
            check_readable(directory / part / f"{side}.txt")
