"""``transduce bleu``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from transduce.cli.options import ConfidenceOption, FlavoursOption, JsonOption, LanguageOption, TerOption

__all__ = ["bleu_command"]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]  # metrics.bleu's, spelled here to answer --help at once


def bleu_command(
    hypotheses: Annotated[
        Path, typer.Argument(help="Translations, detokenized, one a line.", show_default=False, readable=False)
    ],
    references: Annotated[
        list[Path],
        typer.Argument(help="References, one a line; one or more files.", show_default=False, readable=False),
    ],
    tokenize: Annotated[
        BleuTokenizer | None,
        typer.Option(help="sacreBLEU's tokenizer; not given, 13a. zh and char are for text without spaces."),
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Case does not count for BLEU.")] = False,
    flavours: FlavoursOption = False,
    language: LanguageOption = None,
    ter: TerOption = False,
    confidence: ConfidenceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score finished translations against references: sacreBLEU and chrF2, with their signatures."""
    from transduce.base.errors import DataError
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.bleu import bleu_files

    if flavours and (tokenize is not None or lowercase):
        raise DataError(
            "--flavours prints every tokenizer, with and without case: leave --tokenize and --lowercase out"
        )
    if language is not None and not flavours:
        raise DataError("--language has an effect on --flavours only: give that too, or leave it out")
    report = bleu_files(
        hypotheses,
        *references,
        tokenize=tokenize or "13a",
        lowercase=lowercase,
        flavours=flavours,
        language=language,
        ter=ter,
        confidence=confidence,
    )
    if as_json:
        values: dict[str, Any] = report.as_dict()
        print_json(values)
    elif flavours:
        print_table("", [(score.name, f"{score.format_value()}   {score.signature}") for score in report.scores])
        typer.echo(report.paper)
    else:
        for score in report.scores:
            typer.echo(score)
