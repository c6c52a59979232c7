"""What a training run reports while it goes: one frozen record per event, given to every listener in order.

A listener is a plain callable. The log file, the progress display and any tracker are listeners; the loop knows none
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = [
    "BadStepRecord",
    "CheckpointRecord",
    "EpochRecord",
    "Listener",
    "MemoryRecord",
    "Pulse",
    "Record",
    "RollbackRecord",
    "StartRecord",
    "StepRecord",
    "StopReason",
    "StopRecord",
    "ValidationRecord",
    "no_pulse",
    "record_to_dict",
]

StopReason = Literal["steps", "minutes", "patience", "interrupted"]
"""Why a run ended: ``n_steps`` or ``max_minutes`` reached, no progress on the dev set, or Ctrl-C or SIGTERM."""


@dataclass(frozen=True)
class StartRecord:
    """A run starts or goes on."""

    step: int
    """Updates made before: 0 for a new run."""
    n_steps: int
    """Updates to make in all."""
    max_minutes: float | None
    """Minutes after which the run stops; none: no limit."""
    device: str
    """Where it trains, such as ``cpu``."""
    n_parameters: int
    """Trained numbers in the model, tied matrices counted once."""
    n_pairs: int
    """Sentence pairs in the training set."""
    resumed_from: str | None
    """The checkpoint that the run goes on from; none: it starts from the beginning."""
    n_ranks: int = 1
    """Processes that train together, each on a device of its own."""


@dataclass(frozen=True)
class StepRecord:
    """Progress, every ``log_every`` steps. Losses are means over the real target tokens since the record before."""

    step: int
    epoch: int
    """From 0."""
    learning_rate: float
    """Of this step."""
    loss: float
    """Smoothed loss, in nats per token."""
    nll: float
    """Minus the log-probability of the correct token, in nats per token. Perplexity is its exponential."""
    grad_norm: float
    """Norm of this step's gradient, before any clipping."""
    n_refused: int
    """Updates that were not made, since loss or gradient was not finite or the gradient far above the usual: of the whole run,
    but for steps that it went back behind."""
    tgt_tokens: int
    """Real target tokens of the whole run so far."""
    tgt_tokens_per_s: float
    """Real target tokens a second since the record before, evaluations and checkpoints not counted."""
    padding: float
    """Share of padding among all source and target positions computed since the record before, 0 to 1."""
    seconds: float
    """Time trained so far, in seconds, that before a resume and all evaluations included."""
    eta_s: float
    """Seconds until the run ends by ``n_steps`` or ``max_minutes``, whichever comes first, as it goes now."""


@dataclass(frozen=True)
class EpochRecord:
    """A pass over the training set is complete."""

    step: int
    epoch: int
    """From 0."""
    n_pairs: int
    """Sentence pairs that were trained on in this pass."""
    n_left_out: int
    """Sentence pairs left out, since a side is longer than ``max_pair_tokens``."""


@dataclass(frozen=True)
class ValidationRecord:
    """The model was tried on the dev set."""

    step: int
    scores: Mapping[str, float]
    """By name; ``perplexity`` (unsmoothed, per token) is always there."""
    is_best: bool
    """True: the best so far by ``train.best_by``; the model was kept as ``best``."""
    took_s: float
    """Seconds it took."""


@dataclass(frozen=True)
class CheckpointRecord:
    """A checkpoint was written."""

    step: int
    path: Path
    took_s: float
    """Seconds it took."""


@dataclass(frozen=True)
class MemoryRecord:
    """How many tokens go through the model at once was found, or halved because memory ran out. Changes no update."""

    step: int
    """Updates made before."""
    device_tokens: int
    """Tokens of one microbatch from now on."""
    why: Literal["fitted", "halved"]


@dataclass(frozen=True)
class BadStepRecord:
    """An update was refused: its loss or gradient was not finite, or its gradient far above the usual."""

    step: int
    why: Literal["not finite", "exploding"]
    loss: float
    """Smoothed loss, in nats per token."""
    grad_norm: float
    path: Path | None
    """Where the batch is saved; none: enough of them are saved already."""


@dataclass(frozen=True)
class RollbackRecord:
    """The run went back to a checkpoint after a bad step, and goes on with the data behind it."""

    step: int
    """Updates of the checkpoint: what is counted on from."""
    bad_step: int
    path: Path
    """The checkpoint."""


@dataclass(frozen=True)
class StopRecord:
    """The run has ended. Everything is saved."""

    step: int
    reason: StopReason
    seconds: float
    """Time trained in all, in seconds."""


Record = (
    StartRecord
    | StepRecord
    | EpochRecord
    | ValidationRecord
    | CheckpointRecord
    | MemoryRecord
    | BadStepRecord
    | RollbackRecord
    | StopRecord
)
Listener = Callable[[Record], None]
Pulse = Callable[[int, Literal["training", "evaluating", "saving"]], None]
"""Is told at every step how many are made and what is going on. It costs nothing: no number is read from the device."""


def no_pulse(step: int, doing: Literal["training", "evaluating", "saving"]) -> None:
    """Be a pulse that nobody feels."""


_KINDS: dict[type[Record], str] = {
    StartRecord: "start",
    StepRecord: "step",
    EpochRecord: "epoch",
    ValidationRecord: "validation",
    CheckpointRecord: "checkpoint",
    MemoryRecord: "memory",
    BadStepRecord: "bad step",
    RollbackRecord: "rollback",
    StopRecord: "stop",
}


def record_to_dict(record: Record) -> dict[str, Any]:
    """Return a record as plain values, with its kind first.

    >>> record_to_dict(StopRecord(step=7, reason="steps", seconds=1.5))
    {'kind': 'stop', 'step': 7, 'reason': 'steps', 'seconds': 1.5}
    """
    values = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(record).items()}
    return {"kind": _KINDS[type(record)], **values}
