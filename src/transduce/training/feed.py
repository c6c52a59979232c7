"""The steps of an epoch from a place in it on: which pairs, their tensors, and whether the epoch ends there."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from transduce.data.batching import EpochPlace, StepPlan, plan_epoch
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.loader import StepBatches, load_batches
from transduce.data.store import TokenStore
from transduce.training.settings import TrainSettings

__all__ = ["FedStep", "feed_steps"]


@dataclass(frozen=True)
class FedStep:
    """One step, ready to be made."""

    plan: StepPlan
    """The pairs of the global batch."""
    batches: StepBatches
    """Their tensors, or those of this rank's share."""
    is_last: bool
    """True: the epoch ends with it."""

    @property
    def place_after(self) -> EpochPlace:
        """The place in the epoch behind the step."""
        return self.plan.place._replace(step=self.plan.place.step + 1)


def feed_steps(
    train: TokenStore,
    settings: TrainSettings,
    *,
    epoch: int,
    start: EpochPlace,
    device_tokens: int,
    rank: int = 0,
    world_size: int = 1,
    bpe_dropout: BpeDropout | None = None,
) -> Generator[FedStep, None, None]:
    """Yield the steps of an epoch in order; a thread makes the tensors of the next ones meanwhile.

    Args:
        train: The pairs.
        settings: What decides which pairs make up each step.
        epoch: Which pass, from 0.
        start: Where in it to begin.
        device_tokens: Tokens of a microbatch at most.
        rank: The rank whose share is loaded.
        world_size: The number of ranks.
        bpe_dropout: Cuts the pairs into pieces anew.
    """
    plans = plan_epoch(
        train,
        batch_tokens=settings.batch_tokens,
        pool_pairs=settings.pool_pairs,
        max_pair_tokens=settings.max_pair_tokens,
        seed=settings.seed,
        epoch=epoch,
        start=start,
    )
    ahead: deque[StepPlan] = deque()  # planned, and not yet made
    loaded = load_batches(
        train,
        _note(plans, ahead),
        device_tokens=device_tokens,
        rank=rank,
        world_size=world_size,
        resegment=partial(bpe_dropout.resegment, epoch=epoch) if bpe_dropout is not None else None,
    )
    batches = next(loaded, None)
    while batches is not None:
        following = next(loaded, None)
        yield FedStep(ahead.popleft(), batches, is_last=following is None)
        batches = following


def _note(plans: Iterable[StepPlan], ahead: deque[StepPlan]) -> Iterator[StepPlan]:
    for plan in plans:
        ahead.append(plan)
        yield plan
