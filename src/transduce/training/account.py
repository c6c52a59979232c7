"""``ledger.json``: what a run has cost, as values. Every session of it (a start or a resume) has an entry."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from transduce.base.errors import TrainingError
from transduce.base.files import atomic_file
from transduce.base.plain import as_plain, from_plain
from transduce.training.records import StopReason

__all__ = ["LEDGER_FILE", "Costs", "SessionAccount", "read_ledger", "write_ledger"]

LEDGER_FILE = "ledger.json"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What was spent. Costs of several sessions add up."""

    wall_s: float
    """Seconds from the start to the last entry, everything included."""
    training_s: float
    """Those of them that are neither evaluation nor checkpoints."""
    evaluation_s: float
    """Seconds on the dev set."""
    checkpoint_s: float
    """Seconds for checkpoints."""
    steps: int
    """Updates, those included that going back to a checkpoint threw away."""
    pairs: int
    """Sentence pairs, each as often as it was seen."""
    src_tokens: int
    """Real source tokens, EOS included."""
    tgt_tokens: int
    """Real target tokens, EOS included."""
    padding_positions: int
    """Positions that were computed beside them, both sides together."""
    flops: int
    """Floating-point operations of all matrix products computed, forward and backward, padding included; exact. Evaluations
    are not counted."""
    needed_flops: int
    """Those of them that the sentences need: without padding."""
    paper_flops: float
    """Seconds of training, times devices, times what one sustains. Paper: section 6.1, footnote 5."""
    energy_joules: float | None
    """What the machine says. None: it says nothing."""

    @staticmethod
    def total(parts: Iterable[Costs]) -> Costs:
        """Add costs up. Energy is unknown where one part does not know its own."""
        plain = [vars(part) for part in parts]
        sums: dict[str, Any] = {
            field.name: sum(part[field.name] for part in plain if part[field.name] is not None)
            for field in fields(Costs)
        }
        if any(part["energy_joules"] is None for part in plain):
            sums["energy_joules"] = None
        return Costs(**sums)


@dataclass(frozen=True, kw_only=True)
class SessionAccount:
    """One session: a process that trained (of several, the first; counts are those of all of them)."""

    started: str
    """Date and time, UTC."""
    ended: StopReason | None
    """Why it ended. None: it is still going on, or it was killed; what came after its last checkpoint is lost then."""
    first_step: int
    """Updates made before it."""
    last_step: int
    """Updates made when this was written."""
    costs: Costs
    peak_memory_bytes: int
    """The most main memory that the process held."""
    peak_device_bytes: int | None
    """The most memory that tensors held on one GPU; None for another device."""
    host: str
    """The machine."""
    device: str
    """What computed."""
    n_devices: int
    """How many of them."""
    tflops: float
    """What one of them is taken to sustain, in 10^12 operations a second."""
    tflops_source: Literal["declared", "paper", "measured"]
    """Where that is from: ``train.device_tflops``, the paper's footnote, or a matrix product at the start."""
    energy_note: str
    """What the energy is of, or why there is none."""
    versions: dict[str, str]
    """Of what computed."""
    commit: str | None
    """Of this package; None: it is not a checkout."""
    settings_sha256: str
    """Of the settings of the run, as TOML."""


@dataclass(frozen=True, kw_only=True)
class _File:
    format: Literal[1]
    total: Costs
    sessions: tuple[SessionAccount, ...]


def read_ledger(path: Path) -> tuple[SessionAccount, ...]:
    """Return the sessions of a ledger, the oldest first.

    Raises:
        TrainingError: The file is missing or damaged.
    """
    try:
        return from_plain(_File, json.loads(path.read_bytes())).sessions
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged or not a ledger"
        raise TrainingError(f"{path}: cannot be read as the ledger of a run ({reason})") from None


def write_ledger(path: Path, sessions: tuple[SessionAccount, ...]) -> None:
    """Write a ledger, as a whole or not at all. The sum of all sessions comes first."""
    content = _File(format=1, total=Costs.total(session.costs for session in sessions), sessions=sessions)
    with atomic_file(path) as temporary:
        temporary.write_text(json.dumps(as_plain(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
