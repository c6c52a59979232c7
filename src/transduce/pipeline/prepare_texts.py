"""The text of a data set: every input read once, cleaned, and written down; dev and test held out where none is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from transduce.base.cores import count_cores
from transduce.base.errors import DataError
from transduce.base.log import logger, plural
from transduce.data.cleaning import SourceCounts, clean_sources
from transduce.data.holdout import HoldOut
from transduce.data.sources import PairSource, Part
from transduce.data.spool import PairSpool, write_pairs
from transduce.pipeline.prepare_progress import PhaseTeller
from transduce.pipeline.prepared import SCORED_PARTS, Sources
from transduce.pipeline.settings import RunSettings
from transduce.text.clean import Cleaner
from transduce.text.overlap import HeldOut, fold
from transduce.text.pairs import SentencePair
from transduce.text.settings import CleanSettings

__all__ = ["PartText", "read_texts"]

_BLANK_ONLY = CleanSettings(max_chars=None, drop_control=False)
"""Dev and test sets stay as they are, but for pairs with a blank side."""


@dataclass(frozen=True)
class PartText:
    """A part of the data set before it is encoded."""

    pairs: PairSpool
    files: tuple[SourceCounts, ...]
    """What became of its inputs; none for a part that was held out of training."""
    held_out: HeldOut | None = None
    """What of it stands in training, for a dev or test set that was given."""
    n_constituents: int = 0
    """The last so many pairs are constituents of the trees before them."""


def read_texts(settings: RunSettings, sources: Sources, spool: Path, teller: PhaseTeller) -> dict[Part, PartText]:
    """Read every input once: keep dev and test as they are, clean training, and hold out what was not given.

    Args:
        settings: Sections ``data`` and ``clean`` decide.
        sources: What each part is read from.
        spool: A directory for the text, as two files for each part, such as ``train.src`` and ``train.tgt``.
        teller: Is told how far reading is.

    Raises:
        DataError: An input is wrong, no pair of a part is left, or the text cannot be written.
    """
    n_workers = settings.data.n_workers or count_cores()
    texts = {
        part: _read_scored(part, sources[part], spool, n_workers, teller) for part in SCORED_PARTS if sources[part]
    }
    held_out = [text.held_out for text in texts.values() if text.held_out is not None]
    hold_out = HoldOut([part for part in SCORED_PARTS if part not in texts], settings.data.holdout_pairs)
    corpus = _read_train(sources["train"], Cleaner(settings.clean, held_out), hold_out, spool, n_workers, teller)
    positions = hold_out.choose()
    for part, chosen in positions.items():
        if not chosen:
            logger.warning(
                "%s of training are too few to take a %s set out of them (at most 5 %%), so there is none; give one",
                plural(len(corpus.pairs), "pair"),
                part,
            )
        kept = write_pairs(corpus.pairs.at(chosen), spool / f"{part}.src", spool / f"{part}.tgt")
        texts[part] = PartText(kept, files=())
    train = corpus.pairs.without([position for chosen in positions.values() for position in chosen])
    if not settings.data.max_constituent_words:
        return texts | {"train": PartText(train, corpus.files)}
    both = _with_constituents(train, texts, settings, spool)
    return texts | {"train": PartText(both, corpus.files, n_constituents=len(both) - len(train))}


def _with_constituents(train: PairSpool, texts: dict[Part, PartText], settings: RunSettings, spool: Path) -> PairSpool:
    """Return the training pairs and the constituents of their trees, those left out that are sentences of dev or test."""
    from transduce.data.constituents import constituent_pairs  # here, since most corpora hold no trees

    max_words = settings.data.max_constituent_words
    held_out = {fold(pair.src) for text in texts.values() for pair in text.pairs}
    found = constituent_pairs((pair.tgt for pair in train), max_words)
    kept = (pair for pair in found if fold(pair.src) not in held_out)
    both = write_pairs(chain(train, kept), spool / "train-and-constituents.src", spool / "train-and-constituents.tgt")
    logger.info("learned from too: %s of 2 to %d words", plural(len(both) - len(train), "constituent"), max_words)
    return both


def _read_scored(part: Part, sources: list[PairSource], spool: Path, n_workers: int, teller: PhaseTeller) -> PartText:
    """Read a dev or test set that was given."""
    files = _start_counts(sources)
    pairs = clean_sources(sources, Cleaner(_BLANK_ONLY), files, n_workers=n_workers, listener=teller.tell_source)
    kept = _keep(part, pairs, files, spool)
    return PartText(kept, files, HeldOut(part, (pair.src for pair in kept)))


def _read_train(
    sources: list[PairSource],
    cleaner: Cleaner,
    hold_out: HoldOut[Part],
    spool: Path,
    n_workers: int,
    teller: PhaseTeller,
) -> PartText:
    """Read and clean the training text, and show each pair that is kept to ``hold_out``."""
    files = _start_counts(sources)
    pairs = clean_sources(sources, cleaner, files, n_workers=n_workers, listener=teller.tell_source)
    kept = _keep("train", _show(pairs, hold_out), files, spool)
    for known in cleaner.held_out:
        if known.n_folded and cleaner.settings.drop_overlap:
            logger.info("%s: those training pairs are dropped", known.describe())
        elif known.n_folded:
            logger.warning("%s, which flatters its scores; clean.drop_overlap=true leaves them out", known.describe())
    return PartText(kept, files)


def _start_counts(sources: list[PairSource]) -> tuple[SourceCounts, ...]:
    return tuple(SourceCounts(source.name) for source in sources)


def _show(pairs: Iterable[SentencePair], hold_out: HoldOut[Part]) -> Iterator[SentencePair]:
    for pair in pairs:
        hold_out.add(pair.src)
        yield pair


def _keep(part: Part, pairs: Iterable[SentencePair], files: tuple[SourceCounts, ...], spool: Path) -> PairSpool:
    """Write down the pairs of a part, and refuse to go on without any."""
    kept = write_pairs(pairs, spool / f"{part}.src", spool / f"{part}.tgt")
    if len(kept) == 0:
        counts = "; ".join(f"{file.name}: {file.describe()}" for file in files)
        raise DataError(f"no pair of the {part} set is left: {counts}")
    return kept
