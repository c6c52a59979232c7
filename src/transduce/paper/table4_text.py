"""Table 4 as it was measured, beside what the paper prints, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transduce.paper.markdown import NOT_RUN, table
from transduce.paper.numbers import TABLE4
from transduce.paper.parsers import ParserResult, ParserRow, SetScore

__all__ = ["HOW_TO_READ", "PRINTED_SET", "table4_lines"]

PRINTED_SET = "WSJ section 23"
"""What the printed numbers are of. Paper: Table 4."""

HOW_TO_READ = (
    "F1 in percent, as EVALB counts brackets. A sentence that failed counts as missed in the first number and is left out in "
    "EVALB's. In brackets: where F1 lies with 95 % confidence on sets like this one. The printed parsers learned from some "
    "40,000 sentences of the Wall Street Journal, the semi-supervised ones from millions more, and are scored on its section "
    "23: what stands on another set, or learned from less, cannot be compared with them number by number. Each set was parsed "
    "twice: by a free search, whose output is mended where it is no tree, and by one that writes whole trees only."
)
"""What is to be kept in mind."""


def table4_lines(rows: Sequence[ParserRow]) -> Iterator[str]:
    """Yield the table, what each run took, and the commands.

    Args:
        rows: Those of our own, in their order.
    """
    yield HOW_TO_READ
    yield ""
    head = ["parser", "training", "scored on", "search", "F1, paper", "F1 here", "recall", "precision", "as EVALB"]
    head += ["well-formed", "repaired", "sentences a second", "minutes of training"]
    printed = [
        [row.parser, row.training, PRINTED_SET, "", f"{row.f1:.1f}", "printed, not run", *[""] * 7] for row in TABLE4
    ]
    yield from table(head, [*printed, *(line for row in rows for line in _lines(row))])
    results = [result for row in rows for result in row.results]
    yield "## What each run took"
    yield ""
    yield from _runs(results)
    for result in results:
        yield f"### Commands: {result.name}"
        yield ""
        yield "```sh"
        yield from result.commands
        yield "```"
        yield ""


def _lines(row: ParserRow) -> Iterator[list[str]]:
    if not row.results:
        state = NOT_RUN if row.failure is None else "failed"
        yield [row.row, row.about, "", "", "", state, *[""] * 7]
    for result in row.results:
        for number, score in enumerate(result.scores):
            minutes = f"{result.minutes:.2f}" if number == 0 else ""
            yield [result.name, row.about, score.name, score.search, "", *_figures(score), minutes]


def _figures(score: SetScore) -> list[str]:
    return [
        f"{score.f1:.2f} [{score.low:.2f}, {score.high:.2f}]",
        f"{score.recall:.2f}",
        f"{score.precision:.2f}",
        f"{score.evalb_f1:.2f}",
        f"{score.share_well_formed:.2f} %",
        f"{score.n_repaired:,} of {score.n_outputs:,}",
        f"{score.sentences_per_second:.1f}",
    ]


def _runs(results: Sequence[ParserResult]) -> Iterator[str]:
    head = ["run", "trees", "M parameters", "updates", "weights", "dev F1", "minutes", "FLOPs", "on"]
    rows = [
        [
            result.name,
            f"{result.n_trees:,}",
            f"{result.n_parameters / 1e6:.2f}",
            f"{result.step:,}",
            result.made_of,
            f"{result.dev_f1:.2f}",
            f"{result.minutes:.2f}",
            f"{result.flops:.1e}",
            f"{result.n_devices} x {result.device}",
        ]
        for result in results
    ]
    yield from table(head, rows)
    for result in results:
        found = result.self_training
        if found is not None:
            yield (
                f"- {result.name}: {found.teacher} has parsed {found.n_sentences:,} sentences in {found.minutes:.2f} minutes; "
                f"{found.n_repaired:,} outputs were no trees, and {found.n_kept:,} trees were learned from beside the others"
            )
    for result in results:
        sets = dict.fromkeys((score.name, score.n_sentences, score.trees, score.signature) for score in result.scores)
        for name, n_sentences, trees, signature in sets:
            yield f"- {result.name} on {name}: {n_sentences:,} trees of `{trees}`; `{signature}`"
    yield ""
