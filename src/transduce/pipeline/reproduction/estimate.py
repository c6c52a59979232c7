"""What the rows of a table will take on this machine, before any of them is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce.base.log import plural
from transduce.data.store import TokenStore
from transduce.model.device import choose_device
from transduce.paper.cost import DeviceRating, training_flops
from transduce.pipeline.forecast import Forecast, TokenSample, forecast
from transduce.pipeline.reproduction.finish import rating_of
from transduce.pipeline.reproduction.plan import PlannedRun
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer import load_tokenizers
from transduce.training.machine import device_name
from transduce.training.rate import device_rate

__all__ = ["Estimate", "RunEstimate", "estimate_runs"]


@dataclass(frozen=True)
class RunEstimate:
    """What one run will take."""

    name: str
    n_parameters: int
    flops: float
    """Operations of all its updates, padding aside."""
    device_hours: float | None
    """Time of one device, or of all cores. None: no steps were timed."""
    is_finished: bool
    """True: there is nothing to do any more."""


@dataclass(frozen=True)
class Estimate:
    """What is still to be run will take."""

    runs: tuple[RunEstimate, ...]
    timed: str
    """What was timed."""
    n_devices: int
    """GPUs, or 1 for all cores together."""
    rating: DeviceRating | None
    """What one of them is taken to sustain. None: no steps were timed."""

    @property
    def flops(self) -> float:
        """Operations of what is not finished."""
        return sum(run.flops for run in self.runs if not run.is_finished)

    @property
    def device_hours(self) -> float | None:
        """Hours of one device for what is not finished, translations and scores not counted."""
        hours = [run.device_hours for run in self.runs if not run.is_finished]
        return None if any(one is None for one in hours) else sum(one for one in hours if one is not None)

    @property
    def hours(self) -> float | None:
        """Hours with all devices at work."""
        return None if self.device_hours is None else self.device_hours / self.n_devices

    @property
    def paper_flops(self) -> float | None:
        """What is not finished will cost by the paper's formula: time, times what one device sustains."""
        if self.device_hours is None or self.rating is None:
            return None
        return training_flops(self.device_hours * 3600, 1, self.rating.tflops)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        sums = {name: getattr(self, name) for name in ("flops", "paper_flops", "device_hours", "hours")}
        return asdict(self) | sums

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        rows = [(run.name, _words(run)) for run in self.runs]
        todo = [run for run in self.runs if not run.is_finished]
        rows += [("to do", f"{plural(len(todo), 'run')}, {self.flops:.3g} FLOPs"), ("timed", self.timed)]
        if self.hours is not None and self.device_hours is not None:
            devices = f" of one device, {_time(self.hours)} with {self.n_devices}" if self.n_devices > 1 else ""
            rows.append(("time", f"{_time(self.device_hours)}{devices}; translating and scoring come on top"))
        if self.paper_flops is not None and self.rating is not None:
            sustained = f"{self.rating.tflops:.3g} TFLOP/s, {self.rating.source}"
            rows.append(("cost", f"{self.paper_flops:.3g} FLOPs by the paper's formula ({sustained})"))
        return rows


def estimate_runs(
    runs: Sequence[PlannedRun],
    settings: Mapping[str, RunSettings],
    data: Mapping[str, Path],
    *,
    finished: frozenset[str],
    n_devices: int,
) -> Estimate:
    """Say what runs will take: some steps of the first one that is not finished are timed, and the others follow from their work.

    Args:
        runs: All of them.
        settings: By name of run.
        data: The prepared data, by name of run.
        finished: Names of the runs that are finished.
        n_devices: GPUs that work, or 1 for a CPU with all its cores.
    """
    todo = [run for run in runs if run.name not in finished]
    needs: dict[str, Forecast] = {}
    for run in [*todo, *(run for run in runs if run.name in finished)]:
        is_timed = bool(todo) and run is todo[0]
        needs[run.name] = forecast(
            _sample(data[run.name]), settings[run.name], _n_pairs(data[run.name]), timing=is_timed
        )
    timed = needs[todo[0].name] if todo else None
    seconds_per_flop = timed.total_s / timed.total_flops if timed is not None and timed.total_s is not None else None
    return Estimate(
        runs=tuple(
            RunEstimate(
                name=run.name,
                n_parameters=needs[run.name].n_parameters,
                flops=needs[run.name].total_flops,
                device_hours=None
                if seconds_per_flop is None
                else seconds_per_flop * needs[run.name].total_flops / 3600,
                is_finished=run.name in finished,
            )
            for run in runs
        ),
        timed=f"{todo[0].name}: {timed.timed}" if timed is not None else "nothing, since all is finished",
        n_devices=n_devices,
        rating=_rating(settings[todo[0].name]) if seconds_per_flop is not None else None,
    )


def _rating(settings: RunSettings) -> DeviceRating:
    device = choose_device(settings.train.device, setting="train.device")
    rate = device_rate(device, device_name(device), declared_tflops=settings.train.device_tflops)
    return rating_of(rate.device, rate.tflops, rate.source, settings)


def _sample(data: Path) -> TokenSample:
    tokenizers = load_tokenizers(data / "tokenizer")
    sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
    return TokenSample(TokenStore.open(data / "train"), *sizes, is_estimate=False)


def _n_pairs(data: Path) -> int:
    return len(TokenStore.open(data / "train"))


def _words(run: RunEstimate) -> str:
    text = f"{run.n_parameters / 1e6:.3g} million parameters, {run.flops:.3g} FLOPs"
    if run.is_finished:
        return f"{text}; finished"
    return text if run.device_hours is None else f"{text}, {_time(run.device_hours)}"


def _time(hours: float) -> str:
    """Write a time that is only roughly known.

    >>> _time(0.001), _time(0.2), _time(11.26)
    ('less than a minute', '12 minutes', '11.3 hours')
    """
    if hours < 1 / 60:
        return "less than a minute"
    return f"{hours:.1f} hours" if hours >= 2 else f"{60 * hours:.0f} minutes"
