"""Options that several verbs share, spelled and explained once.

Paths are never checked by typer (``readable=False``): what opens a file says in one line what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BundleArgument",
    "ConfidenceOption",
    "FlavoursOption",
    "JsonOption",
    "LanguageOption",
    "OutOption",
    "RecipeArgument",
    "SetOption",
    "StartOption",
    "TerOption",
]

RecipeArgument = Annotated[
    str | None, typer.Argument(help="A recipe's name (see 'transduce recipes') or a TOML file.", show_default=False)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.NAME=VALUE", help="Change one setting; may be given again.", show_default=False
    ),
]
StartOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="BUNDLE",
        help="A trained model to go on with: its vocabularies, its shape and its weights.",
        show_default=False,
        readable=False,
    ),
]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Directory to write.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
BundleArgument = Annotated[
    Path,
    typer.Argument(help="A bundle, or a run directory with a finished model.", show_default=False, readable=False),
]
FlavoursOption = Annotated[
    bool, typer.Option("--flavours", help="All flavours of BLEU side by side, those that old papers print among them.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        help="Target language, which --flavours needs; not given, as the data or a file name says.", show_default=False
    ),
]
TerOption = Annotated[bool, typer.Option("--ter", help="Also TER; it takes longer than all else together.")]
ConfidenceOption = Annotated[
    bool, typer.Option("--confidence", help="Each score with its 95 % interval, by bootstrap over the sentences.")
]
