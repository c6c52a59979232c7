"""The entry point: one verb, its options, and one line for each mistake.

Exit codes: 0 all well, 1 our fault, 2 the user's mistake, 130 interrupted, 141 nobody reads the output any more.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from transduce.base.errors import DataError, MissingExtraError, TransduceError
from transduce.base.files import naming
from transduce.base.log import logger
from transduce.cli.commands import (
    align,
    average,
    bleu,
    calibrate,
    compare,
    corpora,
    doctor,
    evaluate,
    f1,
    inspect,
    prepare,
    reproduce,
    rescore,
    score,
    self_train,
    settings,
    shortlist,
    train,
    translate,
    words,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="transduce",
    help="Train your own translator: from two text files to a model, its BLEU and its translations.",
    epilog="Start with: transduce train phrasebook --out runs/phrasebook",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_USER, _OURS, _BROKEN_PIPE = 2, 1, 141  # the last as the shell says of programs that SIGPIPE ends
_EXTRAS = {
    "jaxtyping": "train",
    "lxml": "formats",
    "matplotlib": "plot",
    "nltk": "parse",
    "polib": "formats",
    "sacrebleu": "score",
    "sacremoses": "score",
    "sentencepiece": "sentencepiece",
    "tensorboard": "tensorboard",
    "torch": "train",
    "zstandard": "formats",
}
"""Optional packages and what installs them, as in pyproject.toml."""

for _name, _panel, _function in (
    ("prepare", "From text to a model", prepare.prepare_command),
    ("train", "From text to a model", train.train_command),
    ("self-train", "From text to a model", self_train.self_train_command),
    ("average", "From text to a model", average.average_command),
    ("translate", "Using a model", translate.translate_command),
    ("evaluate", "Using a model", evaluate.evaluate_command),
    ("bleu", "Using a model", bleu.bleu_command),
    ("compare", "Using a model", compare.compare_command),
    ("f1", "Using a model", f1.f1_command),
    ("words", "Using a model", words.words_command),
    ("score", "Using a model", score.score_command),
    ("rescore", "Using a model", rescore.rescore_command),
    ("align", "Using a model", align.align_command),
    ("calibrate", "Using a model", calibrate.calibrate_command),
    ("shortlist", "Using a model", shortlist.shortlist_command),
    ("inspect", "Using a model", inspect.inspect_command),
    ("reproduce", "The paper", reproduce.reproduce_command),
    ("recipes", "Finding things out", settings.recipes_command),
    ("doctor", "Finding things out", doctor.doctor_command),
):
    # The verbs that take further arguments refuse them in their own words.
    app.command(_name, rich_help_panel=_panel, context_settings={"allow_extra_args": _name == "translate"})(_function)
app.add_typer(settings.app, name="settings", rich_help_panel="Finding things out")
app.add_typer(corpora.app, name="corpora", rich_help_panel="From text to a model")


def _print_version(wanted: bool) -> None:
    if wanted:
        from transduce import __version__

        typer.echo(f"transduce {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the code an error arose. May stand anywhere.")
    ] = False,
) -> None:
    """Hold the options that belong to no verb."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # Waiting threads that spin take the cores from everything else on the machine: up to 4.8 times slower training
    # beside one other process. It must be said before torch is imported, and costs nothing on a quiet machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    arguments = [argument for argument in sys.argv[1:] if argument != "--traceback"]
    show_traceback = len(arguments) < len(sys.argv) - 1
    _open_closed_streams()
    _send_log_to_stderr()
    try:
        try:
            _refuse_empty(arguments)
            app(_with_pages(arguments))
        finally:
            _flush_output()
    except SystemExit as stop:
        # The command line's own library catches a broken pipe, and ends with the code of an internal error.
        if isinstance(stop.__context__, OSError) and stop.__context__.errno == errno.EPIPE:
            _end_at_broken_pipe()
        raise
    except BrokenPipeError:
        _end_at_broken_pipe()
    except Exception as error:
        if show_traceback:
            raise
        mistake = _as_mistake(error)
        if mistake is not None:
            _fail(f"error: {mistake}", _USER)
        _fail(
            f"internal error: {type(error).__name__}: {error} (run again with --traceback, and please report it)", _OURS
        )


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse an option whose value is empty, as a variable of the shell makes it that is not set.

    Raises:
        DataError: One is.
    """
    for argument, following in pairwise([*arguments, "end"]):
        if argument == "--":
            return
        name, mark, value = argument.partition("=")
        if name.startswith("--") and (following == "" if not mark else value == ""):
            raise DataError(f"{name}: its value is empty; give one, or leave {name} out")


def _with_pages(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with a page after each ``--attention`` and ``--trace`` of ``inspect`` that names no file."""
    if list(arguments[:1]) != ["inspect"]:
        return list(arguments)
    named: list[str] = []
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue="-"):
        named.append(argument)
        if argument in ("--attention", "--trace") and following.startswith("-"):
            named.append(f"{argument.removeprefix('--')}.html")
    return named


def _end_at_broken_pipe() -> NoReturn:
    """End in silence: whoever read the output has enough of it, as ``head`` does."""
    _drop_output()
    sys.exit(_BROKEN_PIPE)


def _flush_output() -> None:
    """Write what waits in the buffer of standard output while what the system says to it can still be told."""
    try:
        with naming("standard output"):
            sys.stdout.flush()
    except OSError:
        _drop_output()
        raise


def _drop_output() -> None:
    """Let what waits in the buffer of standard output go nowhere; Python would fail on it once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _as_mistake(error: Exception) -> TransduceError | None:
    """Return an error as one that the user can mend; None when it is our fault.

    A verb that cannot do anything without an optional package imports it like any other; where it is missing, that is said
    here, in the words of :func:`transduce.base.extras.require`.
    """
    if isinstance(error, TransduceError):
        return error
    if isinstance(error, OSError) and error.errno is not None:  # a full disk, a name too long, too many open files
        place = f"{error.filename}: " if error.filename is not None else ""
        return DataError(f"{place}{error.strerror or error}")
    if (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"  # torch's, which must not be imported for this
        or any(words in str(error) for words in ("allocate memory", "Storage size calculation overflowed"))
    ):
        return TransduceError(f"there is not enough memory ({_first_line(error)}); choose smaller settings")
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if package not in _EXTRAS:
        return None
    return MissingExtraError(
        f"this command needs the package '{package}', which is not installed: pip install 'transduce[{_EXTRAS[package]}]'"
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _fail(message: str, code: int) -> NoReturn:
    sys.stderr.write(message + "\n")
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let a standard stream that was closed before the start (``<&-``, some daemons) be an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free descriptor is the closed one, so that no file of ours gets its number.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 (as long as the process)


def _send_log_to_stderr() -> None:
    handler = _StderrHandler()
    handler.setFormatter(_LevelFormatter())
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    # All text is UTF-8 whatever the locale says. A file name that is none must not break what is said about it: on
    # stdout it comes out as the bytes that it is made of.
    sys.stdin.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")  # type: ignore[union-attr]
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


class _StderrHandler(logging.Handler):
    """Write to what is standard error at that moment: while a bar is shown, rich puts lines above it, not into it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        sys.stderr.write(self.format(record) + "\n")
        sys.stderr.flush()


class _LevelFormatter(logging.Formatter):
    """Write ``warning: ...`` before warnings, and plain text otherwise."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        text = super().format(record)
        return text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}"
