"""The report of a reproduction: ``report.md``, ``report.json`` and ``report.html``, one page with charts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from transduce import __version__
from transduce.base.files import atomic_file, read_lines
from transduce.base.log import plural
from transduce.paper.conclusions import Difference, Metric
from transduce.paper.measured import Measured, MeasuredCost, MeasuredRow, MeasuredScore, spread
from transduce.paper.proportion import PROPORTIONS
from transduce.paper.runs import TABLE3, Pair
from transduce.paper.scale import Scale
from transduce.paper.table2_page import table2_page
from transduce.paper.table2_text import table2_lines
from transduce.paper.table3_page import table3_page
from transduce.paper.table3_text import count_verdicts, table3_lines
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.differences import Differences
from transduce.pipeline.reproduction.plan import (
    RECIPE,
    PlannedRun,
    TableName,
    describe_search,
    plan_runs,
    row_names,
    row_pair,
)
from transduce.pipeline.reproduction.results import RunResult, list_results, read_failure
from transduce.training.machine import short_commit

__all__ = ["ReproduceReport", "write_report"]

_WARNINGS = {
    "smoke": "This is the smallest scale, which shows that all parts work. Its numbers mean nothing, and so do the verdicts.",
    "mini": "Widths, layers and updates are shrunk in proportion, and so is what the models learn from. The numbers themselves "
    "cannot be compared with the paper's; what a change does to them can.",
    "full": "",
}


@dataclass(frozen=True)
class ReproduceReport:
    """A table of the paper, run, as far as it was."""

    table: TableName
    scale: Scale
    report: Path
    """``report.md``; the other files lie beside it."""
    n_finished: int
    """Runs of which there is a result."""
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
        rows.append(("finished", plural(self.n_finished, "run")))
        if verdicts := self.content.get("verdicts"):
            rows.append(("conclusions", ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())))
        note = [("note", _WARNINGS[self.scale])] if _WARNINGS[self.scale] else []
        return [*rows, *note, ("report", str(self.report))]


def write_report(table: TableName, scale: Scale, out: Path, data: Mapping[Pair, Path]) -> ReproduceReport:
    """Write the report of all runs that lie in a directory, finished now or earlier.

    Args:
        table: Of the paper.
        scale: How large the runs are.
        out: The directory of the reproduction.
        data: The prepared data, by task.

    Raises:
        TransduceError: A result is damaged, or the directory cannot be written.
    """
    by_row = _results(table, scale, out)
    failures = _failures(table, scale, out)
    facts = _facts(scale, by_row, data)
    if table == "table3":
        rows = _table3(scale, out, by_row, failures, data)
        lines, title = list(table3_lines(rows)), "Table 3: variations on the Transformer"
        own = {"rows": [_row_values(row) for row in rows], "verdicts": count_verdicts(rows)}
        page = table3_page(f"{title}, {scale} scale", _page_facts(facts), _note(scale), rows)
    else:
        measured = {row: _measured(results) for row, results in by_row.items() if results}
        lines, title = list(table2_lines(measured)), "Table 2: BLEU and training cost"
        own = {"rows": {row: asdict(found) for row, found in measured.items()}}
        page = table2_page(f"{title}, {scale} scale", _page_facts(facts), _note(scale), measured, scale=scale)
    content = {"table": table, "scale": scale, "facts": facts, "failures": failures, **own}
    _write(out / "report.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    _write(out / "report.md", "\n".join(_markdown(title, scale, facts, failures, lines)))
    _write(out / "report.html", page)
    n_finished = sum(len(results) for results in by_row.values())
    return ReproduceReport(table, scale, out / "report.md", n_finished, failures, content)


def _results(table: TableName, scale: Scale, out: Path) -> dict[str, list[RunResult]]:
    """Return the results by row, those left out that were made with other settings."""
    by_row: dict[str, list[RunResult]] = {row: [] for row in row_names(table)}
    for result in list_results(out):
        if result.row in by_row and row_pair(table, result.row) in PROPORTIONS[scale].data:
            planned = plan_runs(table, scale, [result.row], [result.seed])[0]
            if planned.digest == result.digest:
                by_row[result.row].append(result)
    return {row: sorted(results, key=lambda result: result.seed) for row, results in by_row.items()}


def _failures(table: TableName, scale: Scale, out: Path) -> dict[str, str]:
    """Return what runs have failed with, as far as they have not been finished since."""
    found: dict[str, str] = {}
    for path in sorted(out.glob("runs/*/failure.json")):
        row, _, seed = path.parent.name.rpartition("-seed")
        if row not in row_names(table) or row_pair(table, row) not in PROPORTIONS[scale].data or not seed.isdecimal():
            continue
        planned: PlannedRun = plan_runs(table, scale, [row], [int(seed)])[0]
        failure = read_failure(planned, out)
        if failure is not None:
            found[planned.name] = f"{failure.message}; see {failure.output}"
    return found


def _table3(
    scale: Scale,
    out: Path,
    by_row: Mapping[str, Sequence[RunResult]],
    failures: Mapping[str, str],
    data: Mapping[Pair, Path],
) -> list[MeasuredRow]:
    references = {"dev": list(read_lines(data["en-de"] / "dev" / "tgt.txt"))} if any(by_row.values()) else {}
    differences = Differences(out, references)
    rows = []
    for row, results in by_row.items():
        found: dict[Metric, Difference] = {}
        for metric in ("BLEU", "perplexity") if row != "base" else ():
            difference = differences.between(results, by_row["base"], metric)
            if difference is not None:
                found[metric] = difference
        failed = [message for name, message in failures.items() if name.rpartition("-seed")[0] == row]
        rows.append(
            MeasuredRow(
                row=row,
                changes=tuple(
                    override.partition(".")[2] for override in PROPORTIONS[scale].shrink(TABLE3[row].overrides)
                ),
                measured=_measured(results) if results else None,
                failure=failed[0] if failed else None,
                differences=found,
            )
        )
    return rows


def _measured(results: Sequence[RunResult]) -> Measured:
    first = results[0]
    return Measured(
        seeds=tuple(result.seed for result in results),
        n_parameters=first.n_parameters,
        made_of=first.made_of,
        perplexity=spread([result.perplexity for result in results]),
        scores=tuple(
            MeasuredScore(score.name, spread([_score(result, score.name) for result in results]), score.signature)
            for score in first.scores
        ),
        cost=_mean_cost(results),
    )


def _score(result: RunResult, name: str) -> float:
    return next(score.value for score in result.scores if score.name == name)


def _mean_cost(results: Sequence[RunResult]) -> MeasuredCost:
    costs, last = [result.cost for result in results], results[-1].cost
    return MeasuredCost(
        hours=spread([cost.costs.training_s / 3600 for cost in costs]),
        flops=mean(cost.costs.flops for cost in costs),
        paper_flops=mean(cost.paper_flops for cost in costs),
        n_devices=last.n_devices,
        device=last.device,
        tflops=last.tflops,
        tflops_source=last.tflops_source,
    )


def _row_values(row: MeasuredRow) -> dict[str, Any]:
    verdicts = [{**asdict(conclusion), "verdict": verdict} for conclusion, verdict in row.verdicts]
    return {**asdict(row), "printed": asdict(TABLE3[row.row]), "conclusions": verdicts}


def _facts(scale: Scale, by_row: Mapping[str, Sequence[RunResult]], data: Mapping[Pair, Path]) -> dict[str, Any]:
    results = [result for results in by_row.values() for result in results]
    devices = dict.fromkeys(f"{result.cost.n_devices} x {result.cost.device}" for result in results)
    return {
        "scale": scale,
        "recipe": RECIPE,
        "base": list(PROPORTIONS[scale].base()),
        "data": {pair: _data_facts(path) for pair, path in data.items()},
        "search": describe_search(load_settings(RECIPE, PROPORTIONS[scale].base()).decode),
        "runs": len(results),
        "hours": sum(result.cost.costs.training_s for result in results) / 3600,
        "flops": sum(result.cost.costs.flops for result in results),
        "devices": list(devices),
        "version": __version__,
        "commits": list(dict.fromkeys(commit for result in results for commit in result.commits)),
    }


def _data_facts(data: Path) -> dict[str, Any]:
    report = json.loads((data / "report.json").read_text(encoding="utf-8"))
    return {name: report[name] for name in ("train", "dev", "test", "vocabulary") if name in report}


def _page_facts(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("scale", facts["scale"]),
        ("runs", str(facts["runs"])),
        ("hours trained", f"{facts['hours']:.2f}"),
        ("FLOPs", f"{facts['flops']:.2e}"),
        ("on", ", ".join(facts["devices"]) or "nothing yet"),
        ("report by", f"version {facts['version']}"),
        ("trained at commit", ", ".join(map(short_commit, facts["commits"])) or "not known"),
    ]


def _note(scale: Scale) -> str:
    return _WARNINGS[scale]


def _markdown(
    title: str, scale: Scale, facts: Mapping[str, Any], failures: Mapping[str, str], lines: Sequence[str]
) -> Iterator[str]:
    yield f"# {title}, {scale} scale"
    yield ""
    if _note(scale):
        yield _note(scale)
        yield ""
    yield from (f"- {name}: {value}" for name, value in _page_facts(facts))
    yield f"- base model: recipe `{facts['recipe']}` with `{' '.join(facts['base'])}`"
    yield f"- search: {facts['search']}"
    yield ""
    if failures:
        yield "## Failed"
        yield ""
        yield from (f"- {name}: {message}" for name, message in failures.items())
        yield ""
    yield from lines


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
