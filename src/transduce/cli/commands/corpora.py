"""``transduce corpora``: corpora by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import JsonOption

__all__ = ["app"]

app = typer.Typer(help="List and fetch corpora by name.", no_args_is_help=True)

_INTERRUPTED = 130


@app.command("list")
def list_command(as_json: JsonOption = False) -> None:
    """List the corpora that have a name here, with their terms of use."""
    from transduce.cli.report import print_json, print_table
    from transduce.data.corpora import CATALOG

    made = "English to German, made by the project itself: nothing to fetch; the default of the demo"
    if as_json:
        print_json({"phrasebook": made, **{name: corpus.about for name, corpus in CATALOG.items()}})
        return
    rows = [(name, f"{corpus.about}\n({corpus.terms})") for name, corpus in CATALOG.items()]
    print_table("Corpora", [("phrasebook", made), *rows])


@app.command("get")
def get_command(
    name: Annotated[str, typer.Argument(help="A name from 'transduce corpora list'.")],
    mirror: Annotated[
        str | None,
        typer.Option("--from", metavar="DIR_OR_URL", help="Take the files from here, not from their own addresses."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for corpora; not given, $TRANSDUCE_CORPORA or the user's cache."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch a corpus: resumed where it broke off, checked by SHA-256, written as plain parallel files."""
    from transduce.cli.downloads import DownloadProgress
    from transduce.cli.report import print_json, print_table
    from transduce.data.corpora import corpora_directory, find_corpus, get_corpus

    corpus = find_corpus(name)
    try:
        with DownloadProgress() as progress:
            counts = get_corpus(corpus, mirror=mirror, directory=out, progress=progress)
    except KeyboardInterrupt:
        typer.echo("interrupted: what is there is kept, and the same command goes on from there", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    if out is not None and out.resolve() != corpora_directory().resolve():
        typer.echo(f"for data.corpus={name} to be found there: export TRANSDUCE_CORPORA={out.resolve()}", err=True)
    if as_json:
        print_json(counts)
    else:
        place = (out or corpora_directory()) / name / "text"
        print_table(f"{name} is in {place}", [(part, f"{count:,} pairs") for part, count in counts.items()])
