"""When a run stops: what the ranks see of signals and clocks, and what all of them do about it."""

from __future__ import annotations

from typing import NamedTuple

from transduce.training.checkpoint import Progress
from transduce.training.interrupt import Interrupt
from transduce.training.meter import Meter
from transduce.training.records import StopReason
from transduce.training.settings import TrainSettings
from transduce.training.world import World

__all__ = ["Signs", "read_signs", "reason_to_stop"]


class Signs(NamedTuple):
    """What at least one rank sees at some moment: the same on all of them."""

    is_interrupted: bool
    """A signal came."""
    is_out_of_time: bool
    """``max_minutes`` are over."""
    is_save_due: bool
    """The last checkpoint is ``checkpoint_minutes`` old."""


def read_signs(world: World, interrupt: Interrupt, meter: Meter, settings: TrainSettings, *, saved_s: float) -> Signs:
    """Ask all ranks at once. Signals and clocks are each rank's own: what one of them sees, all act on.

    Args:
        world: The ranks.
        interrupt: Knows of the signals that this rank got.
        meter: The clock of this rank.
        settings: After how long the run stops, and saves.
        saved_s: Time of the run at the last checkpoint, in seconds.

    Raises:
        TrainingError: A rank does not answer.
    """
    minutes = settings.checkpoint_minutes
    is_save_due = minutes is not None and meter.seconds - saved_s >= 60 * minutes
    return Signs(*world.any(interrupt.requested, meter.is_out_of_time, is_save_due))


def reason_to_stop(progress: Progress, settings: TrainSettings, signs: Signs) -> StopReason | None:
    """Return why a run stops where it stands; None: it goes on."""
    if signs.is_interrupted:
        return "interrupted"
    if progress.step >= settings.n_steps:
        return "steps"
    if settings.patience is not None and progress.n_bad_validations >= settings.patience:
        return "patience"
    return "minutes" if signs.is_out_of_time else None
