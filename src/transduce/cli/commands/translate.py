"""``transduce translate``."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn, TextIO

import typer

from transduce.cli.options import BundleArgument, SetOption

if TYPE_CHECKING:
    from transduce.base.settings import SettingsSource
    from transduce.pipeline.annotate import Annotation
    from transduce.pipeline.translate import InputFormat, TranslateJob
    from transduce.pipeline.translate_output import Drawing, OutputForm, OutputKind

__all__ = ["translate_command"]


TaskName = Literal["translate", "parse"]
Format = Literal[
    "text", "jsonl", "bracket", "tree", "svg"
]  # these three are others', spelled here to answer --help at once
EngineName = Literal["auto", "native", "torch"]
Precision = Literal["float32", "bfloat16", "float16", "int8"]

_TASKS: dict[TaskName, Literal["translation", "parsing"]] = {"translate": "translation", "parse": "parsing"}


def translate_command(
    context: typer.Context,
    bundle: BundleArgument,
    source: Annotated[
        Path,
        typer.Option(
            "--input", "-i", help="File to translate (.gz and .zst too); - is standard input.", readable=False
        ),
    ] = Path("-"),
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write (of many SVGs, a directory); not given, standard output.",
            show_default=False,
        ),
    ] = None,
    given_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="What the input is: text or jsonl; not given, by its name. Or how parses are written: bracket, on one line; "
            "tree, drawn with box characters; svg, as pictures.",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        TaskName | None,
        typer.Option(help="What the model is used for; not given, what it has learned.", show_default=False),
    ] = None,
    document: Annotated[
        bool, typer.Option("--document", help="Translate the input as one document, and keep its layout.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a half-written --output file.")] = False,
    line_by_line: Annotated[
        bool, typer.Option("--line-by-line", help="Answer each line before the next is read, as for a pipe that waits.")
    ] = False,
    n_best: Annotated[
        int | None, typer.Option(min=1, help="Print this many translations of each line, as line, rank, score, text.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print the score before each translation, and a tab.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
    beam: Annotated[int | None, typer.Option(min=1, help="decode.beam_size; 1 is greedy.", show_default=False)] = None,
    engine: Annotated[
        EngineName | None, typer.Option(help="decode.engine: what computes the model.", show_default=False)
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="decode.precision: numbers of the matrix products.", show_default=False)
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="decode.n_threads.", show_default=False)] = None,
    exact: Annotated[bool, typer.Option("--exact", help="decode.exact=true.")] = False,
    shortlist: Annotated[bool, typer.Option("--shortlist", help="decode.shortlist=true (see shortlist).")] = False,
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="BUNDLE[=WEIGHT]",
            help="Another bundle that votes on every token; may be given again.",
            show_default=False,
        ),
    ] = None,
    glossary: Annotated[
        Path | None,
        typer.Option(help="Terms and their translations, one a line.", show_default=False, readable=False),
    ] = None,
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Carry tags such as <b> through in their places.")
    ] = False,
    align: Annotated[bool, typer.Option("--align", help="With JSON: which word comes from which.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="With JSON: how likely each word is right (see calibrate).")
    ] = False,
    pieces: Annotated[bool, typer.Option("--pieces", help="With JSON: the tokens of each translation.")] = False,
    overrides: SetOption = None,
) -> None:
    """Translate lines of text, or parse them: one line in, one line out, in order; a blank line stays blank."""
    from transduce.base.errors import DataError, SettingsError
    from transduce.base.files import STDIN, check_readable, is_special
    from transduce.pipeline.translate import TranslateJob, check_output, translate_document_file
    from transduce.pipeline.translate_output import OutputForm

    if context.args:
        raise SettingsError(f"{context.args[0]}: one argument too many; a file to translate is given as --input FILE")
    if output is None and sys.__stdout__ is None:
        raise DataError("standard output is closed, and so the translations would be lost; give --output FILE")
    check_readable(source)
    format_, drawing = _read_format(given_format, source)
    kind = _choose_kind(format_, n_best, scores=scores, as_json=as_json)
    wanted: dict[Annotation, bool] = {"alignment": align, "confidence": confidence, "pieces": pieces}
    annotations = tuple(name for name, is_wanted in wanted.items() if is_wanted)
    if annotations and kind != "json":
        raise SettingsError("--align, --confidence and --pieces are written as JSON: add --json")
    form = OutputForm(kind, annotations, drawing)
    _check_drawing(form, document=document, resume=resume)
    if output is not None:
        _check_place(output, form)
    if document:
        _refuse_with_document(format_, kind, resume=resume, line_by_line=line_by_line)
    if resume and (output is None or is_special(output)):
        raise SettingsError("--resume goes on with a file, and so needs --output FILE")
    line_by_line = line_by_line or (source == STDIN and sys.stdin.isatty())  # someone is typing
    job = TranslateJob(
        bundle=bundle,
        source=source,
        format=format_,
        form=form,
        overrides=[
            *(overrides or ()),
            *_options(
                ("--beam", "beam_size", beam),
                ("--n-best", "n_best", n_best),
                ("--engine", "engine", engine),
                ("--precision", "precision", precision),
                ("--threads", "n_threads", threads),
                ("--exact", "exact", exact or None),
                ("--shortlist", "shortlist", shortlist or None),
                ("--line-by-line", "window_lines", 1 if line_by_line else None),
            ),
        ],
        others=_parse_members(others or ()),
        glossary=glossary,
        markup="inline" if keep_tags else "text",
        task=None if task is None else _TASKS[task],
    )
    if output is not None and not is_special(output):
        check_output(job, output)
    try:
        with _sigterm_like_ctrl_c():
            if document:
                _write(translate_document_file(job), output)
            else:
                _translate(job, output, resume=resume)
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "interrupted", err=True)
        raise typer.Exit(130) from None


def _read_format(given: Format | None, source: Path) -> tuple[InputFormat, Drawing | None]:
    """Return what is in the input, and how parses are written."""
    from transduce.pipeline.translate import find_format

    match given:
        case "text" | "jsonl":
            return given, None
        case _:
            return find_format(source), given


def _check_drawing(form: OutputForm, *, document: bool, resume: bool) -> None:
    """Refuse what does not go with parses, or with those that take more than a line."""
    from transduce.base.errors import SettingsError

    if form.drawing is not None and document:
        raise SettingsError(f"--document translates a text as a whole, and so does not go with --format {form.drawing}")
    if form.drawing in ("tree", "svg") and form.kind in ("scores", "n-best"):
        raise SettingsError(
            f"--format {form.drawing} draws over several lines, and --scores and --n-best have one for each parse; add --json"
        )
    if resume and form.in_pictures:
        raise SettingsError("--resume goes on with a file, and --format svg writes one for each sentence; leave it out")


def _check_place(output: Path, form: OutputForm) -> None:
    from transduce.base.files import check_writable_file
    from transduce.pipeline.draw_parses import check_picture_place, is_one_picture

    if form.in_pictures and not is_one_picture(output):
        check_picture_place(output)
    else:
        check_writable_file(output)


def _options(*given: tuple[str, str, str | int | None]) -> Iterator[SettingsSource]:
    """Yield the settings that options stand for, so that a message about one names the option."""
    from transduce.base.settings import SettingsSource

    for option, name, value in given:
        if value is not None:
            shown = option if value is True else f"{option} {value}"
            yield SettingsSource(f"{shown} (decode.{name})", {"decode": {name: value}})


def _parse_members(texts: Sequence[str]) -> list[tuple[Path, float]]:
    if not texts:
        return []
    from transduce.pipeline.ensemble import parse_member

    return [parse_member(text) for text in texts]


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, by which schedulers and service managers stop a process, keep what is done as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # Python lets no other thread handle signals
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _choose_kind(format_: InputFormat, n_best: int | None, *, scores: bool, as_json: bool) -> OutputKind:
    from transduce.base.errors import SettingsError

    as_json = as_json or format_ == "jsonl"
    if scores and (n_best is not None or as_json):
        raise SettingsError("--scores has no effect with --n-best or JSON, which show scores anyway")
    if as_json:
        return "json"
    return "n-best" if n_best is not None else "scores" if scores else "text"


def _refuse_with_document(format_: InputFormat, kind: OutputKind, *, resume: bool, line_by_line: bool) -> None:
    """A document is one text, and so has no lines to number, to score or to go on from."""
    from transduce.base.errors import SettingsError

    given = {
        "--format jsonl": format_ == "jsonl",
        "--json, --n-best or --scores": kind != "text",
        "--resume": resume,
        "--line-by-line": line_by_line,
    }
    for option, is_given in given.items():
        if is_given:
            raise SettingsError(f"--document translates a text as a whole, and so does not go with {option}")


def _translate(job: TranslateJob, output: Path | None, *, resume: bool) -> None:
    from transduce.base.files import STDIN, is_special, naming, read_lines
    from transduce.cli.translation import TranslationProgress, show_bar
    from transduce.pipeline.draw_parses import draw_parses
    from transduce.pipeline.translate import translate_file

    shown = show_bar(to_stdout=output is None)
    can_be_read_twice = job.source != STDIN and not is_special(job.source)
    n_lines = sum(1 for _ in read_lines(job.source)) if shown and can_be_read_twice else None
    with ExitStack() as stack:
        progress = stack.enter_context(TranslationProgress(n_lines, shown=shown))
        if output is None:
            target: Path | TextIO = sys.stdout
        elif is_special(output):
            stack.enter_context(naming(output))  # closing writes what an error has left in the buffer
            target = stack.enter_context(output.open("w", encoding="utf-8", newline="\n"))
        else:
            target = output
        if job.form.in_pictures:
            draw_parses(job, target, progress=progress)
        else:
            translate_file(job, target, resume=resume, progress=progress)


def _write(text: str, output: Path | None) -> None:
    from transduce.base.files import atomic_file, naming

    if output is None:
        with naming("standard output"):
            sys.stdout.write(text)
        return
    with naming(output), atomic_file(output) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
