"""``transduce bleu``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from transduce.cli.options import JsonOption

__all__ = ["bleu_command"]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]  # metrics.bleu's, spelled here to answer --help at once


def bleu_command(
    hypotheses: Annotated[
        Path, typer.Argument(help="Translations, detokenized, one a line.", show_default=False, readable=False)
    ],
    references: Annotated[Path, typer.Argument(help="References, one a line.", show_default=False, readable=False)],
    tokenize: Annotated[
        BleuTokenizer, typer.Option(help="sacreBLEU's tokenizer; zh and char are for text without spaces.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Case does not count for BLEU.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Score finished translations against references: sacreBLEU and chrF2, with their signatures."""
    from transduce.cli.report import print_json
    from transduce.pipeline.bleu import bleu_files

    report = bleu_files(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    if as_json:
        values: dict[str, Any] = report.as_dict()
        print_json(values)
    else:
        typer.echo(report.bleu)
        typer.echo(report.chrf)
