"""``transduce average``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import OutOption

__all__ = ["average_command"]


def average_command(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            help="Bundles or checkpoints; with --last, one run directory.", show_default=False, readable=False
        ),
    ],
    out: OutOption,
    last: Annotated[
        int | None,
        typer.Option(min=1, help="Average this many of the newest checkpoints of the run.", show_default=False),
    ] = None,
) -> None:
    """Average the weights of several models of one run (paper, section 6.1)."""
    from transduce.pipeline.average import average

    typer.echo(f"wrote {average(bundles, out, last=last)}")
