"""``prepare``: from text files to everything that training reads.

The text is read once, cleaned, and kept on disk while the vocabulary is learned from it and it is encoded: so standard
input serves as well as a file, and a compressed translation memory is parsed once. The result is a directory:

==================  ============================================================================
``settings.toml``   the settings of the run
``tokenizer/``      the vocabulary
``train/``          a token store
``dev/`` ``test/``  token stores, and the text itself (``src.txt``, ``tgt.txt``) for scoring
``report.json``     counts, sizes and speed
==================  ============================================================================
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from transduce import __version__
from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_directory
from transduce.base.log import logger, plural
from transduce.base.settings import dump_toml
from transduce.data.binarize import BinarizeReport, binarize
from transduce.data.cleaning import Tally, clean_sources
from transduce.data.holdout import HoldOut
from transduce.data.parallel import count_cores
from transduce.data.sources import PARTS, PairSource, Part, find_sources
from transduce.data.spool import PairSpool, write_pairs
from transduce.pipeline.prepare_report import (
    FileReport,
    InputFile,
    PartReport,
    PrepareReport,
    measure_batches,
    write_report,
)
from transduce.pipeline.prepared import (
    REPORT_FILE,
    SCORED_PARTS,
    SETTINGS_FILE,
    Sources,
    check_everything,
    describe_inputs,
    find_finished,
)
from transduce.pipeline.settings import RunSettings
from transduce.text.clean import Cleaner
from transduce.text.normalize import is_blank
from transduce.text.overlap import HeldOut
from transduce.text.pairs import SentencePair
from transduce.tokenizer import learn_tokenizers, save_tokenizers

__all__ = ["prepare"]


@dataclass(frozen=True)
class _Text:
    """A part of the data set before it is encoded."""

    pairs: PairSpool
    files: tuple[FileReport, ...]
    held_out: HeldOut | None = None
    """What of it stands in training, for a dev or test set that was given."""


def prepare(settings: RunSettings, out: StrPath) -> PrepareReport:
    """Read, clean and encode a corpus, and learn its vocabulary.

    Everything is checked before anything is read, and the directory appears as a whole at the end. When it is there
    already, and neither the files nor the settings that matter have changed, nothing is done.

    Args:
        settings: Sections ``data``, ``clean`` and ``tokenizer`` decide the result.
        out: The prepared directory: made, or replaced when all went well.

    Returns:
        What was done, as ``report.json`` holds it too; for a directory that is up to date, its report.

    Raises:
        TransduceError: An input is missing or wrong, or the output cannot be written. Nothing has changed then.
    """
    out = Path(out)
    sources = {part: find_sources(settings.data, part) for part in PARTS}
    check_everything(settings, sources, out)
    inputs = describe_inputs(settings, sources)
    finished = find_finished(settings, inputs, out)
    if finished is not None:
        logger.info("%s is up to date: nothing to prepare", out)
        return finished
    try:
        with atomic_directory(out) as directory:
            report = _fill(directory, settings, sources, inputs)
            (directory / SETTINGS_FILE).write_text(dump_toml(settings), encoding="utf-8")
            write_report(report, directory / REPORT_FILE)
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be read or written ({error.strerror or error})") from None
    return report


def _fill(directory: Path, settings: RunSettings, sources: Sources, inputs: tuple[InputFile, ...]) -> PrepareReport:
    """Do all the work, in a directory that nobody sees yet."""
    start_s = time.perf_counter()
    spool = directory / "spool"
    spool.mkdir()
    texts = _read_texts(settings, sources, spool)
    clean_s = time.perf_counter() - start_s
    logger.info("%s to train on; learning the vocabulary", plural(len(texts["train"].pairs), "pair"))
    tokenizers = learn_tokenizers(texts["train"].pairs, settings.tokenizer, n_pairs=len(texts["train"].pairs))
    save_tokenizers(tokenizers, directory / "tokenizer")
    learn_s = time.perf_counter() - start_s - clean_s
    logger.info("%s in the vocabulary; encoding", plural(tokenizers.tgt.vocab_size, "id"))
    n_workers = settings.data.n_workers or count_cores()
    encoded = {part: binarize(texts[part].pairs, tokenizers, directory / part, n_workers=n_workers) for part in PARTS}
    for part in SCORED_PARTS:
        for side in ("src", "tgt"):
            (spool / f"{part}.{side}").replace(directory / part / f"{side}.txt")
    shutil.rmtree(spool)
    n_too_long, share = measure_batches(directory / "train", settings.train)
    return PrepareReport(
        version=__version__,
        inputs=inputs,
        train=_part_report(texts["train"], encoded["train"]),
        dev=_part_report(texts["dev"], encoded["dev"]),
        test=_part_report(texts["test"], encoded["test"]),
        joint_vocabulary=tokenizers.joint,
        src_vocab_size=tokenizers.src.vocab_size,
        tgt_vocab_size=tokenizers.tgt.vocab_size,
        n_too_long=n_too_long,
        padding_share=share,
        text_bytes=encoded["train"].text_bytes,
        clean_s=clean_s,
        learn_s=learn_s,
        encode_s=encoded["train"].seconds,
        total_s=time.perf_counter() - start_s,
    )


def _read_texts(settings: RunSettings, sources: Sources, spool: Path) -> dict[Part, _Text]:
    """Read every input once: keep dev and test as they are, clean training, and hold out what was not given."""
    texts = {part: _read_scored(part, sources[part], spool) for part in SCORED_PARTS if sources[part]}
    held_out = [text.held_out for text in texts.values() if text.held_out is not None]
    hold_out = HoldOut([part for part in SCORED_PARTS if part not in texts], settings.data.holdout_pairs)
    corpus = _read_train(settings, sources["train"], held_out, hold_out, spool)
    positions = hold_out.choose()
    for part, chosen in positions.items():
        if not chosen:
            logger.warning(
                "%s of training are too few to take a %s set out of them (at most 5 %%), so there is none; give one",
                plural(len(corpus.pairs), "pair"),
                part,
            )
        kept = write_pairs(corpus.pairs.at(chosen), spool / f"{part}.src", spool / f"{part}.tgt")
        texts[part] = _Text(kept, files=())
    train = corpus.pairs.without([position for chosen in positions.values() for position in chosen])
    return texts | {"train": _Text(train, corpus.files)}


def _read_scored(part: Part, sources: list[PairSource], spool: Path) -> _Text:
    """Read a dev or test set that was given. Only pairs with a blank side are dropped."""
    tallies = [Tally(source.name) for source in sources]
    pairs = (
        pair
        for source, tally in zip(sources, tallies, strict=True)
        for pair in source.read()
        if not _is_blank_pair(pair, tally)
    )
    kept = write_pairs(pairs, spool / f"{part}.src", spool / f"{part}.tgt")
    files = _file_reports(tallies)
    if len(kept) == 0:
        raise DataError(f"no pair of the {part} set is left: {_describe(files)}")
    return _Text(kept, files, HeldOut(part, (pair.src for pair in kept)))


def _read_train(
    settings: RunSettings, sources: list[PairSource], held_out: list[HeldOut], hold_out: HoldOut[Part], spool: Path
) -> _Text:
    """Read and clean the training text, and show each pair that is kept to ``hold_out``."""
    tallies = [Tally(source.name) for source in sources]
    cleaner = Cleaner(settings.clean, held_out)
    n_workers = settings.data.n_workers or count_cores()
    pairs = _show(clean_sources(sources, cleaner, tallies, n_workers=n_workers), hold_out)
    kept = write_pairs(pairs, spool / "train.src", spool / "train.tgt")
    files = _file_reports(tallies)
    if len(kept) == 0:
        raise DataError(f"no training pair is left: {_describe(files)}")
    for known in held_out:
        if known.n_folded and settings.clean.drop_overlap:
            logger.info("%s: those training pairs are dropped", known.describe())
        elif known.n_folded:
            logger.warning("%s, which flatters its scores; clean.drop_overlap=true leaves them out", known.describe())
    return _Text(kept, files)


def _show(pairs: Iterable[SentencePair], hold_out: HoldOut[Part]) -> Iterator[SentencePair]:
    for pair in pairs:
        hold_out.add(pair.src)
        yield pair


def _is_blank_pair(pair: SentencePair, tally: Tally) -> bool:
    tally.n_read += 1
    blank = is_blank(pair.src) or is_blank(pair.tgt)
    if blank:
        tally.dropped["blank"] += 1
    return blank


def _file_reports(tallies: list[Tally]) -> tuple[FileReport, ...]:
    return tuple(
        FileReport(tally.name, tally.n_read, tally.n_kept, {str(reason): n for reason, n in tally.dropped.items()})
        for tally in tallies
    )


def _describe(files: tuple[FileReport, ...]) -> str:
    return "; ".join(f"{file.name}: {file.describe()}" for file in files)


def _part_report(text: _Text, encoded: BinarizeReport) -> PartReport:
    return PartReport(
        files=text.files,
        n_pairs=encoded.n_pairs,
        n_src_tokens=encoded.n_src_tokens,
        n_tgt_tokens=encoded.n_tgt_tokens,
        n_in_training=text.held_out.n_folded if text.held_out is not None else 0,
        n_in_training_exact=text.held_out.n_exact if text.held_out is not None else 0,
    )
