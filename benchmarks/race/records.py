"""The file of raw results: one line of JSON for each measured run and for each measurement of the machine's products."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "ProductsRecord",
    "RunRecord",
    "Setup",
    "command_line",
    "commit_of",
    "describe_machine",
    "read_records",
    "write_record",
]


@dataclass(frozen=True)
class Setup:
    """What a measurement was made with: stands in every line, so that each can be traced by itself."""

    command: str
    commit: str
    """Of this project; with ``+`` where files differed from it."""
    machine: str
    threads: int
    realtime: bool
    """True: in the real-time class, where nothing of the normal class can interrupt."""


@dataclass(frozen=True)
class RunRecord:
    """One measured run of a contender."""

    shape: str
    vocab_size: int
    batch_tokens: int
    contender: str
    repeat: int
    step_seconds: tuple[float, ...]
    step_tokens: tuple[int, ...]
    """Target tokens of each timed step, EOS counted, padding not."""
    losses: tuple[float, ...]
    """Nats a target token, by the contender's own account, warm-up included: they fall."""
    flops: int
    """Operations of matrix products of the timed steps, each sentence at its own length."""
    n_parameters: int
    peak_bytes: int
    ready_s: float
    versions: dict[str, str]
    load_average: float
    """Processes that wanted to run in the minute before: above the number of cores the measurement was disturbed."""
    when: str
    setup: Setup

    @property
    def tokens_per_s(self) -> float:
        """Target tokens a second, padding not counted."""
        return sum(self.step_tokens) / sum(self.step_seconds)

    @property
    def flops_per_token(self) -> float:
        """Operations a target token."""
        return self.flops / sum(self.step_tokens)


@dataclass(frozen=True)
class ProductsRecord:
    """One measurement of the products of a cell: operations a second of each linear layer, by mode."""

    shape: str
    vocab_size: int
    batch_tokens: int
    repeat: int
    products: tuple[tuple[int, int, int, int], ...]
    """Rows, width in, width out, and how often it occurs in a step."""
    flops_per_s: tuple[dict[str, float], ...]
    """Of each of them."""
    load_average: float
    when: str
    setup: Setup


Record = RunRecord | ProductsRecord


def write_record(path: Path, record: Record) -> None:
    """Add a line to the file."""
    kind = "run" if isinstance(record, RunRecord) else "products"
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"kind": kind, **asdict(record)}) + "\n")


def read_records(path: Path) -> tuple[list[RunRecord], list[ProductsRecord]]:
    """Read all lines of the file."""
    runs: list[RunRecord] = []
    products: list[ProductsRecord] = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line: dict[str, Any] = json.loads(text)
        line["setup"] = Setup(**line["setup"])
        if line.pop("kind") == "run":
            runs.append(RunRecord(**_tuples(line, ("step_seconds", "step_tokens", "losses"))))
        else:
            line["products"] = [tuple(product) for product in line["products"]]
            products.append(ProductsRecord(**_tuples(line, ("products", "flops_per_s"))))
    return runs, products


def commit_of(directory: Path) -> str:
    """Return the commit of the checkout, with ``+`` if its source differs from it; empty: not a checkout."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=directory, capture_output=True, text=True)
    if head.returncode:
        return ""
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=directory).returncode
    return head.stdout.strip() + ("+" if changed else "")


def describe_machine() -> str:
    """Name the processor, the cores that may be used, and the memory (Linux)."""
    names: Iterable[str] = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in names if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def command_line(arguments: Sequence[str] = ()) -> str:
    """Return the command that this process was started with."""
    return " ".join(["python", *(arguments or sys.argv)])


def _tuples(line: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {**line, **{name: tuple(line[name]) for name in names}}
