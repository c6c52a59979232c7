"""What the training benchmark asks of a driver, and what the driver answers: two JSON files. Standard library only.

A driver is a fresh process for every measurement. All drivers get the same batches in the same order. A step is what lies
between a batch of ids and an updated model: padding the ids, forward, loss, backward, update.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from peers.job import BOS_ID, EOS_ID, PAD_ID, peak_bytes

__all__ = [
    "N_CONTROL",
    "UNK_ID",
    "Pairs",
    "Rows",
    "Sums",
    "TrainingJob",
    "TrainingReport",
    "pad",
    "read_job",
    "run_job",
]

UNK_ID = 3
N_CONTROL = 4
"""PAD, BOS, EOS and UNK stand at the beginning of the vocabulary."""

Ids = list[int]


@dataclass(frozen=True)
class TrainingJob:
    """One measurement."""

    batches: str
    """JSON file: a list of batches, each with the ids of its sources and of its targets, EOS not among them."""
    n_layers: int
    """Of the encoder, and as many of the decoder."""
    d_model: int
    d_ff: int
    n_heads: int
    vocab_size: int
    """Rows of the one embedding that both sides and the output share, control ids included."""
    threads: int
    """CPU threads."""
    warmup_steps: int
    """Steps before the clock runs, on the last batches of the file: whatever their number, the first timed batch is the first."""
    n_steps: int
    """Steps that are timed, at least."""
    seconds: float
    """Go on until the timed steps have taken so long."""
    p_dropout: float
    label_smoothing: float
    lr: float
    """Learning rate of all steps."""
    seed: int
    started: float
    """Of ``time.monotonic``, in seconds."""
    engine: str = ""
    """What computes the gradients, where the contender has several ways; empty: its default."""


class Pairs(NamedTuple):
    """A batch as it stands in the file of batches: ids without control ids."""

    src: Sequence[Ids]
    tgt: Sequence[Ids]

    @property
    def n_tgt_tokens(self) -> int:
        """Target tokens, EOS counted, padding not."""
        return sum(len(ids) + 1 for ids in self.tgt)


@dataclass(frozen=True)
class Rows:
    """A batch as padded rows, which is what all peers take."""

    src: list[Ids]
    """Every sentence ends with EOS, then PAD."""
    src_lengths: list[int]
    """EOS counted."""
    tgt_in: list[Ids]
    """BOS and the ids, then PAD."""
    tgt_out: list[Ids]
    """The ids and EOS, then PAD."""
    tgt: list[Ids]
    """BOS, the ids and EOS, then PAD: for peers that shift it themselves."""

    @classmethod
    def of(cls, pairs: Pairs) -> Rows:
        """Pad the sentences of a batch.

        >>> rows = Rows.of(Pairs([[7], [7, 8]], [[9], []]))
        >>> rows.src, rows.src_lengths, rows.tgt_in, rows.tgt_out
        ([[7, 2, 0], [7, 8, 2]], [2, 3], [[1, 9], [1, 0]], [[9, 2], [2, 0]])
        """
        return cls(
            src=pad([[*ids, EOS_ID] for ids in pairs.src]),
            src_lengths=[len(ids) + 1 for ids in pairs.src],
            tgt_in=pad([[BOS_ID, *ids] for ids in pairs.tgt]),
            tgt_out=pad([[*ids, EOS_ID] for ids in pairs.tgt]),
            tgt=pad([[BOS_ID, *ids, EOS_ID] for ids in pairs.tgt]),
        )

    @property
    def has_src_padding(self) -> bool:
        """Whether any source is shorter than the longest."""
        return min(self.src_lengths) < max(self.src_lengths)


class Sums(NamedTuple):
    """What a contender says about a step."""

    nats: float
    """Its loss, summed over its target tokens."""
    n_tgt_tokens: int
    """Target tokens that it has counted itself, EOS included: held against those of the batch."""


@dataclass(frozen=True)
class TrainingReport:
    """What a measurement found. Seconds, bytes."""

    ready_s: float
    """From the start of the process to a model that can be trained."""
    step_seconds: list[float]
    """Of each timed step."""
    step_tokens: list[int]
    """Target tokens of each timed step, EOS counted, padding not."""
    losses: list[float]
    """Nats a target token of every step, those before the clock ran too."""
    n_parameters: int
    peak_bytes: int
    """Most resident memory of the process."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of the interpreter and of the packages that the driver names."""


def pad(rows: Sequence[Ids]) -> list[Ids]:
    """Make rows equally long with PAD."""
    width = max(map(len, rows))
    return [row + [PAD_ID] * (width - len(row)) for row in rows]


def read_job() -> TrainingJob:
    """Read the job that the first argument of the command names."""
    return TrainingJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))


def run_job(
    job: TrainingJob, step: Callable[[Pairs], Sums], *, n_parameters: int, packages: Sequence[str] = ("torch",)
) -> None:
    """Make the updates that a job asks for, and write the report to the file that the second argument of the command names.

    Args:
        job: From :func:`read_job`.
        step: Makes one update.
        n_parameters: Of the model, shared ones once.
        packages: Whose versions are told.

    Raises:
        RuntimeError: The contender has counted other tokens than there are: it does not do the same work.
    """
    ready_s = time.monotonic() - job.started
    batches = [Pairs(*batch) for batch in json.loads(Path(job.batches).read_text(encoding="utf-8"))]
    step_seconds: list[float] = []
    step_tokens: list[int] = []
    losses: list[float] = []
    while len(losses) < job.warmup_steps + job.n_steps or sum(step_seconds) < job.seconds:
        pairs = batches[(len(losses) - job.warmup_steps) % len(batches)]
        begin = time.perf_counter()
        sums = step(pairs)
        seconds = time.perf_counter() - begin
        if sums.n_tgt_tokens != pairs.n_tgt_tokens:
            raise RuntimeError(f"{sums.n_tgt_tokens} target tokens were trained on, but there are {pairs.n_tgt_tokens}")
        losses.append(sums.nats / sums.n_tgt_tokens)
        if len(losses) > job.warmup_steps:
            step_seconds.append(seconds)
            step_tokens.append(sums.n_tgt_tokens)
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    report = TrainingReport(
        ready_s=ready_s,
        step_seconds=step_seconds,
        step_tokens=step_tokens,
        losses=losses,
        n_parameters=n_parameters,
        peak_bytes=peak_bytes(),
        versions=versions,
    )
    Path(sys.argv[2]).write_text(json.dumps(asdict(report)), encoding="utf-8")
