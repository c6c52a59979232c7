"""Starts training runs in processes that have torch imported already, and kills them: a start costs some milliseconds.

Reads one request a line, as JSON, and answers each with one. A child is killed with SIGKILL, which it cannot notice: after
some time, or at its n-th call of the system that opens, makes, renames or removes a file.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401 - what torch imports when the first optimizer is made: seconds, which no child should spend again

from tests.unit.training.toy import ToyRun, toy_settings
from transduce.training.records import CheckpointRecord, Record, StartRecord

_FILE_EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.listdir", "os.scandir"}


def _kill_at_event(number: int) -> None:
    count = iter(range(1, number + 1))

    def listen(event: str, arguments: object) -> None:
        if event in _FILE_EVENTS and next(count, 0) in (0, number):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(listen)


def _train(root: Path, request: dict[str, Any], notes: int) -> None:
    def note(record: Record) -> None:
        if isinstance(record, StartRecord | CheckpointRecord):
            os.write(notes, f"{record.step}\n".encode())

    if request["event"] is not None:
        _kill_at_event(request["event"])
    trainer = ToyRun(root).trainer(request["run"], toy_settings(**request["settings"]), listeners=[note])
    trainer.run(resume=True)


def _serve_one(root: Path, request: dict[str, Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            _train(root, request, writing)
            status = 0
        except Exception:
            traceback.print_exc()  # nobody else would: the process ends here
        finally:
            os._exit(status)
    os.close(writing)
    if request["seconds"] is not None:
        time.sleep(request["seconds"])
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading) as notes:
        steps = [int(line) for line in notes]  # the step that it started from, then those that it had saved
    _, status = os.waitpid(child, 0)
    return {"killed": os.WIFSIGNALED(status), "failed": os.WIFEXITED(status) and bool(status), "steps": steps}


def _main() -> None:
    root = Path(sys.argv[1])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_serve_one(root, json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
