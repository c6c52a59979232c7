"""``transduce f1``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transduce.base.log import plural
from transduce.cli.options import JsonOption

if TYPE_CHECKING:
    from transduce.metrics.parseval import ParsevalReport
    from transduce.metrics.significance import Comparison
    from transduce.pipeline.f1 import F1Report

__all__ = ["f1_command", "f1_rows"]


def f1_command(
    gold: Annotated[
        Path, typer.Argument(help="Gold trees in Penn brackets, in any layout.", show_default=False, readable=False)
    ],
    predicted: Annotated[
        Path,
        typer.Argument(help="Predicted trees, one a line; wrong ones are counted.", show_default=False, readable=False),
    ],
    params: Annotated[
        Path | None,
        typer.Option(
            help="A parameter file of EVALB; not given, the rules of COLLINS.prm.", show_default=False, readable=False
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Trees of another parser: is the difference chance?", show_default=False, readable=False),
    ] = None,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Also a row of counts for each sentence, with tabs, or in the JSON.")
    ] = False,
    evalb: Annotated[
        bool, typer.Option("--evalb", help="Print what EVALB prints, to the byte, and nothing else.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Score parse trees against gold trees: labelled precision, recall and F1 as EVALB has them, failures as misses."""
    from transduce.base.errors import SettingsError
    from transduce.cli.report import print_json, print_table
    from transduce.metrics.parseval import evalb_table
    from transduce.pipeline.f1 import f1_files

    if evalb and (as_json or sentences or baseline is not None):
        raise SettingsError(
            "--evalb prints EVALB's table and nothing else: use it without --json, --sentences and --baseline"
        )
    report = f1_files(gold, predicted, parameters=params, baseline=baseline)
    if evalb:
        typer.echo(evalb_table(report.scores), nl=False)
    elif as_json:
        print_json(report.as_dict() | ({"sentences": report.sentences_as_dicts()} if sentences else {}))
    else:
        if sentences:
            _print_sentences(report)
        print_table("", f1_rows(report))


def f1_rows(report: F1Report) -> list[tuple[str, str]]:
    """Return the rows of a report, names and values; ``transduce evaluate`` prints them too."""
    scores = report.scores
    totals, evalb = scores.totals(), scores.totals("left out")
    max_length = scores.parameters.max_length
    short = scores.totals(max_length=max_length)
    stop = scores.evalb_stops_at
    rows = [
        ("F1", f"{totals.f1:.2f} {report.interval}   {scores.signature}"),
        ("recall", f"{totals.recall:.2f}   {totals.n_matched:,} of {totals.n_gold:,} gold brackets found"),
        (
            "precision",
            f"{totals.precision:.2f}   {totals.n_matched:,} of {totals.n_predicted:,} predicted brackets right",
        ),
        ("complete match", f"{totals.complete_match:.2f}   {totals.n_complete:,} of {totals.n_sentences:,} sentences"),
        ("tagging accuracy", f"{totals.tagging_accuracy:.2f}   {totals.n_correct_tags:,} of {totals.n_words:,} words"),
        (
            "crossing brackets",
            f"{totals.average_crossing:.2f} a sentence; none in {totals.no_crossing:.2f}%, "
            f"two or fewer in {totals.up_to_two_crossing:.2f}%",
        ),
        (
            f"up to {max_length} words",
            f"{short.f1:.2f}   recall {short.recall:.2f}, precision {short.precision:.2f}; "
            f"{plural(short.n_sentences, 'sentence')}",
        ),
        ("failed", _failed(scores)),
        (
            "as EVALB",
            f"{evalb.f1:.2f}   recall {evalb.recall:.2f}, precision {evalb.precision:.2f}; what failed is left out"
            + (f", but it stops at sentence {stop:,} (MAX_ERROR {scores.parameters.max_errors})" if stop else ""),
        ),
    ]
    return rows if report.comparison is None else [*rows, ("baseline", _compared(report.comparison))]


def _compared(found: Comparison) -> str:
    return (
        f"{found.baseline:.2f}   difference {found.difference:+.2f} {found.interval}, "
        f"p = {found.p_value:.3f} (paired bootstrap, {found.n_samples:,} samples)"
    )


def _failed(scores: ParsevalReport) -> str:
    """Say how many predictions failed, and how."""
    outcomes = scores.outcomes
    kinds = (
        (scores.n_invalid, "invalid (no tree, or an empty one)"),
        (outcomes["other length"], "of another length"),
        (outcomes["other words"], "over other words"),
    )
    found = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
    return f"{scores.n_failed:,} of {len(scores.sentences):,}" + (f": {found}" if found else "")


def _print_sentences(report: F1Report) -> None:
    rows = report.sentences_as_dicts()
    typer.echo("\t".join(rows[0]))
    for row in rows:
        typer.echo("\t".join(str(value) for value in row.values()))
    typer.echo("")
