"""Killed without warning while it saves at every step: the next start always finds a good checkpoint (case B061)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.training.toy import ToyRun
from transduce.bundle.run import list_checkpoints

_REPOSITORY = Path(__file__).resolve().parents[2]
_PROGRAM = """
import sys
from pathlib import Path
from tests.unit.training.toy import ToyRun, toy_settings
settings = toy_settings(n_steps=int(sys.argv[2]), checkpoint_every=1, validate_every=1, keep_checkpoints=3)
ToyRun(Path(sys.argv[1])).trainer("a", settings).run(resume=True)
"""


def _start(root: Path, n_steps: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _PROGRAM, str(root), str(n_steps)], cwd=_REPOSITORY)


def _last_step(run_dir: Path) -> int:
    return max((int(path.name[5:]) for path in list_checkpoints(run_dir)), default=0)


@pytest.mark.slow
def test_killed_while_saving(tmp_path: Path) -> None:
    ToyRun(tmp_path)  # makes the data
    run_dir, delays = tmp_path / "a", random.Random(1)
    for _ in range(4):
        before = _last_step(run_dir)
        process = _start(tmp_path, n_steps=100_000)
        while _last_step(run_dir) < before + 2:
            assert process.poll() is None, "the run ended by itself"
            time.sleep(0.01)
        time.sleep(delays.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed_at = _last_step(run_dir)
        assert _start(tmp_path, n_steps=killed_at + 2).wait() == 0
        assert _last_step(run_dir) == killed_at + 2
    assert not list(run_dir.rglob(".*"))
    run = ToyRun(tmp_path)
    steps = [step for (step,) in run.log("a", "step", "step")]
    assert steps == list(range(1, steps[-1] + 1))
