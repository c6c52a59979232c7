"""``transduce inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import JsonOption

__all__ = ["inspect_command"]


def inspect_command(
    bundle: Annotated[
        Path, typer.Argument(help="A bundle, or a run directory, finished or not.", show_default=False, readable=False)
    ],
    sentence: Annotated[
        str | None, typer.Argument(help="With --attention: a sentence to translate.", show_default=False)
    ] = None,
    attention: Annotated[
        Path | None, typer.Option(help="Draw where each head looks, as .png, .svg or .pdf.", show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Look at this translation, not the model's own.", show_default=False)
    ] = None,
    curves: Annotated[
        Path | None, typer.Option(help="Draw the curves of a run, as one .html page.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a bundle is, or where a run stands and what it cost; draw a run's curves, or what a model looks at."""
    from transduce.cli.report import print_json, print_table

    if (sentence is None) != (attention is None):
        raise typer.BadParameter("a sentence and --attention FILE belong together")
    if sentence is not None and as_json:
        raise typer.BadParameter("--json has no effect with --attention; leave one of them out")
    if attention is not None and curves is not None:
        raise typer.BadParameter("--attention and --curves are two pictures; ask for one at a time")
    if sentence is not None and attention is not None:
        from transduce.pipeline.inspect import draw_attention

        translation = draw_attention(bundle, sentence, attention, target=target)
        typer.echo(translation)
        typer.echo(f"wrote {attention}", err=True)
        return
    if curves is not None:
        from transduce.pipeline.curves import draw_curves

        draw_curves(bundle, curves)
        typer.echo(f"wrote {curves}", err=True)
    from transduce.pipeline.run_log import is_run

    if is_run(bundle):
        from transduce.pipeline.inspect_run import inspect_run

        report = inspect_run(bundle)
        description, rows = report.as_dict(), report.rows()
    else:
        from transduce.pipeline.inspect import describe_bundle

        described = describe_bundle(bundle)
        description, rows = {**described}, list(described.items())
    if as_json:
        print_json(description)
    else:
        print_table("", rows)
