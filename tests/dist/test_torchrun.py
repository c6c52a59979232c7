"""The multi-process command as it is printed in the documentation, with ``torchrun`` and gloo on the CPU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import settings
from tests.e2e.conftest import _write
from transduce.bundle.run import list_checkpoints

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SHORT = (
    "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=32", "model.d_ff=32", "model.n_heads=2",
    "train.batch_tokens=200", "train.device=cpu", "train.validate_pairs=3", "train.log_every=1", "train.average_last=1",
    "train.checkpoint_every=5", "decode.max_extra_tokens=2",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("torchrun")
    files = {part: _write(root, part, seed, count) for seed, (part, count) in enumerate((("train", 300), ("dev", 10)))}
    options = [item for part, (src, tgt) in files.items() for item in (f"--{part}-src", src, f"--{part}-tgt", tgt)]
    done = run_cli(
        "prepare", "--out", root / "data", *options, *settings("tokenizer.vocab_size=300", "data.n_workers=1")
    )
    assert done.code == 0, done.err
    return root / "data"


def _start(data: Path, out: Path, *changes: str, n_processes: int = 2) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes)),
            *(
                "-m",
                "transduce",
                "train",
                "--data",
                str(data),
                "--out",
                str(out),
                "--resume",
                *map(str, settings(*SHORT, *changes)),
            ),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _said(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_a_run_to_its_end(data: Path, tmp_path: Path) -> None:
    process = _start(data, tmp_path / "run", "train.n_steps=6", "train.validate_every=6")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert len(_said(err, "step 6/6")) == 1  # one process says it
    assert out.count("translate with") == 1
    assert (tmp_path / "run" / "model" / "bundle.json").is_file()


def test_a_signal_to_torchrun_saves_once(data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = _start(data, run, "train.n_steps=100000", "train.validate_every=100000")
    while not list_checkpoints(run):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert len([line for line in err.splitlines() if "everything is saved in" in line]) == 1, err
    last = list_checkpoints(run)[-1]
    assert f"stopped at step {int(last.name[5:])}" in err


def test_a_mistake_is_said_once(data: Path, tmp_path: Path) -> None:
    process = _start(data, tmp_path / "run", "train.warmup_stepz=3")
    _, err = process.communicate()
    assert process.returncode != 0
    assert err.count("did you mean 'warmup_steps'?") == 1, err
