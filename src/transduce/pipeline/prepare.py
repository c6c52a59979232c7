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
from collections.abc import Sequence
from pathlib import Path

from transduce import __version__
from transduce.base.cores import count_cores
from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_directory
from transduce.base.log import logger
from transduce.base.settings import dump_toml
from transduce.data.binarize import BinarizeReport, binarize
from transduce.data.inputs import InputVersion
from transduce.data.sources import PARTS, Part, find_sources
from transduce.pipeline.prepare_progress import PhaseTeller, PrepareListener, WatchedPairs
from transduce.pipeline.prepare_report import (
    PartReport,
    PrepareReport,
    describe_part,
    describe_vocabulary,
    measure_batches,
    write_report,
)
from transduce.pipeline.prepare_texts import PartText, read_texts
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
from transduce.pipeline.start import tokenizers_of_start
from transduce.tokenizer import learn_tokenizers, save_tokenizers
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["prepare"]


def prepare(settings: RunSettings, out: StrPath, *, listeners: Sequence[PrepareListener] = ()) -> PrepareReport:
    """Read, clean and encode a corpus, and learn its vocabulary.

    Everything is checked before anything is read, and the directory appears as a whole at the end. When it is there
    already, and neither the inputs nor the settings that matter have changed, nothing is done.

    Args:
        settings: Sections ``data``, ``clean`` and ``tokenizer`` decide the result.
        out: The prepared directory: made, or replaced when all went well.
        listeners: Are told how far the work is, every few thousand pairs.

    Returns:
        What was done, as ``report.json`` holds it too; for a directory that is up to date, its report.

    Raises:
        TransduceError: An input is missing or wrong, or the output cannot be written, or would replace something else
            than a prepared directory. Nothing has changed then.
    """
    out = Path(out)
    sources = {part: find_sources(settings.data, part) for part in PARTS}
    check_everything(settings, sources, out)
    taken = tokenizers_of_start(settings)
    inputs = describe_inputs(settings, sources)
    finished = find_finished(settings, inputs, out)
    if finished is not None:
        logger.info("%s is up to date: nothing to prepare", out)
        return finished
    try:
        with atomic_directory(out) as directory:
            report = _fill(directory, settings, sources, inputs, taken, listeners)
            (directory / SETTINGS_FILE).write_text(dump_toml(settings), encoding="utf-8")
            write_report(report, directory / REPORT_FILE)
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be read or written ({error.strerror or error})") from None
    return report


def _fill(
    directory: Path,
    settings: RunSettings,
    sources: Sources,
    inputs: tuple[InputVersion, ...],
    taken: TokenizerPair | None,
    listeners: Sequence[PrepareListener],
) -> PrepareReport:
    """Do all the work, in a directory that nobody sees yet."""
    start_s = time.perf_counter()
    spool = directory / "spool"
    spool.mkdir()
    texts = read_texts(settings, sources, spool, PhaseTeller("reading", listeners))
    clean_s = time.perf_counter() - start_s
    tokenizers = _find_tokenizers(texts["train"], settings, taken, PhaseTeller("learning", listeners))
    save_tokenizers(tokenizers, directory / "tokenizer")
    learn_s = time.perf_counter() - start_s - clean_s
    encoded = _encode(texts, tokenizers, directory, settings, PhaseTeller("encoding", listeners))
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


def _find_tokenizers(
    text: PartText, settings: RunSettings, taken: TokenizerPair | None, teller: PhaseTeller
) -> TokenizerPair:
    """Return the tokenizers that are taken from a bundle, or learn them."""
    n_pairs = len(text.pairs)
    tokenizers = taken or learn_tokenizers(
        WatchedPairs(text.pairs, teller, "the vocabulary"),
        settings.tokenizer,
        n_pairs=n_pairs,
        target=settings.target,
    )
    sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
    teller.end("the vocabulary", n_pairs, describe_vocabulary(*sizes, joint=tokenizers.joint))
    return tokenizers


def _encode(
    texts: dict[Part, PartText], tokenizers: TokenizerPair, directory: Path, settings: RunSettings, teller: PhaseTeller
) -> dict[Part, BinarizeReport]:
    n_workers = settings.data.n_workers or count_cores()
    reports: dict[Part, BinarizeReport] = {}
    for part in PARTS:
        watched = WatchedPairs(texts[part].pairs, teller, part)
        reports[part] = binarize(watched, tokenizers, directory / part, n_workers=n_workers)
        teller.end(part, reports[part].n_pairs, describe_part(part, _part_report(texts[part], reports[part])))
    return reports


def _part_report(text: PartText, encoded: BinarizeReport) -> PartReport:
    return PartReport(
        files=text.files,
        n_pairs=encoded.n_pairs,
        n_src_tokens=encoded.n_src_tokens,
        n_tgt_tokens=encoded.n_tgt_tokens,
        n_in_training=text.held_out.n_folded if text.held_out is not None else 0,
        n_in_training_exact=text.held_out.n_exact if text.held_out is not None else 0,
        n_constituents=text.n_constituents,
    )
