"""The report of Table 4: ``report.md``, ``report.json`` and ``report.html``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transduce import __version__
from transduce.paper.numbers import TABLE4
from transduce.paper.parsers import ParserResult, ParserRow
from transduce.paper.scale import Scale
from transduce.paper.table4_page import table4_page
from transduce.paper.table4_text import table4_lines
from transduce.pipeline.inspect_sentence import write_page
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.plan import describe_search
from transduce.pipeline.reproduction.results import read_failure, read_result_as
from transduce.pipeline.reproduction.table4_plan import RECIPES, PlannedParser
from transduce.training.machine import short_commit

__all__ = ["Table4Report", "write_table4"]

_TITLE = "Table 4: English constituency parsing"
_NOTES: Mapping[Scale, str] = {
    "smoke": "This is the smallest scale, which shows that all parts work. Its numbers mean nothing.",
    "mini": "A small model for small treebanks.",
    "full": "",
}


@dataclass(frozen=True)
class Table4Report:
    """Table 4, run, as far as it was."""

    report: Path
    """``report.md``; the other files lie beside it."""
    parsers: tuple[ParserRow, ...]
    """Those of our own."""
    failures: Mapping[str, str]
    """What runs have failed with, by name."""
    content: Mapping[str, Any]
    """What ``report.json`` holds."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {**self.content, "report": str(self.report)}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values for people."""
        rows = [(name, f"failed: {message}") for name, message in self.failures.items()]
        for row in self.parsers:
            for result in row.results:
                for score in result.scores:
                    rows.append(
                        (
                            f"{result.name} on {score.name}, {score.search}",
                            f"F1 {score.f1:.2f} ({score.evalb_f1:.2f} as EVALB)",
                        )
                    )
        return [*rows, ("report", str(self.report))]


def write_table4(scale: Scale, out: Path, planned: Sequence[PlannedParser]) -> Table4Report:
    """Write the report of parsers, run or not.

    Args:
        scale: How large they are.
        out: The directory of the reproduction.
        planned: All that there is data for, and all seeds.

    Raises:
        TransduceError: A result is damaged, or the directory cannot be written.
    """
    failures = {run.name: failed for run in planned if (failed := _failure(run, out)) is not None}
    rows = [_row(row, planned, failures, out) for row in dict.fromkeys(run.row for run in planned)]
    facts, title = _facts(scale, planned[0], rows), f"{_TITLE}, {scale} scale"
    content = {
        "table": "table4",
        "scale": scale,
        "facts": dict(facts),
        "failures": failures,
        "printed": [asdict(row) for row in TABLE4],
        "rows": [asdict(row) for row in rows],
    }
    write_page(out / "report.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    write_page(out / "report.md", "\n".join(_markdown(title, scale, facts, failures, rows)).rstrip("\n") + "\n")
    write_page(out / "report.html", table4_page(title, facts, _NOTES[scale], rows))
    return Table4Report(out / "report.md", tuple(rows), failures, content)


def _failure(run: PlannedParser, out: Path) -> str | None:
    failure = read_failure(run, out)
    return None if failure is None else f"{failure.message}; see {failure.output}"


def _row(row: str, planned: Sequence[PlannedParser], failures: Mapping[str, str], out: Path) -> ParserRow:
    runs = [run for run in planned if run.row == row]
    results = (read_result_as(ParserResult, run, out) for run in runs)
    return ParserRow(
        row,
        runs[0].about,
        tuple(result for result in results if result is not None),
        next((failures[run.name] for run in runs if run.name in failures), None),
    )


def _facts(scale: Scale, any_run: PlannedParser, rows: Sequence[ParserRow]) -> list[tuple[str, str]]:
    results = [result for row in rows for result in row.results]
    commits = dict.fromkeys(short_commit(commit) for result in results for commit in result.commits)
    return [
        ("scale", scale),
        ("recipe", RECIPES[scale]),
        ("search", describe_search(load_settings(any_run.recipe, any_run.overrides).decode)),
        ("runs", str(len(results))),
        ("minutes of training", f"{sum(result.minutes for result in results):.1f}"),
        (
            "on",
            ", ".join(dict.fromkeys(f"{result.n_devices} x {result.device}" for result in results)) or "nothing yet",
        ),
        ("report by", f"version {__version__}"),
        ("trained at commit", ", ".join(commits) or "not known"),
    ]


def _markdown(
    title: str, scale: Scale, facts: Sequence[tuple[str, str]], failures: Mapping[str, str], rows: Sequence[ParserRow]
) -> Iterator[str]:
    yield f"# {title}"
    yield ""
    if _NOTES[scale]:
        yield _NOTES[scale]
        yield ""
    yield from (f"- {name}: {value}" for name, value in facts)
    yield ""
    if failures:
        yield "## Failed"
        yield ""
        yield from (f"- {name}: {message}" for name, message in failures.items())
        yield ""
    yield from table4_lines(rows)
