"""Killed without warning at any moment: the next start finds a good checkpoint, and nothing but time is lost (case B061)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.bundle.directory import read_bundle

_REPOSITORY = Path(__file__).resolve().parents[2]
_SETTINGS: dict[str, Any] = {
    "n_steps": 10,
    "device_tokens": 40,
    "checkpoint_every": 2,
    "validate_every": 3,
    "keep_checkpoints": 2,
    "keep_every": 4,
    "ema_decay": 0.9,
}
_N_STEPS, _EVERY = 10, 2


class _Server:
    """Starts runs in a process of its own, and kills them."""

    def __init__(self, root: Path) -> None:
        ToyRun(root)  # makes the data
        command = [sys.executable, "-m", "tests.parity.fork_server", str(root)]
        self._process = subprocess.Popen(
            command,
            cwd=_REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def start(self, run: str, *, event: int | None = None, seconds: float | None = None) -> dict[str, Any]:
        """Train until the end, or until it is killed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {"run": run, "settings": _SETTINGS, "event": event, "seconds": seconds}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert not answer["failed"], "a run that was killed before cannot go on"
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[_Server]:
    server = _Server(tmp_path)
    yield server
    server.close()


def _kill_often(server: _Server, root: Path, n_kills: int, seed: int) -> None:
    """Kill run after run, and go on with each until it ends; every ending is that of a run that was never killed."""
    draw, kills, number = random.Random(seed), 0, 0
    whole = ToyRun(root)
    whole.trainer("whole", toy_settings(**_SETTINGS)).run(resume=False)
    while kills < n_kills:
        number += 1
        name, saved, has_ended = f"run-{number}", 0, False
        while not has_ended:
            if kills >= n_kills:
                answer = server.start(name)
            elif draw.random() < 0.5:
                answer = server.start(name, event=draw.randint(1, 800))
            else:
                answer = server.start(name, seconds=draw.uniform(0.0, 0.4))
            if answer["steps"]:  # it has come as far as to read a checkpoint
                assert answer["steps"][0] >= saved, f"{name} lost a checkpoint that was written"
                # What was saved when the kill came may be one further than what was told.
                assert answer["steps"][0] <= saved + _EVERY
                saved = answer["steps"][-1]
            kills += answer["killed"]
            has_ended = not answer["killed"]
        for file in ("model.safetensors", "state.safetensors"):
            assert whole.file(name, _N_STEPS, file) == whole.file("whole", _N_STEPS, file)
        assert read_bundle(root / name / "best").weights_sha256 == read_bundle(root / "whole" / "best").weights_sha256
        places = [sorted(path.name for path in (root / run / "checkpoints").iterdir()) for run in (name, "whole")]
        assert places[0] == places[1]
        assert not list((root / name).rglob(".*"))
        for kind, fields in (
            ("step", ("step", "loss")),
            ("validation", ("step", "scores")),
            ("epoch", ("step", "n_pairs")),
        ):
            assert whole.log(name, kind, *fields) == whole.log("whole", kind, *fields)


def test_killed_at_20_random_moments(server: _Server, tmp_path: Path) -> None:
    _kill_often(server, tmp_path, 20, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_200_random_moments(server: _Server, tmp_path: Path) -> None:
    _kill_often(server, tmp_path, 200, seed=2)
