"""``transduce inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from transduce.cli.options import JsonOption

__all__ = ["inspect_command"]

Kind = Literal["encoder", "decoder", "cross"]  # paper.heads', spelled here to answer --help at once


def inspect_command(
    bundle: Annotated[
        Path, typer.Argument(help="A bundle, or a run directory, finished or not.", show_default=False, readable=False)
    ],
    sentence: Annotated[
        str | None,
        typer.Argument(help="With --attention or --trace: a sentence to translate or parse.", show_default=False),
    ] = None,
    attention: Annotated[
        Path | None,
        typer.Option(
            help="Draw where each head looks: .html, interactive, or .png, .svg, .pdf. No file: attention.html.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Kind, typer.Option("--attention-kind", help="Which attention the picture shows, and the page first.")
    ] = "cross",
    layer: Annotated[
        int | None, typer.Option(min=1, help="Which layer of it. Not given: the last.", show_default=False)
    ] = None,
    head: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Which head of it; may be given again. Not given: all.", show_default=False),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Follow the sentence through the model, block by block: an .html page. No file: trace.html.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Look at this translation (or tree in brackets), not the model's own.", show_default=False),
    ] = None,
    curves: Annotated[
        Path | None, typer.Option(help="Draw the curves of a run, as one .html page.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a bundle is, or where a run stands and what it cost; draw a run's curves, or what a model does."""
    from transduce.cli.report import print_json, print_table

    pictures = [name for name, out in (("--attention", attention), ("--trace", trace)) if out is not None]
    if (sentence is None) != (not pictures):
        raise typer.BadParameter("a sentence and --attention FILE or --trace FILE belong together")
    if pictures and as_json:
        raise typer.BadParameter(f"--json has no effect with {pictures[0]}; leave one of them out")
    if len(pictures) + (curves is not None) > 1:
        raise typer.BadParameter("--attention, --trace and --curves are different pictures; ask for one at a time")
    if attention is None and (kind != "cross" or layer is not None or head):
        raise typer.BadParameter(
            "--attention-kind, --layer and --head choose what --attention FILE shows; give that too"
        )
    if target is not None and not pictures:
        raise typer.BadParameter("--target has no effect without --attention or --trace")
    if sentence is not None:
        from transduce.pipeline.inspect_sentence import AttentionChoice, draw_attention, draw_trace

        if attention is not None:
            choice = AttentionChoice(kind, layer, sorted(set(head or ())))
            translation = draw_attention(bundle, sentence, attention, target=target, choice=choice)
        else:
            assert trace is not None
            translation = draw_trace(bundle, sentence, trace, target=target)
        typer.echo(translation)
        typer.echo(f"wrote {attention or trace}", err=True)
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
