"""What the benchmark asks of a driver, and what the driver answers: two JSON files. Standard library only.

A driver is a fresh process for every measurement. ``started`` is the clock of the machine just before it was started, so
that the time to the first sentence includes the interpreter, the imports and the loading of the model.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["BOS_ID", "EOS_ID", "PAD_ID", "Job", "Report", "by_length", "peak_bytes", "read_job", "run_job"]

PAD_ID, BOS_ID, EOS_ID = 0, 1, 2

Ids = list[int]


@dataclass(frozen=True)
class Job:
    """One measurement."""

    weights: str
    """Directory of the model in the contender's own format."""
    engine: str
    """What computes the model, where the contender has several ways; else empty."""
    sources: str
    """JSON file with a list of sentences in ids, EOS not among them."""
    n_sentences: int
    """How many of them to translate, from the first on."""
    one_by_one: bool
    """True: each sentence is a call of its own, and is timed. False: all are handed over in one call."""
    beam: int
    precision: str
    """``float32`` or ``int8``."""
    workers: int
    """Batches computed at the same time."""
    threads: int
    """CPU threads of each worker."""
    batch: int
    """Sentences or tokens of a batch."""
    batch_type: str
    """What ``batch`` counts: ``examples`` or ``tokens``."""
    length_alpha: float
    max_extra_tokens: int
    started: float
    """Of ``time.monotonic``, in seconds."""


@dataclass(frozen=True)
class Report:
    """What a measurement found. Seconds, bytes."""

    ready_s: float
    """From the start of the process to a model that can translate."""
    first_s: float
    """From the start of the process to the end of the first call."""
    seconds: float
    """Translating, loading not counted."""
    latencies: list[float]
    """Of each sentence, if they were translated one by one."""
    peak_bytes: int
    """Most resident memory of the process."""
    n_tokens: int
    """Target tokens written, EOS counted."""
    hypotheses: list[Ids]
    """The best translation of each sentence in ids, EOS not among them."""


def read_job() -> Job:
    """Read the job that the first argument of the command names."""
    return Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))


def run_job(job: Job, translate: Callable[[list[Ids]], list[Ids]]) -> None:
    """Translate what a job asks for, and write the report to the file that the second argument of the command names.

    Args:
        job: From :func:`read_job`.
        translate: Gives the best translation of each sentence, in order: ids, EOS not among them.
    """
    ready_s = time.monotonic() - job.started
    sources: list[Ids] = json.loads(Path(job.sources).read_text(encoding="utf-8"))[: job.n_sentences]
    calls = [[source] for source in sources] if job.one_by_one else [sources]
    hypotheses: list[Ids] = []
    latencies: list[float] = []
    first_s = 0.0
    for call in calls:
        begin = time.perf_counter()
        hypotheses += translate(call)
        latencies.append(time.perf_counter() - begin)
        first_s = first_s or time.monotonic() - job.started
    report = Report(
        ready_s=ready_s,
        first_s=first_s,
        seconds=sum(latencies),
        latencies=latencies if job.one_by_one else [],
        peak_bytes=peak_bytes(),
        n_tokens=sum(len(ids) + 1 for ids in hypotheses),
        hypotheses=hypotheses,
    )
    Path(sys.argv[2]).write_text(json.dumps(asdict(report)), encoding="utf-8")


def peak_bytes() -> int:
    """Return the most resident memory that this process has had (Linux).

    Not ``getrusage``: its figure survives ``exec``, and would begin with that of the process that started this one.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def by_length(sources: Sequence[Ids], batch: int) -> list[list[int]]:
    """Cut sentences into batches of similar length, longest first: indexes, for peers that leave this to their user."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    return [order[start : start + batch] for start in range(0, len(order), batch)]
