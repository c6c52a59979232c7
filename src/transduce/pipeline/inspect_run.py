"""Looking into a run directory: where the run stands, and what it has cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.plain import as_plain
from transduce.bundle import list_checkpoints
from transduce.pipeline.inspect import describe_bundle
from transduce.pipeline.run_log import RunSummary, read_records, summarize_run
from transduce.training.account import LEDGER_FILE, Costs, SessionAccount, read_ledger

__all__ = ["RunReport", "inspect_run"]

_MODEL = "model"


@dataclass(frozen=True)
class RunReport:
    """What is known of a run."""

    model: dict[str, str]
    """What its finished model is, else its newest checkpoint, as names and words; empty when there is neither."""
    summary: RunSummary
    sessions: tuple[SessionAccount, ...]
    """The ledger. Empty: the run has written none yet, or was made before there were ledgers."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        ledger = None
        if self.sessions:
            total = Costs.total(session.costs for session in self.sessions)
            ledger = {
                "total": as_plain(total),
                "sessions": [as_plain(session) for session in self.sessions],
            }
        return {**self.model, "run": self.summary.as_dict(), "ledger": ledger}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        ledger = _ledger_rows(self.sessions) if self.sessions else [("ledger", "none: written at the first checkpoint")]
        return [*self.model.items(), *self.summary.rows(), *ledger]


def inspect_run(run: Path) -> RunReport:
    """Return what is known of a run, be it finished or not.

    Raises:
        TransduceError: Its log, its ledger or its model cannot be read.
    """
    summary = summarize_run(read_records(run))
    ledger = run / LEDGER_FILE
    bundles = [run / _MODEL] if (run / _MODEL).exists() else list_checkpoints(run)[-1:]
    return RunReport(
        model=describe_bundle(bundles[0]) if bundles else {},
        summary=summary,
        sessions=read_ledger(ledger) if ledger.exists() else (),
    )


def _ledger_rows(sessions: tuple[SessionAccount, ...]) -> list[tuple[str, str]]:
    total, last = Costs.total(session.costs for session in sessions), sessions[-1]
    spent = f"{_time(total.training_s)} training, {_time(total.evaluation_s)} evaluating, {_time(total.checkpoint_s)} saving"
    rate = f"{last.n_devices} x {last.tflops:.3g} TFLOP/s ({_SOURCES[last.tflops_source]})"
    positions = total.src_tokens + total.tgt_tokens + total.padding_positions
    energy = f"{total.energy_joules / 3.6e6:.3g} kWh, by " if total.energy_joules is not None else "not known: "
    rows = [
        ("spent", f"{_time(total.wall_s)}: {spent}"),
        ("sessions", f"{len(sessions)}, {total.steps:,} updates in all, begun {sessions[0].started}"),
        ("tokens", f"{total.src_tokens:,} source, {total.tgt_tokens:,} target, of {total.pairs:,} pairs"),
        ("padding", f"{total.padding_positions / max(1, positions):.2%} of the positions computed"),
        ("FLOPs", f"{total.flops:.4g} in matrix products, {total.needed_flops:.4g} without padding"),
        ("FLOPs, paper", f"{total.paper_flops:.4g} = time x {rate}"),
        ("sustained", f"{total.flops / max(1e-9, total.training_s) / last.n_devices / 1e12:.3g} TFLOP/s a device"),
        ("peak memory", _memory(sessions)),
        ("energy", energy + last.energy_note),
        ("device", f"{last.n_devices} x {last.device}"),
        ("host", last.host),
        ("versions", ", ".join(f"{name} {version}" for name, version in last.versions.items())),
        ("settings", f"SHA-256 {last.settings_sha256[:16]}"),
    ]
    return [*rows, ("commit", last.commit)] if last.commit is not None else rows


_SOURCES = {"declared": "train.device_tflops", "paper": "the paper's number", "measured": "measured at the start"}


def _time(seconds: float) -> str:
    """Write a time in its largest unit.

    >>> _time(42.0), _time(600.0), _time(43200.0)
    ('42.0 s', '10.0 min', '12.0 h')
    """
    for unit, unit_s in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.1f} {unit}"
    return f"{seconds:.1f} s"


def _memory(sessions: tuple[SessionAccount, ...]) -> str:
    text = f"{max(session.peak_memory_bytes for session in sessions) / 2**30:.2f} GiB"
    on_device = [session.peak_device_bytes for session in sessions if session.peak_device_bytes is not None]
    return text + (f", {max(on_device) / 2**30:.2f} GiB on the device" if on_device else "")
