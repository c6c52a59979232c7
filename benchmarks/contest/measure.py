"""One measurement: a fresh process, given a job, asked for a report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from contest.contenders import Contender, Setting, Shape
from peers.job import Job, Report

__all__ = ["Bench", "can_be_realtime", "measure"]

BENCHMARKS = Path(__file__).resolve().parents[1]
LENGTH_ALPHA = 0.6
MAX_EXTRA_TOKENS = 50


@dataclass(frozen=True)
class Bench:
    """The directory, outside the checkout, with environments, models and results."""

    path: Path

    def python(self, contender: Contender) -> Path:
        """Return the interpreter of a contender."""
        return self.path / contender.environment / "bin" / "python" if contender.environment else Path(sys.executable)

    def weights(self, shape: Shape) -> Path:
        """Return the bundle of a shape."""
        return self.path / "weights" / shape

    def model(self, contender: Contender, shape: Shape) -> Path:
        """Return the model of a shape in the format of a contender; of several precisions, their parent."""
        if not contender.environment:
            return self.weights(shape)
        return self.path / "models" / contender.name / shape

    def sentences(self, name: str, kind: str) -> Path:
        """Return the file of a test set: ``ids`` of the source, ``src`` or ``tgt`` text, in JSON."""
        return self.path / "sets" / f"{name}.{kind}.json"

    def has(self, contender: Contender) -> bool:
        """Return whether the environment of a contender has been made."""
        return self.python(contender).exists()


def measure(
    bench: Bench,
    setting: Setting,
    shape: Shape,
    name: str,
    *,
    n_sentences: int,
    one_by_one: bool,
    beam: int,
    realtime: bool,
) -> Report:
    """Translate the first sentences of a test set in a new process.

    Args:
        bench: Where everything is.
        setting: Who, and how.
        shape: Which model.
        name: Test set.
        n_sentences: How many.
        one_by_one: True: a call for each sentence.
        beam: Beam size.
        realtime: True: nothing of the normal scheduling class can interrupt it.
    """
    contender = setting.contender
    model = bench.model(contender, shape)
    with tempfile.TemporaryDirectory() as directory:
        job_file, report_file = Path(directory) / "job.json", Path(directory) / "report.json"
        command = [str(bench.python(contender)), "-m", contender.driver, str(job_file), str(report_file)]
        job = Job(
            weights=str(model / setting.precision if contender.per_precision else model),
            engine=contender.engine,
            sources=str(bench.sentences(name, "ids")),
            n_sentences=n_sentences,
            one_by_one=one_by_one,
            beam=beam,
            precision=setting.precision,
            workers=setting.workers,
            threads=setting.threads,
            batch=setting.batch,
            batch_type=setting.batch_type,
            length_alpha=LENGTH_ALPHA,
            max_extra_tokens=MAX_EXTRA_TOKENS,
            started=time.monotonic(),
        )
        job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
        done = subprocess.run(
            [*(("chrt", "-r", "1") if realtime else ()), *command],
            cwd=BENCHMARKS,
            env=_environment(setting),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"failed: {' '.join(command)}\n{done.stderr[-4000:]}")
        return Report(**json.loads(report_file.read_text(encoding="utf-8")))


def can_be_realtime() -> bool:
    """Return whether this user may run processes in the real-time class (``chrt``)."""
    return shutil.which("chrt") is not None and subprocess.run(["chrt", "-r", "1", "true"]).returncode == 0


def _environment(setting: Setting) -> dict[str, str]:
    # Without kept bytecode, which every installed package has, a checkout would be compiled anew at each start.
    unwanted = ("OMP_", "MKL_", "GOMP_", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    if setting.passive:
        environment["OMP_WAIT_POLICY"] = "passive"
    return environment
