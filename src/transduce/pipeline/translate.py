"""Translating lines and documents with a bundle."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from transduce.base.errors import DataError, SettingsError
from transduce.base.files import STDIN, StrPath, naming, read_lines, read_text, sha256_file
from transduce.base.settings import SettingsSource
from transduce.bundle import find_bundle, read_bundle
from transduce.decoding.align import default_layer
from transduce.decoding.carry import Markup
from transduce.decoding.cut import TranslationsAtLimit
from transduce.decoding.glossary import Glossary
from transduce.decoding.records import Record, parse_records
from transduce.decoding.request import Request
from transduce.decoding.translator import Translation, Translator
from transduce.pipeline.bundles import decode_settings
from transduce.pipeline.partial import part_files, partial_output
from transduce.pipeline.task import LineTask, open_task, task_of
from transduce.pipeline.translate_output import OutputForm, format_line, unmarked

if TYPE_CHECKING:
    from transduce.data.settings import TaskName

__all__ = [
    "InputFormat",
    "TranslateJob",
    "Window",
    "check_output",
    "find_format",
    "open_translator",
    "translate",
    "translate_document_file",
    "translate_file",
    "translate_windows",
]

InputFormat = Literal["text", "jsonl"]
_TWO_LANGUAGES = {".tmx", ".xlf", ".xliff", ".po", ".mo", ".tsv"}


def open_translator(
    bundle: StrPath,
    overrides: Sequence[str | SettingsSource] = (),
    *,
    others: Sequence[tuple[Path, float]] = (),
    glossary: Glossary | None = None,
    markup: Markup = "text",
) -> Translator:
    """Open a bundle for translating, with its own settings of the search changed by overrides.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        overrides: As after ``--set``, or with another origin; only ``decode.*`` has an effect.
        others: Bundles that vote with it, and the weight of each; its own is 1.
        glossary: Terms and their translations.
        markup: Whether tags are carried through.

    Raises:
        BundleError: A bundle is missing, damaged or of another kind, or does not fit the first.
        SettingsError: An override is wrong or has no effect, or the engine or the device is not on this machine.
    """
    opened = read_bundle(bundle)
    settings = decode_settings(opened, overrides)
    if not others:
        return Translator(opened, settings, glossary=glossary, markup=markup)
    from transduce.pipeline.ensemble import open_ensemble  # here, since one bundle is the rule

    members = [(opened, 1.0), *((read_bundle(path), own) for path, own in others)]
    return Translator.from_parts(
        open_ensemble(members, settings),
        opened.tokenizers,
        settings,
        glossary=glossary,
        markup=markup,
        align_layer=default_layer(min(member.model.n_decoder_layers for member, _ in members)),
    )


def translate(bundle: StrPath, lines: Iterable[str], *, overrides: Sequence[str] = ()) -> Iterator[list[Translation]]:
    """Translate lines as they come: for each, its ``decode.n_best`` best translations, in order.

    The bundle is opened at once; lines are read when the results are asked for.

    Raises:
        TransduceError: As :func:`open_translator`.
    """
    translator = open_translator(bundle, overrides)
    return _translate(translator, open_task(translator), lines)


def _translate(translator: Translator, task: LineTask, lines: Iterable[str]) -> Iterator[list[Translation]]:
    requests: deque[Request] = deque()

    def remember() -> Iterator[Request]:
        for line in lines:
            requests.append(Request(line))
            yield task.request(requests[-1])

    for found in translator.translate_stream(remember()):
        request = requests.popleft()
        yield [task.finish(request, translation) for translation in found]
    task.tell()


def find_format(source: Path) -> InputFormat:
    """Tell from the name of a file what is in it.

    Raises:
        DataError: It is a file with two languages, such as translation tools exchange: its lines are no texts.

    >>> find_format(Path("a.jsonl.gz")), find_format(Path("a.en"))
    ('jsonl', 'text')
    """
    name = source.name.lower().removesuffix(".gz").removesuffix(".zst")
    suffix = PurePath(name).suffix
    if suffix in _TWO_LANGUAGES:
        raise DataError(
            f"{source}: a {suffix} file holds two languages, and is not translated as it is; write its source texts to a "
            f"file of lines{' (cut -f1)' if suffix == '.tsv' else ''}, or say --format text to translate it line by line"
        )
    return "jsonl" if suffix == ".jsonl" else "text"


@dataclass(frozen=True)
class TranslateJob:
    """What to translate, with what, and how the translations are written."""

    bundle: StrPath
    """A bundle, or a run directory with a finished model."""
    source: Path
    """The input; ``-`` is standard input."""
    format: InputFormat = "text"
    """What is in it."""
    form: OutputForm = field(default_factory=OutputForm)
    """What is written for each line."""
    overrides: Sequence[str | SettingsSource] = ()
    """As after ``--set``, or with another origin; only ``decode.*`` has an effect."""
    others: Sequence[tuple[Path, float]] = ()
    """Bundles that vote with the first, and the weight of each; that of the first is 1."""
    glossary: Path | None = None
    """A file of terms and their translations."""
    markup: Markup = "text"
    """Whether tags are carried through."""
    task: TaskName | None = None
    """What the model is used for; None: what it has learned."""

    def open(self) -> Translator:
        """Open all that it takes.

        Raises:
            TransduceError: As :func:`open_translator`, or the glossary is wrong.
        """
        glossary = Glossary.load(self.glossary) if self.glossary is not None else None
        return open_translator(self.bundle, self.overrides, others=self.others, glossary=glossary, markup=self.markup)


class Window(NamedTuple):
    """Some lines of the input, translated together."""

    n_lines: int
    """Lines translated so far, these included."""
    sources: list[str]
    """The lines."""
    written: list[str]
    """What is written for each, line ends included."""


def translate_windows(job: TranslateJob, lines: Iterable[str]) -> Iterator[Window]:
    """Translate lines window by window, in order.

    Args:
        job: What they are translated with; they stand in place of its input.
        lines: The lines.

    Raises:
        TransduceError: As :meth:`TranslateJob.open`, or a line is wrong.
    """
    translator = job.open()
    return _windows(translator, open_task(translator, job.task, form=job.form), job, lines, 0)


def translate_file(
    job: TranslateJob,
    output: Path | TextIO,
    *,
    resume: bool = False,
    progress: Callable[[int], None] = lambda n_lines: None,
) -> None:
    """Translate a file in memory that does not grow with its lines.

    Args:
        job: What to translate.
        output: A file, which appears when all is done, and until then has a part of it beside it; or a stream.
        resume: Go on with the part that an earlier call has left.
        progress: Told the number of lines done so far, again and again.

    Raises:
        TransduceError: As :meth:`TranslateJob.open`; the input cannot be read or is wrong; the output is one of the files
            that are read; the part of an earlier call does not fit.
    """
    if isinstance(output, Path):
        check_output(job, output)
    translator = job.open()
    task = open_task(translator, job.task, form=job.form)
    lines = read_lines(job.source)
    if not isinstance(output, Path):
        name = "standard output" if output is sys.stdout else getattr(output, "name", "the output")
        for window in _windows(translator, task, job, lines, 0):
            with naming(name):
                output.write("".join(window.written))
                output.flush()
            progress(window.n_lines)
        return
    with partial_output(output, lines, made_by=_made_by(translator, job), resume=resume) as partial:
        progress(partial.n_lines)
        for window in _windows(translator, task, job, lines, partial.n_lines):
            partial.write(window.sources, "".join(window.written))
            progress(window.n_lines)


def translate_document_file(job: TranslateJob) -> str:
    """Translate a document as a whole, its layout kept.

    Args:
        job: What to translate; only the text is written, whatever its form.

    Raises:
        TransduceError: As :meth:`TranslateJob.open`, or the document cannot be read.
    """
    translator = job.open()
    if task_of(translator.tokenizers) == "parsing":
        raise SettingsError("a document is translated, and this model parses: give it one sentence a line")
    return translator.translate_document(read_text(job.source))


def check_output(job: TranslateJob, output: Path) -> None:
    """Make sure that what is read is not replaced, under whatever name.

    Raises:
        DataError: The output, or a file beside it while it is made, is the input or the glossary.
    """
    target = Path(os.path.realpath(output))
    written = [target, *part_files(target)]
    read = {"input": job.source, "glossary": job.glossary}
    for role, path in read.items():
        if path is not None and any(_are_same(path, other) for other in written):
            raise DataError(f"{output}: writing this would replace the {role} ({path}); choose another --output")


def _are_same(path: Path, other: Path) -> bool:
    try:
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else path.stat()
        return os.path.samestat(found, other.stat())
    except (OSError, ValueError):  # not there; or a standard input that is no file of the system
        return False


def _windows(
    translator: Translator, task: LineTask, job: TranslateJob, lines: Iterable[str], n_done: int
) -> Iterator[Window]:
    annotated = _annotator(translator, job)
    sources: list[str] = []
    records: list[Record] = []

    def requests() -> Iterator[Request]:
        for number, record in enumerate(_read_records(job, _remember(lines, sources), n_done + 1), start=n_done + 1):
            records.append(record)
            try:
                shown = task.request(record.request)
            except DataError as error:
                raise DataError(f"{_name(job)}, line {number}: {error}") from None
            yield shown

    at_limit = TranslationsAtLimit(translator.settings)
    try:
        for window in translator.translate_windows(
            requests(), first_number=n_done + 1, name=lambda number: f"{_name(job)}, line {number}"
        ):
            about = iter(annotated([item for found in window for item in found]))
            parts = []
            for number, (record, raw) in enumerate(zip(records, window, strict=True), start=n_done + 1):
                found = [task.finish(record.request, item) for item in raw]
                parts.append(format_line(job.form, number, record, found, [next(about) for _ in found]))
                at_limit.look_at(unmarked(job.form, found), number)
            n_done += len(window)
            yield Window(n_done, list(sources), parts)
            sources.clear()
            records.clear()
    finally:  # also when the work is stopped: whoever goes on with it does not see these lines again
        at_limit.warn()
        task.tell()


def _annotator(translator: Translator, job: TranslateJob) -> Callable[[Sequence[Translation]], list[dict[str, Any]]]:
    """Return what annotates translations as the job asks for."""
    if not job.form.annotations:
        return lambda translations: [{} for _ in translations]
    from transduce.decoding.confidence import Calibration  # these here, since most jobs ask for none
    from transduce.pipeline.annotate import annotate

    calibration = Calibration.load(read_bundle(job.bundle)) if "confidence" in job.form.annotations else None
    return lambda translations: annotate(translator, translations, job.form.annotations, calibration)


def _remember(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line


def _read_records(job: TranslateJob, lines: Iterable[str], first_number: int) -> Iterator[Record]:
    match job.format:
        case "text":
            return (Record(Request(line)) for line in lines)
        case "jsonl":
            return parse_records(lines, _name(job), first_number=first_number)


def _name(job: TranslateJob) -> str:
    return "standard input" if job.source == STDIN else str(job.source)


def _made_by(translator: Translator, job: TranslateJob) -> dict[str, Any]:
    """Name everything that decides what is written for a line."""
    from transduce import __version__

    bundles = [job.bundle, *(path for path, _ in job.others)]
    settings = translator.settings.as_dict()
    return {
        "transduce": __version__,
        # The header of a bundle holds the checksums of all its other files.
        "bundle": [sha256_file(find_bundle(bundle) / "bundle.json") for bundle in bundles],
        "weights": [weight for _, weight in job.others],
        "glossary": sha256_file(job.glossary) if job.glossary is not None else None,
        "markup": job.markup,
        "format": job.format,
        "output": [job.form.kind, *job.form.annotations, *filter(None, [job.form.drawing])],
        **{f"decode.{name}": value for name, value in settings.items()},
        "engine": translator.engine.name,  # what 'auto' has come to on this machine
    }
