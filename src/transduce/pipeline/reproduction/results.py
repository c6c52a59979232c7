"""What a finished run of a reproduction leaves behind: ``result.json``, its translations, and a score for each sentence."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.base.files import atomic_file, read_lines
from transduce.base.plain import as_plain, from_plain
from transduce.metrics.score import Score
from transduce.pipeline.reproduction.plan import PlannedRun, Run, run_name
from transduce.training.account import Costs

__all__ = [
    "OUTPUT_FILE",
    "SENTENCES_FILE",
    "TRAIN_FILE",
    "TRANSLATIONS_FILE",
    "Failure",
    "RunCost",
    "RunResult",
    "SentenceLosses",
    "begin_run",
    "check_run",
    "list_results",
    "read_failure",
    "read_result",
    "read_result_as",
    "read_sentence_losses",
    "write_failure",
    "write_result",
]

PLAN_FILE = "plan.json"
RESULT_FILE = "result.json"
FAILURE_FILE = "failure.json"
TRANSLATIONS_FILE = "translations.txt"
TRAIN_FILE = "train.json"
SENTENCES_FILE = "sentences.jsonl"
OUTPUT_FILE = "output.txt"
"""What the processes of the run have said."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What a directory of a run is for."""

    digest: str
    overrides: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RunCost:
    """What a run has cost, from its ledger."""

    costs: Costs
    device: str
    """What worked last; what worked before is in the other numbers too."""
    n_devices: int
    tflops: float
    """What one device is taken to sustain."""
    tflops_source: str
    """Where that is from, in words."""
    paper_flops: float
    """Time trained, times devices, times that, of each session with its own devices."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A run that has been trained and scored."""

    format: Literal[1] = 1
    row: str
    seed: int
    digest: str
    """Of its settings: :attr:`transduce.pipeline.reproduction.plan.PlannedRun.digest`."""
    part: Literal["dev", "test"]
    """What it was scored on."""
    n_parameters: int
    step: int
    """Updates made."""
    made_of: str
    """What its weights are, in words."""
    perplexity: float
    """Per word-piece of the references, EOS included."""
    n_tokens: int
    """Those word-pieces."""
    scores: tuple[Score, ...]
    """Of the translations, in all flavours."""
    cost: RunCost
    commits: tuple[str, ...]
    """Of this package, with which it was trained, the first one first; none: it is not a checkout."""

    def __post_init__(self) -> None:
        if not (self.scores and 1 <= self.perplexity < math.inf and self.n_parameters > 0 and self.n_tokens > 0):
            raise ValueError("a number in it cannot be")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A run that has ended before its end."""

    digest: str
    message: str
    """What its process said last, on one line."""
    output: str
    """The file with everything that it said."""


class AnyResult(Protocol):
    """A dataclass that says what a run gave."""

    @property
    def digest(self) -> str:
        """Of the settings of the run."""
        ...


Result = TypeVar("Result", bound=AnyResult)


@dataclass(frozen=True)
class SentenceLosses:
    """How well a model foretells each reference. Sentences that were not scored count no token."""

    nats: npt.NDArray[np.float64]
    """Negative natural log-probability of each."""
    n_tokens: npt.NDArray[np.float64]
    """Word-pieces of each, EOS included."""

    @property
    def perplexity(self) -> float:
        """Per word-piece, over all."""
        return math.exp(float(self.nats.sum() / self.n_tokens.sum()))


def check_run(run: Run, out: Path) -> None:
    """Make sure that the directory of a run is free, or holds what was made with the same settings.

    Raises:
        DataError: It holds something else, which would be gone on with.
    """
    path = run.directory(out) / PLAN_FILE
    if not run.directory(out).exists():
        return
    try:
        plan = from_plain(_Plan, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{path}: is missing or damaged; remove {path.parent}, and run again") from None
    if plan.digest != run.digest:
        other = next((old for old in plan.overrides if old not in run.overrides), "less than now")
        raise DataError(f"{path.parent}: holds a run with other settings ({other}); remove it, or choose another --out")


def begin_run(run: Run, out: Path) -> None:
    """Make the directory of a run, and note what it is for."""
    run.directory(out).mkdir(parents=True, exist_ok=True)
    _write(run.directory(out) / PLAN_FILE, _Plan(digest=run.digest, overrides=run.overrides))


def list_results(out: Path) -> list[RunResult]:
    """Return the results of all runs that lie in a directory, by name.

    A directory with another name than its run has is a copy that a person has made; the run is not counted twice.

    Raises:
        DataError: One of them is damaged.
    """
    found = {path.parent.name: _read(path, RunResult) for path in sorted(out.glob(f"runs/*/{RESULT_FILE}"))}
    return [result for name, result in found.items() if name == run_name(result.row, result.seed)]


def read_result(run: PlannedRun, out: Path) -> RunResult | None:
    """Return the result of a run; None: it is not finished, or was made with other settings.

    Raises:
        DataError: It is damaged.
    """
    return read_result_as(RunResult, run, out)


def read_result_as(kind: type[Result], run: Run, out: Path) -> Result | None:
    """Return the result of a run that leaves a result of some kind; None: as :func:`read_result`.

    Args:
        kind: A dataclass.
        run: The run.
        out: The directory of the reproduction.

    Raises:
        DataError: It is damaged.
    """
    path = run.directory(out) / RESULT_FILE
    result = _read(path, kind) if path.exists() else None
    return result if result is not None and result.digest == run.digest else None


def read_failure(run: Run, out: Path) -> Failure | None:
    """Return how a run has failed; None: it has not, or it was one with other settings."""
    path = run.directory(out) / FAILURE_FILE
    try:
        failure = from_plain(Failure, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None  # a note for people: what it says of a run is found out anew by trying again
    return failure if failure.digest == run.digest else None


def write_result(run: Run, out: Path, result: AnyResult) -> None:
    """Write the result of a run; with it the run is finished."""
    _write(run.directory(out) / RESULT_FILE, result)
    (run.directory(out) / FAILURE_FILE).unlink(missing_ok=True)


def write_failure(run: Run, out: Path, message: str) -> Failure:
    """Note that a run has failed, and why; it is tried again the next time."""
    directory = run.directory(out)
    failure = Failure(
        digest=run.digest, message=" ".join(message.split()), output=str((directory / OUTPUT_FILE).relative_to(out))
    )
    _write(directory / FAILURE_FILE, failure)
    return failure


def read_sentence_losses(directory: Path) -> SentenceLosses:
    """Return what ``transduce score --json`` has said of the references.

    Args:
        directory: Of the run.

    Raises:
        DataError: The file is missing or damaged.
    """
    path = directory / SENTENCES_FILE
    lines = list(read_lines(path))
    try:
        values = [json.loads(line) for line in lines]
        nats = np.array([-(value["log_prob"] or 0.0) for value in values], dtype=np.float64)
        n_tokens = np.array([value["n_tokens"] for value in values], dtype=np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: is damaged ({error}); remove the directory of the run, and run again") from None
    if not n_tokens.sum():
        raise DataError(f"{path}: no sentence was scored; remove the directory of the run, and run again")
    return SentenceLosses(nats, n_tokens)


def _read(path: Path, kind: type[Result]) -> Result:
    try:
        return from_plain(kind, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        reason: Any = error.strerror if isinstance(error, OSError) else "it is damaged or of another version"
        raise DataError(f"{path}: cannot be read ({reason}); remove it, and run again") from None


def _write(path: Path, content: _Plan | AnyResult | Failure) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(json.dumps(as_plain(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
