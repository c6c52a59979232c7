"""Results as Markdown: for each task one table, with the spread, and beside the best CTranslate2 of the same precision."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from contest.limits import Machine, Work, sentences_per_s

__all__ = ["Record", "tables"]

PEER = "ct2"
"""The contender that the others are compared with."""


@dataclass(frozen=True)
class Record:
    """One measurement, as it stands in the file of raw results: a line of JSON."""

    shape: str
    set: str
    task: str
    beam: int
    contender: str
    precision: str
    setting: str
    repeat: int
    n_sentences: int
    n_src_tokens: int
    """EOS counted."""
    n_tgt_tokens: int
    """EOS counted."""
    seconds: float
    """Translating; without loading."""
    latencies: tuple[float, ...]
    """Seconds of each sentence, where they were translated one by one."""
    ready_s: float
    first_s: float
    """From the start of the process to its first translation."""
    peak_bytes: int
    bleu: float
    load_average: float
    """Processes that wanted to run, in the minute before: above the number of cores the measurement was disturbed."""
    when: str

    @classmethod
    def of(cls, line: dict[str, Any]) -> Record:
        """Read a line of the file."""
        return cls(**{**line, "latencies": tuple(line["latencies"])})

    def line(self) -> dict[str, Any]:
        """Return what stands in the file."""
        return asdict(self)

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.n_sentences / self.seconds


def tables(records: Sequence[Record], works: Mapping[str, Mapping[str, Any]], machine: Machine | None) -> Iterator[str]:
    """Yield the lines of all tables.

    Args:
        records: All measurements.
        works: Of each shape, the sizes that :class:`Work` asks for.
        machine: Limits; None: no column for them.
    """
    for key, group in _groups(records, "shape", "set", "task", "beam"):
        shape, name, task, beam = key
        yield f"### {shape}, {_TITLES[task]}, beam {beam}, {name}\n"
        yield from _start_table(group) if task == "start" else _rate_table(group, works[shape], machine)
        yield ""


_TITLES = {"file": "whole file", "latency": "one sentence at a time", "start": "start to the first sentence"}


def _rate_table(group: list[Record], work: Mapping[str, Any], machine: Machine | None) -> Iterator[str]:
    columns = ("who", "type", "setting", "sentences/s, median [all]", "of the best ct2", "tokens/s", "ms, median / p95")
    yield from _head(*columns, "peak MB", "BLEU", "of the limit")
    rows = [(key, runs) for key, runs in _groups(group, "precision", "contender", "setting")]
    best = {
        precision: max(_median(runs, "rate") for (_, _, _), runs in same)
        for precision, same in _by_precision(row for row in rows if row[0][1] == PEER)
    }
    for (precision, contender, setting), runs in sorted(rows, key=lambda row: (row[0][0], -_median(row[1], "rate"))):
        rate = _median(runs, "rate")
        part = f"{rate / best[precision]:.2f}" if precision in best else ""
        tokens = statistics.median(run.n_tgt_tokens / run.seconds for run in runs)
        yield (
            f"| {contender}{_few(runs, group)} | {precision} | {setting} | {rate:.1f} [{_span(runs)}] | {part} | {tokens:.0f} | "
            f"{_latency(runs)} | {_median(runs, 'peak_bytes') / 1e6:.0f} | {runs[-1].bleu:.2f} | "
            f"{_of_limit(runs, work, machine)} |"
        )


def _start_table(group: list[Record]) -> Iterator[str]:
    yield from _head(
        "who", "type", "setting", "s to the first sentence, median [all]", "s to a loaded model", "peak MB"
    )
    for (precision, contender, setting), runs in sorted(
        _groups(group, "precision", "contender", "setting"), key=lambda row: (row[0][0], _median(row[1], "first_s"))
    ):
        first = sorted(run.first_s for run in runs)
        yield (
            f"| {contender} | {precision} | {setting} | {statistics.median(first):.2f} [{first[0]:.2f} .. {first[-1]:.2f}] | "
            f"{_median(runs, 'ready_s'):.2f} | {_median(runs, 'peak_bytes') / 1e6:.0f} |"
        )


def _head(*columns: str) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"


def _groups(records: Sequence[Record], *names: str) -> list[tuple[tuple[Any, ...], list[Record]]]:
    """Put records together that agree in some fields, in the order of their first appearance."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(getattr(record, name) for name in names), []).append(record)
    return list(found.items())


def _by_precision(rows: Iterator[Any]) -> Iterator[tuple[str, list[Any]]]:
    ordered = sorted(rows, key=lambda row: row[0][0])
    for precision, same in itertools.groupby(ordered, key=lambda row: row[0][0]):
        yield precision, list(same)


def _median(runs: Sequence[Record], name: str) -> float:
    return statistics.median(float(getattr(run, name)) for run in runs)


def _span(runs: Sequence[Record]) -> str:
    rates = sorted(run.rate for run in runs)
    return f"{rates[0]:.1f} .. {rates[-1]:.1f}"


def _few(runs: Sequence[Record], group: Sequence[Record]) -> str:
    """Say so if a contender got fewer sentences than the others."""
    n = runs[0].n_sentences
    return "" if n == max(run.n_sentences for run in group) else f" (first {n})"


def _latency(runs: Sequence[Record]) -> str:
    """Median and 95th percentile of the sentences of a run: each the median of all runs."""
    if not runs[0].latencies:
        return ""
    medians = [statistics.median(run.latencies) for run in runs]
    p95s = [statistics.quantiles(run.latencies, n=20, method="inclusive")[-1] for run in runs if len(run.latencies) > 1]
    p95 = f"{1000 * statistics.median(p95s):.1f}" if p95s else "-"
    return f"{1000 * statistics.median(medians):.1f} / {p95}"


def _of_limit(runs: Sequence[Record], work: Mapping[str, Any], machine: Machine | None) -> str:
    if machine is None:
        return ""
    run = runs[0]
    asked = Work(
        **work,
        beam=run.beam,
        src_tokens=run.n_src_tokens / run.n_sentences,
        tgt_tokens=run.n_tgt_tokens / run.n_sentences,
    )
    limit = sentences_per_s(asked, machine, run.precision, one_by_one=bool(run.latencies))
    return f"{_median(runs, 'rate') / limit:.0%} of {limit:.0f}" if limit else ""
