"""What ``prepare`` did, as a value: kept in ``report.json`` of the prepared directory, and printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.base.plain import as_plain, from_plain
from transduce.data.batching import count_too_long, padding_share, plan_epoch
from transduce.data.cleaning import SourceCounts
from transduce.data.inputs import InputVersion
from transduce.data.sources import Part
from transduce.data.store import TokenStore
from transduce.training.settings import TrainSettings

__all__ = [
    "PartReport",
    "PrepareReport",
    "describe_part",
    "describe_vocabulary",
    "measure_batches",
    "read_report",
    "write_report",
]


@dataclass(frozen=True)
class PartReport:
    """A part of the data set as it was stored. Token counts are without BOS and EOS."""

    files: tuple[SourceCounts, ...]
    """Its inputs; none for a part that was held out of training."""
    n_pairs: int
    n_src_tokens: int
    n_tgt_tokens: int
    n_in_training: int = 0
    """Source sentences of a dev or test set that also stand in the training text, case and white space aside."""
    n_in_training_exact: int = 0
    """Those of them that stand there letter for letter."""
    n_constituents: int = 0
    """Pairs that are no trees of the inputs, but constituents of them."""


@dataclass(frozen=True)
class PrepareReport:
    """What ``prepare`` read, kept, learned and wrote, and how fast."""

    version: str
    """The version of this package."""
    inputs: tuple[InputVersion, ...]
    """What was read, and what it was like then."""
    train: PartReport
    dev: PartReport
    test: PartReport
    joint_vocabulary: bool
    src_vocab_size: int
    tgt_vocab_size: int
    n_too_long: int
    """Training pairs that training will leave out because of ``train.max_pair_tokens``."""
    padding_share: float
    """Share of padding among all tokens of one epoch's batches, 0 to 1."""
    text_bytes: int
    """UTF-8 bytes of the training text that was encoded, both sides."""
    clean_s: float
    """Seconds for reading and cleaning."""
    learn_s: float
    """Seconds for the vocabulary."""
    encode_s: float
    """Seconds for encoding the training text."""
    total_s: float
    """Seconds for everything."""

    @property
    def mb_per_s(self) -> float:
        """Millions of bytes of training text encoded in a second, both sides together."""
        return self.text_bytes / 1e6 / self.encode_s if self.encode_s else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**as_plain(self), "mb_per_s": self.mb_per_s}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        parts: dict[Part, PartReport] = {"train": self.train, "dev": self.dev, "test": self.test}
        vocabulary = describe_vocabulary(self.src_vocab_size, self.tgt_vocab_size, joint=self.joint_vocabulary)
        rows = [
            *(
                (f"{name} input", f"{file.name}: {file.describe()}")
                for name, part in parts.items()
                for file in part.files
            ),
            *((name, describe_part(name, part)) for name, part in parts.items()),
            ("vocabulary", vocabulary),
            ("padding", f"{self.padding_share:.2%} of the tokens of an epoch's batches"),
            ("speed", f"{self.mb_per_s:.2f} MB/s encoded ({self.text_bytes / 1e6:.1f} MB of training text)"),
            (
                "seconds",
                f"{self.total_s:.1f} (reading and cleaning {self.clean_s:.1f}, learning the vocabulary {self.learn_s:.1f}, "
                f"encoding {self.encode_s:.1f})",
            ),
        ]
        if self.n_too_long:
            left_out = (
                f"{plural(self.n_too_long, 'training pair')} above train.max_pair_tokens: training leaves them out"
            )
            rows.insert(-3, ("too long", left_out))
        return rows


def write_report(report: PrepareReport, path: Path) -> None:
    """Write a report as JSON."""
    path.write_text(json.dumps(as_plain(report), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_report(path: Path) -> PrepareReport:
    """Read a report that :func:`write_report` has written.

    Raises:
        DataError: It is missing or is not such a report.
    """
    try:
        return from_plain(PrepareReport, json.loads(path.read_bytes()))
    except (OSError, ValueError):
        raise DataError(f"{path}: missing, or not the report of a prepared directory; run prepare again") from None


def measure_batches(store_directory: Path, settings: TrainSettings) -> tuple[int, float]:
    """Return how many pairs training will leave out, and the share of padding in the batches of its first epoch, 0 to 1."""
    store = TokenStore.open(store_directory)
    n_too_long = count_too_long(store, settings.max_pair_tokens)
    if n_too_long == len(store):
        return n_too_long, 0.0
    plans = plan_epoch(
        store,
        batch_tokens=settings.batch_tokens,
        pool_pairs=settings.pool_pairs,
        max_pair_tokens=settings.max_pair_tokens,
        seed=settings.seed,
        epoch=0,
    )
    return n_too_long, padding_share(store, plans, settings.expected_device_tokens)


def describe_part(name: Part, part: PartReport) -> str:
    """Return in words what is stored of a part."""
    text = f"{plural(part.n_pairs, 'pair')}, {part.n_src_tokens:,} source and {part.n_tgt_tokens:,} target tokens"
    if part.n_constituents:
        text += f"; {part.n_constituents:,} of the pairs are constituents"
    if name != "train" and not part.files and part.n_pairs:
        text += "; held out of training"
    if part.n_in_training:
        text += f"; {part.n_in_training:,} also in training ({part.n_in_training_exact:,} letter for letter)"
    return text


def describe_vocabulary(src_vocab_size: int, tgt_vocab_size: int, *, joint: bool) -> str:
    """Return the size of a vocabulary in words, or of two.

    >>> describe_vocabulary(8000, 8000, joint=True), describe_vocabulary(8000, 7000, joint=False)
    ('8,000 ids, shared by both sides', '8,000 source ids, 7,000 target ids')
    """
    if joint:
        return f"{src_vocab_size:,} ids, shared by both sides"
    return f"{src_vocab_size:,} source ids, {tgt_vocab_size:,} target ids"
