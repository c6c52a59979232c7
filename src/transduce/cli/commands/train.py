"""``transduce train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.base.errors import OtherRankFailedError
from transduce.base.launch import read_launch
from transduce.cli.options import JsonOption, OutOption, RecipeArgument, SetOption, StartOption
from transduce.cli.ranks import first_failure_speaks

__all__ = ["train_command"]


def train_command(
    out: OutOption,
    recipe: RecipeArgument = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Data made by 'transduce prepare'; not given, OUT/data, prepared first.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    start: StartOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in OUT, or start it.")] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a model; Ctrl-C saves and stops, --resume goes on as if nothing had happened."""
    from transduce.cli.preparation import PreparationProgress
    from transduce.cli.progress import TrainingProgress
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.recipes import load_settings
    from transduce.pipeline.start import settings_of_start
    from transduce.pipeline.train import prepared_settings, train

    changes = overrides or ()
    with first_failure_speaks():
        begin = [settings_of_start(start)] if start is not None else []
        settings = (
            load_settings(recipe, changes, begin) if data is None else prepared_settings(data, recipe, changes, begin)
        )
    is_first = read_launch().is_first
    try:
        with PreparationProgress() as preparing, TrainingProgress() as progress:
            report = train(
                settings,
                out,
                data=data,
                resume=resume,
                listeners=[progress],
                pulse=progress.pulse,
                prepare_listeners=[preparing],
            )
    except KeyboardInterrupt as stop:
        if is_first:
            typer.echo(str(stop) or "interrupted", err=True)
        raise typer.Exit(130) from None
    except OtherRankFailedError:
        raise typer.Exit(1) from None
    if not is_first:
        return
    if as_json:
        print_json(report.as_dict())
        return
    rows = [
        ("model", str(report.model)),
        ("made of", f"{report.made_of}, of {report.step:,} updates"),
        ("time", f"{report.minutes:.1f} minutes"),
        *((f"dev {name}", f"{value:.3f}") for name, value in report.scores.items()),
        ("translate with", f"transduce translate {report.model.parent} < input.txt"),
    ]
    print_table("trained", rows)
