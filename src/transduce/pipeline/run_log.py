"""Reading what a run wrote about itself: its log, as curves and as a summary."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from transduce.base.errors import DataError
from transduce.training.trackers import LOG_FILE

__all__ = ["Curve", "Point", "RunSummary", "is_run", "read_curves", "read_records", "summarize_run"]

_STEP_CURVES = ("loss", "nll", "learning_rate", "grad_norm", "tgt_tokens_per_s")


@dataclass(frozen=True)
class Point:
    """A value of a curve."""

    step: int
    seconds: float
    """Time trained until then, as the log has it, or in proportion between two of its lines."""
    value: float


@dataclass(frozen=True)
class Curve:
    """The values of one thing over a run, in the order of the steps. What is not finite is left out."""

    name: str
    """As in the log; scores on the dev set begin with ``dev``: ``dev perplexity``."""
    points: tuple[Point, ...]


@dataclass(frozen=True)
class RunSummary:
    """A run in a few values."""

    step: int
    """Updates made, as far as the log says."""
    n_steps: int
    """Updates to make in all."""
    reason: str | None
    """Why it ended. None: it goes on, or was killed."""
    minutes: float
    """Time trained, evaluations included."""
    tgt_tokens_per_s: float | None
    """Median speed in real target tokens. None: no line of the log has one."""
    n_refused: int
    """Updates that were not made, since their gradient was not finite."""
    best_step: int | None
    """The step after which the best model was kept. None: there was no evaluation."""
    best_scores: Mapping[str, float]
    """Its scores on the dev set."""
    last_scores: Mapping[str, float]
    """Those of the last evaluation."""

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        ended = f"ended: {self.reason}" if self.reason else "still going on, or killed"
        rows = [("steps", f"{self.step:,} of {self.n_steps:,} ({ended})"), ("time", f"{self.minutes:.1f} minutes")]
        if self.tgt_tokens_per_s is not None:
            rows.append(("speed", f"{self.tgt_tokens_per_s:,.0f} target tokens a second (median)"))
        if self.n_refused:
            rows.append(("refused updates", f"{self.n_refused:,}, since their gradient was not finite"))
        if self.best_step is not None:
            rows.append(("best", f"step {self.best_step:,}: {_words(self.best_scores)}"))
            rows.append(("last", _words(self.last_scores)))
        return rows


def is_run(path: Path) -> bool:
    """Tell whether a directory is one that training writes to."""
    return (path / LOG_FILE).is_file()


def read_records(run: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's log. One that is not whole, as the last one of a running process may be, is left out.

    Raises:
        DataError: There is no log, or it cannot be read.
    """
    path = run / LOG_FILE
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path}: the log of the run cannot be read ({error.strerror or error})") from None
    return list(_whole(lines))


def read_curves(records: list[dict[str, Any]]) -> list[Curve]:
    """Return the curves of a run: of training, then of the dev set. A curve without points is left out."""
    steps = [record for record in records if record["kind"] == "step"]
    points: dict[str, list[Point]] = {name: [] for name in _STEP_CURVES}
    for record in steps:
        for name in _STEP_CURVES:
            if _is_number(record.get(name)):
                points[name].append(Point(record["step"], record["seconds"], record[name]))
    known = [0, *(record["step"] for record in steps)], [0.0, *(record["seconds"] for record in steps)]
    for record in records:
        if record["kind"] == "validation":
            seconds = float(np.interp(record["step"], *known))
            for name, score in record["scores"].items():
                if _is_number(score):
                    points.setdefault(f"dev {name}", []).append(Point(record["step"], seconds, score))
    return [Curve(name, tuple(found)) for name, found in points.items() if found]


def summarize_run(records: list[dict[str, Any]]) -> RunSummary:
    """Return a run in a few values."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        by_kind.setdefault(record["kind"], []).append(record)
    steps, validations = by_kind.get("step", []), by_kind.get("validation", [])
    best = next((record for record in reversed(validations) if record["is_best"]), None)
    is_stopped = records[-1]["kind"] == "stop" if records else False
    speeds = [record["tgt_tokens_per_s"] for record in steps if _is_number(record.get("tgt_tokens_per_s"))]
    return RunSummary(
        step=max((record["step"] for record in records), default=0),
        n_steps=max((record["n_steps"] for record in by_kind.get("start", [])[-1:]), default=0),
        reason=records[-1]["reason"] if is_stopped else None,
        minutes=max((record["seconds"] for record in records if "seconds" in record), default=0.0) / 60,
        tgt_tokens_per_s=median(speeds) if speeds else None,
        n_refused=max((record.get("n_refused", 0) for record in steps), default=0),
        best_step=best["step"] if best is not None else None,
        best_scores=_finite(best["scores"]) if best is not None else {},
        last_scores=_finite(validations[-1]["scores"]) if validations else {},
    )


def _whole(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "kind" in record and isinstance(record.get("step"), int):
            yield record


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _finite(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if _is_number(score)}


def _words(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in scores.items())
