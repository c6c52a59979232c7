"""``transduce align``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from transduce.cli.options import BundleArgument, SetOption

__all__ = ["align_command"]


def align_command(
    bundle: BundleArgument,
    src: Annotated[Path, typer.Argument(help="Source sentences, one a line.", show_default=False, readable=False)],
    tgt: Annotated[Path, typer.Argument(help="Their translations, line by line.", show_default=False, readable=False)],
    layer: Annotated[
        int | None,
        typer.Option(
            help="Decoder layer whose attention is read, from 1; not given, the last but one.", show_default=False
        ),
    ] = None,
    unit: Annotated[
        Literal["words", "pieces"], typer.Option(help="Link words (split at white space) or the tokenizer's pieces.")
    ] = "words",
    min_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out links that got less of their target's attention."),
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each pair.")] = False,
    overrides: SetOption = None,
) -> None:
    """Align the words of sentence pairs by the model's attention: links i-j, source first, from 0, one line a pair."""
    from transduce.pipeline.align import align_files

    found = align_files(bundle, src, tgt, layer=layer, unit=unit, min_share=min_share, overrides=overrides or ())
    for number, alignment in enumerate(found, start=1):
        if as_json:
            values = {
                "line": number,
                "src": alignment.src,
                "tgt": alignment.tgt,
                "links": [{"src": link.src, "tgt": link.tgt, "share": link.share} for link in alignment.links],
            }
            sys.stdout.write(json.dumps(values, ensure_ascii=False) + "\n")
        else:
            sys.stdout.write(alignment.pharaoh + "\n")
