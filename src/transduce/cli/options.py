"""Options that several verbs share, spelled and explained once.

Paths are never checked by typer (``readable=False``): what opens a file says in one line what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["BundleArgument", "JsonOption", "OutOption", "RecipeArgument", "SetOption"]

RecipeArgument = Annotated[
    str | None, typer.Argument(help="A recipe's name (see 'transduce recipes') or a TOML file.", show_default=False)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.NAME=VALUE", help="Change one setting; may be given again.", show_default=False
    ),
]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Directory to write.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
BundleArgument = Annotated[
    Path,
    typer.Argument(help="A bundle, or a run directory with a finished model.", show_default=False, readable=False),
]
