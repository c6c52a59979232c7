"""The records of a start and of a step, and what a step is counted as."""

from __future__ import annotations

from pathlib import Path

from transduce.data.loader import StepBatches
from transduce.model.transformer import Transformer
from transduce.training.checkpoint import Progress
from transduce.training.meter import Meter, MeterReading
from transduce.training.records import StartRecord, StepRecord
from transduce.training.settings import TrainSettings
from transduce.training.step import TallyReading
from transduce.training.work import Layout, WorkListener, batch_work
from transduce.training.world import World

__all__ = ["count_step", "start_record", "step_record"]


def start_record(
    progress: Progress,
    settings: TrainSettings,
    world: World,
    model: Transformer,
    *,
    n_pairs: int,
    resumed_from: Path | None,
) -> StartRecord:
    """Return what a run says when it starts or goes on."""
    return StartRecord(
        step=progress.step,
        n_steps=settings.n_steps,
        max_minutes=settings.max_minutes,
        device=str(world.device),
        n_parameters=sum(parameter.numel() for parameter in model.parameters()),
        n_pairs=n_pairs,
        resumed_from=str(resumed_from) if resumed_from is not None else None,
        n_ranks=world.size,
    )


def step_record(progress: Progress, lr: float, sums: TallyReading, speed: MeterReading) -> StepRecord:
    """Return what a run says of its steps since the last such record."""
    return StepRecord(
        step=progress.step,
        epoch=progress.epoch,
        learning_rate=lr,
        loss=sums.loss,
        nll=sums.nll,
        grad_norm=sums.grad_norm,
        n_refused=sums.n_refused,
        tgt_tokens=progress.tgt_tokens,
        tgt_tokens_per_s=speed.tgt_tokens_per_s,
        padding=speed.padding,
        seconds=speed.seconds,
        eta_s=speed.eta_s,
    )


def count_step(step: StepBatches, engine: str, meter: Meter, work_listener: WorkListener | None) -> None:
    """Count the target tokens of the whole step, and the padding and the work of this rank's share."""
    n_positions = n_real = 0
    for batch in step.microbatches:
        n_positions += batch.src.numel() + batch.tgt_in.numel()
        n_real += batch.n_src_tokens + batch.n_tgt_tokens
    if work_listener is not None:
        layout: Layout = "packed" if engine == "native" else "padded"
        work_listener([batch_work(batch, layout) for batch in step.microbatches])
    meter.add(n_tgt_tokens=step.n_tgt_tokens, n_positions=n_positions, n_padded=n_positions - n_real)
