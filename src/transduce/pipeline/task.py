"""What a task decides between a line of input and a line of output: translation is one, parsing another.

A task is data and a few functions. Its data are sentence pairs (:mod:`transduce.data.sources`), its target side has a
tokenizer (:mod:`transduce.tokenizer`), what the model writes is turned into what is wanted (here), and it has a score
(:mod:`transduce.pipeline.validators`, and ``evaluate``). Everything else is the same for all tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from transduce.base.errors import DataError, SettingsError
from transduce.decoding.request import Request
from transduce.decoding.translation import Translation
from transduce.tokenizer.subword import SubwordTokenizer

if TYPE_CHECKING:
    from transduce.data.settings import TaskName
    from transduce.decoding.parser import Parser
    from transduce.decoding.translator import Translator
    from transduce.pipeline.translate_output import OutputForm
    from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["LineTask", "open_task", "task_of"]


class LineTask(Protocol):
    """What stands between lines and the model."""

    def request(self, request: Request) -> Request:
        """Return what the model is shown for a line.

        Raises:
            DataError: It asks for what the task does not have.
        """
        ...

    def finish(self, request: Request, translation: Translation) -> Translation:
        """Return what is written for a line: what the model wrote, turned into what is wanted."""
        ...

    def tell(self) -> None:
        """Say at the end what there is to say about all lines."""
        ...


class _Translating:
    """Lines are translated as they stand."""

    def request(self, request: Request) -> Request:
        return request

    def finish(self, request: Request, translation: Translation) -> Translation:
        return translation

    def tell(self) -> None:
        pass


class _Parsing:
    """Lines are sentences, and trees are written."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def request(self, request: Request) -> Request:
        for wish in ("prefix", "required", "banned", "keep"):
            if getattr(request, wish):
                raise DataError(f'"{wish}" is for translations, and this model parses; leave it out')
        return self._parser.request(request)

    def finish(self, request: Request, translation: Translation) -> Translation:
        return self._parser.finish(request.text, translation)

    def tell(self) -> None:
        counts = self._parser.counts
        if counts.n_repaired:
            from transduce.base.log import logger

            if self._parser.translator.settings.whole_trees:
                why = "decode.whole_trees holds where a sentence fits into the model and its words into the vocabulary"
            else:
                why = "decode.whole_trees = true searches for whole trees only"
            logger.warning("%s; %s", counts.describe(), why)


def task_of(tokenizers: TokenizerPair) -> TaskName:
    """Return what a model has learned, as the tokenizer of its target side tells."""
    if isinstance(tokenizers.tgt, SubwordTokenizer):  # first, so that most translators start without what trees need
        return "translation"
    from transduce.tokenizer.trees import TreeTokenizer

    return "parsing" if isinstance(tokenizers.tgt, TreeTokenizer) else "translation"


def open_task(translator: Translator, wanted: TaskName | None = None, *, form: OutputForm | None = None) -> LineTask:
    """Return what stands between lines and a model.

    Args:
        translator: The model.
        wanted: What it is used for; None: what it has learned.
        form: How it is written. None: as text.

    Raises:
        SettingsError: The model has learned another task, or something is asked for that only the other has.
    """
    task = task_of(translator.tokenizers)
    if wanted is not None and wanted != task:
        raise SettingsError(f"this model has learned {task}, and {wanted} is asked for; choose a model of that task")
    if task == "translation":
        if form is not None and form.drawing is not None:
            raise SettingsError(f"--format {form.drawing} writes parses, and this model translates; leave it out")
        return _Translating()
    from transduce.decoding.parser import Parser

    annotations = () if form is None else form.annotations
    given = {
        "a glossary": translator.glossary is not None,
        "carrying tags through": translator.markup != "text",
        "decode.banned": bool(translator.settings.banned),
        **{f"the {name} of words": name in annotations for name in ("alignment", "confidence")},
    }
    for what, is_given in given.items():
        if is_given:
            raise SettingsError(f"{what} is for translations, and this model parses; leave it out")
    return _Parsing(Parser(translator))
