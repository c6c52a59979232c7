"""``transduce self-train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import BundleArgument, JsonOption, OutOption, SetOption

__all__ = ["self_train_command"]


def self_train_command(
    teacher: BundleArgument,
    out: OutOption,
    raw: Annotated[
        Path, typer.Option(help="Sentences, one a line, words parted by spaces.", show_default=False, readable=False)
    ],
    keep: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Share of the well-formed parses that is learned from.")
    ] = 0.5,
    rounds: Annotated[int, typer.Option(min=1, help="How often to parse and train, at most.")] = 1,
    gold_times: Annotated[int, typer.Option(min=1, help="How often the gold trees stand in the training data.")] = 1,
    max_words: Annotated[int, typer.Option(min=1, help="Longer sentences are not parsed.")] = 60,
    from_teacher: Annotated[
        bool,
        typer.Option("--from-teacher", help="Start each round from the weights of its teacher, not from new ones."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the rounds in OUT, or start them.")] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a parser on its own parses too: parse raw sentences, keep the surest trees, train anew."""
    from transduce.cli.preparation import PreparationProgress
    from transduce.cli.progress import TrainingProgress
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.self_train import self_train

    try:
        with PreparationProgress() as preparing, TrainingProgress() as progress:
            report = self_train(
                teacher,
                raw,
                out,
                keep=keep,
                rounds=rounds,
                gold_times=gold_times,
                max_words=max_words,
                from_teacher=from_teacher,
                overrides=overrides or (),
                resume=resume,
                listeners=[progress],
                prepare_listeners=[preparing],
            )
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "interrupted", err=True)
        raise typer.Exit(130) from None
    if as_json:
        print_json(report.as_dict())
        return
    rows = [("teacher", f"dev F1 {report.before['F1']:.2f}")]
    for number, done in enumerate(report.rounds, start=1):
        parses = done.parses
        rows.append(
            (
                f"round {number}",
                f"dev F1 {done.scores['F1']:.2f}   {parses.n_kept:,} of {parses.n_sentences:,} parses kept "
                f"({parses.n_repaired:,} were no trees, {parses.n_skipped:,} sentences skipped)",
            )
        )
    print_table("self-trained", [*rows, ("best model", str(report.best))])
