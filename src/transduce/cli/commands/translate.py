"""``transduce translate``."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import BundleArgument, SetOption

__all__ = ["translate_command"]


def translate_command(
    bundle: BundleArgument,
    source: Annotated[
        Path,
        typer.Option(
            "--input", "-i", help="File to translate (.gz and .zst too); - is standard input.", readable=False
        ),
    ] = Path("-"),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; not given, standard output.", show_default=False),
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="decode.beam_size; 1 is greedy.", show_default=False)] = None,
    n_best: Annotated[
        int | None, typer.Option(min=1, help="Print this many translations of each line, as line, rank, score, text.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print the score before each translation, and a tab.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
    overrides: SetOption = None,
) -> None:
    """Translate lines of text: one line in, one line out, in order; a blank line stays blank."""
    from transduce.base.files import STDIN, atomic_file, check_readable, check_writable_file, read_lines
    from transduce.pipeline.translate import translate

    check_readable(source)
    if output is not None:
        check_writable_file(output)
    if scores and (n_best is not None or as_json):
        raise typer.BadParameter("--scores has no effect with --n-best or --json, which show scores anyway")
    changes = list(overrides or ())
    if beam is not None:
        changes.append(f"decode.beam_size={beam}")
    if n_best is not None:
        changes.append(f"decode.n_best={n_best}")
    if source == STDIN and sys.stdin.isatty():
        changes.append("decode.window_lines=1")  # someone is typing: answer each line
    results = translate(bundle, read_lines(source), overrides=changes)
    with ExitStack() as stack:
        if output is None:
            stream = sys.stdout
        else:
            stream = stack.enter_context(
                stack.enter_context(atomic_file(output)).open("w", encoding="utf-8", newline="\n")
            )
        for number, hypotheses in enumerate(results, start=1):
            if as_json:
                values = [{"text": item.text, "score": item.score, "log_prob": item.log_prob} for item in hypotheses]
                stream.write(json.dumps({"line": number, "translations": values}, ensure_ascii=False) + "\n")
            elif n_best is not None:
                for rank, item in enumerate(hypotheses, start=1):
                    stream.write(f"{number}\t{rank}\t{item.score:.6f}\t{item.text}\n")
            else:
                head = f"{hypotheses[0].score:.6f}\t" if scores else ""
                stream.write(f"{head}{hypotheses[0].text}\n")
            stream.flush()
