"""One measurement: a fresh process, given a job, asked for a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from peers.training.job import TrainingJob, TrainingReport
from race.cells import Cell, Contender

__all__ = ["batches_of", "has", "measure", "run_driver"]

BENCHMARKS = Path(__file__).resolve().parents[1]
P_DROPOUT = 0.1
LABEL_SMOOTHING = 0.1
LEARNING_RATE = 5e-4
"""Constant: what schedule a peer would use changes no time."""


def measure(
    bench: Path,
    contender: Contender,
    cell: Cell,
    *,
    threads: int,
    warmup_steps: int,
    n_steps: int,
    seconds: float,
    seed: int,
    realtime: bool,
) -> TrainingReport:
    """Train for some steps in a new process.

    Args:
        bench: Where everything is.
        contender: Who.
        cell: What.
        threads: CPU threads.
        warmup_steps: Steps before the clock runs.
        n_steps: Steps that are timed, at least.
        seconds: Go on until they have taken so long.
        seed: Of weights and dropout.
        realtime: True: nothing of the normal scheduling class can interrupt it.
    """
    job = TrainingJob(
        batches=str(batches_of(bench, cell).resolve()),
        n_layers=cell.n_layers,
        d_model=cell.d_model,
        d_ff=cell.d_ff,
        n_heads=cell.n_heads,
        vocab_size=cell.vocab_size,
        threads=threads,
        warmup_steps=warmup_steps + contender.extra_warmup_steps,
        n_steps=n_steps,
        seconds=seconds,
        p_dropout=P_DROPOUT,
        label_smoothing=LABEL_SMOOTHING,
        lr=LEARNING_RATE,
        seed=seed,
        started=time.monotonic(),
        engine=contender.engine,
    )
    with tempfile.TemporaryDirectory() as directory:
        job_file, report_file = Path(directory) / "job.json", Path(directory) / "report.json"
        job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
        command = [str(_python(bench, contender)), "-m", contender.driver, str(job_file), str(report_file)]
        run_driver(command, realtime=realtime)
        return TrainingReport(**json.loads(report_file.read_text(encoding="utf-8")))


def run_driver(command: list[str], *, realtime: bool) -> None:
    """Run a process in the environment that all get: threads that wait sleep, and no setting of the caller's.

    Raises:
        SystemExit: It failed; with the end of what it said.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MKL_", "GOMP_"))}
    environment["OMP_WAIT_POLICY"] = "passive"
    done = subprocess.run(
        [*(("chrt", "-r", "1") if realtime else ()), *command],
        cwd=BENCHMARKS,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stderr[-4000:]}")


def has(bench: Path, contender: Contender) -> bool:
    """Return whether the environment of a contender has been made."""
    return _python(bench, contender).exists()


def batches_of(bench: Path, cell: Cell) -> Path:
    """Return the file of the batches of a cell."""
    return bench / "training" / f"batches-{cell.batch_tokens}.json"


def _python(bench: Path, contender: Contender) -> Path:
    # Not resolved: the link in an environment is what makes Python use it.
    return Path(sys.executable) if contender.is_ours else bench.absolute() / contender.environment / "bin" / "python"
