"""What a person sees while a model trains: a bar with speed and time left, or plain lines where there is no terminal."""

from __future__ import annotations

import math
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Literal, final

from transduce.training.records import (
    BadStepRecord,
    CheckpointRecord,
    EpochRecord,
    MemoryRecord,
    Record,
    RollbackRecord,
    StartRecord,
    StepRecord,
    StopRecord,
    ValidationRecord,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["TrainingProgress", "format_duration", "format_record"]


@final
class TrainingProgress:
    """A listener that shows a run on stderr. Use it as a context, so that the bar is always taken down.

    The bar is there from the start of the run to its end: what comes before and after has stderr for itself.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()  # asked once: while a bar is up, rich stands in for stderr
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._n_steps = 0

    def __enter__(self) -> TrainingProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._take_down()

    def __call__(self, record: Record) -> None:
        """Show one record."""
        if isinstance(record, StartRecord):
            self._n_steps = record.n_steps
            if self._is_terminal:
                self._put_up(record)
        line = format_record(record, self._n_steps)
        if self._bar is not None and self._task is not None and isinstance(record, StepRecord):
            eta = format_duration(record.eta_s)
            self._bar.update(self._task, completed=record.step, about=_about_briefly(record), eta=eta)
        elif line:
            sys.stderr.write(line + "\n")  # rich puts it above the bar
            sys.stderr.flush()
        if isinstance(record, StopRecord):
            self.pulse(record.step, "saving")
            self._take_down()

    def pulse(self, step: int, doing: Literal["training", "evaluating", "saving"]) -> None:
        """Move the bar to a step, and say what is going on."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=step, description=doing)

    def _put_up(self, record: StartRecord) -> None:
        self._bar = _make_bar()
        self._task = self._bar.add_task(
            "training", total=record.n_steps, completed=record.step, about="", eta=format_duration(math.inf)
        )
        self._bar.start()

    def _take_down(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None


def format_duration(seconds: float) -> str:
    """Write a time as hours, minutes and seconds.

    >>> format_duration(75), format_duration(3725), format_duration(float("inf"))
    ('1:15', '1:02:05', '?')
    """
    if not math.isfinite(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_record(record: Record, n_steps: int) -> str:
    """Write a record as one plain line; nothing for a record that a person need not see."""
    match record:
        case StartRecord():
            goes_on = f", going on from {record.resumed_from}" if record.resumed_from else ""
            ranks = f", {record.n_ranks} processes" if record.n_ranks > 1 else ""
            return f"training {record.n_parameters:,} parameters on {record.n_pairs:,} pairs, on {record.device}{ranks}{goes_on}"
        case StepRecord():
            return f"step {record.step:,}/{n_steps:,}  {_about_step(record)}  eta {format_duration(record.eta_s)}"
        case ValidationRecord():
            scores = "  ".join(f"{name} {value:.2f}" for name, value in record.scores.items())
            best = "  (best so far)" if record.is_best else ""
            return f"dev set after step {record.step:,}: {scores}{best}  [{record.took_s:.1f} s]"
        case EpochRecord(n_left_out=0):
            return ""
        case EpochRecord():
            left_out = f"{record.n_left_out:,} left out as too long (train.max_pair_tokens)"
            return (
                f"epoch {record.epoch + 1} is complete: {record.n_pairs:,} pairs, {left_out}"
                if record.epoch == 0
                else ""
            )
        case CheckpointRecord():
            return f"checkpoint {record.path}"
        case MemoryRecord(why="fitted"):
            return f"train.device_tokens = {record.device_tokens:,} fit the memory that is free"
        case MemoryRecord() | BadStepRecord():
            return ""  # a warning has said so
        case RollbackRecord():
            return f"back to {record.path} after the bad step {record.bad_step:,}, and on with the data behind it"
        case StopRecord():
            return f"stopped after step {record.step:,} ({record.reason}), {format_duration(record.seconds)} in all"


def _about_step(record: StepRecord) -> str:
    text = (
        f"epoch {record.epoch + 1}  loss {record.loss:.3f}  perplexity {_exp(record.nll):.2f}  "
        f"lr {record.learning_rate:.2e}  {record.tgt_tokens_per_s:,.0f} tok/s"
    )
    return text + _about_refused(record)


def _about_briefly(record: StepRecord) -> str:
    """What stands beside the bar in a window of 80 columns. ``log.jsonl`` has the rest."""
    text = f"epoch {record.epoch + 1}  perplexity {_exp(record.nll):.2f}  {record.tgt_tokens_per_s:,.0f} tok/s"
    return text + _about_refused(record)


def _about_refused(record: StepRecord) -> str:
    return f"  {record.n_refused} updates refused" if record.n_refused else ""


def _exp(nats: float) -> float:
    return math.exp(min(nats, 700.0))  # beyond that a float is full; the number means nothing anyway


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
    from rich.table import Column

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),  # as wide as the rest leaves it
        TextColumn("{task.fields[about]}"),
        TextColumn("eta {task.fields[eta]}"),  # of the record, which knows train.max_minutes; rich counts steps alone
        console=Console(stderr=True),
        expand=True,
        refresh_per_second=4,
    )
