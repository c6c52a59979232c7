"""``transduce inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import BundleArgument, JsonOption

__all__ = ["inspect_command"]


def inspect_command(
    bundle: BundleArgument,
    sentence: Annotated[
        str | None, typer.Argument(help="With --attention: a sentence to translate.", show_default=False)
    ] = None,
    attention: Annotated[
        Path | None, typer.Option(help="Draw where each head looks, as .png, .svg or .pdf.", show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Look at this translation, not the model's own.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a bundle is; with a sentence and --attention, draw what the model looks at while it translates."""
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.inspect import describe_bundle, draw_attention

    if (sentence is None) != (attention is None):
        raise typer.BadParameter("a sentence and --attention FILE belong together")
    if sentence is not None and as_json:
        raise typer.BadParameter("--json has no effect with --attention; leave one of them out")
    if sentence is not None and attention is not None:
        translation = draw_attention(bundle, sentence, attention, target=target)
        typer.echo(translation)
        typer.echo(f"wrote {attention}", err=True)
        return
    description = describe_bundle(bundle)
    if as_json:
        print_json(description)
    else:
        print_table("", list(description.items()))
