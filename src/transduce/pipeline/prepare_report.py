"""What ``prepare`` did, as a value: kept in ``report.json`` of the prepared directory, and printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from transduce.base.errors import DataError
from transduce.base.log import plural
from transduce.data.batching import count_too_long, padding_share, plan_epoch
from transduce.data.store import TokenStore
from transduce.text.clean import DROP_REASONS
from transduce.training.settings import TrainSettings

__all__ = ["FileReport", "InputFile", "PartReport", "PrepareReport", "measure_batches", "read_report", "write_report"]


@dataclass(frozen=True)
class InputFile:
    """A file that was read, as it was then: enough to tell whether it has changed since."""

    path: str
    size_bytes: int
    changed_ns: int
    """Time of the last change, in nanoseconds since 1970."""


@dataclass(frozen=True)
class FileReport:
    """The pairs of one input."""

    name: str
    n_read: int
    n_kept: int
    dropped: dict[str, int]
    """Pairs dropped, by reason."""

    def describe(self) -> str:
        """Return the counts in words."""
        text = f"{plural(self.n_read, 'pair')} read, {self.n_kept:,} kept"
        reasons = [
            f"{self.dropped[reason]:,} ({words})" for reason, words in DROP_REASONS.items() if reason in self.dropped
        ]
        return f"{text}; dropped: {', '.join(reasons)}" if reasons else text


@dataclass(frozen=True)
class PartReport:
    """A part of the data set as it was stored. Token counts are without BOS and EOS."""

    files: tuple[FileReport, ...]
    """Its inputs; none for a part that was held out of training."""
    n_pairs: int
    n_src_tokens: int
    n_tgt_tokens: int
    n_in_training: int = 0
    """Source sentences of a dev or test set that also stand in the training text, case and white space aside."""
    n_in_training_exact: int = 0
    """Those of them that stand there letter for letter."""


@dataclass(frozen=True)
class PrepareReport:
    """What ``prepare`` read, kept, learned and wrote, and how fast."""

    version: str
    """The version of this package."""
    inputs: tuple[InputFile, ...]
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
        values: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return values | {"mb_per_s": self.mb_per_s}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        parts = (("train", self.train), ("dev", self.dev), ("test", self.test))
        rows = [(file.name, file.describe()) for _, part in parts for file in part.files]
        rows += [(name, _describe_part(name, part)) for name, part in parts]
        rows.append(("vocabulary", self._describe_vocabulary()))
        if self.n_too_long:
            rows.append(("too long", f"{plural(self.n_too_long, 'training pair')} above train.max_pair_tokens"))
        rows.append(("padding", f"{self.padding_share:.2%} of the tokens of an epoch's batches"))
        rows.append(("speed", f"{self.mb_per_s:.2f} MB/s encoded ({self.text_bytes / 1e6:.1f} MB of text)"))
        rows.append(
            (
                "seconds",
                f"{self.total_s:.1f} (cleaning {self.clean_s:.1f}, vocabulary {self.learn_s:.1f}, encoding {self.encode_s:.1f})",
            )
        )
        return rows

    def _describe_vocabulary(self) -> str:
        if self.joint_vocabulary:
            return f"{self.src_vocab_size:,} ids, joint"
        return f"{self.src_vocab_size:,} source ids, {self.tgt_vocab_size:,} target ids"


_ADAPTER = TypeAdapter(PrepareReport)


def write_report(report: PrepareReport, path: Path) -> None:
    """Write a report as JSON."""
    path.write_bytes(_ADAPTER.dump_json(report, indent=2) + b"\n")


def read_report(path: Path) -> PrepareReport:
    """Read a report that :func:`write_report` has written.

    Raises:
        DataError: It is missing or is not such a report.
    """
    try:
        return _ADAPTER.validate_json(path.read_bytes(), extra="forbid")
    except (OSError, ValidationError):
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
        device_tokens=settings.device_tokens,
        pool_pairs=settings.pool_pairs,
        max_pair_tokens=settings.max_pair_tokens,
        seed=settings.seed,
        epoch=0,
    )
    return n_too_long, padding_share(store, plans)


def _describe_part(name: str, part: PartReport) -> str:
    text = f"{plural(part.n_pairs, 'pair')}, {part.n_src_tokens:,} source and {part.n_tgt_tokens:,} target tokens"
    if name != "train" and not part.files and part.n_pairs:
        text += "; held out of training"
    if part.n_in_training:
        text += f"; {part.n_in_training:,} also in training ({part.n_in_training_exact:,} letter for letter)"
    return text
