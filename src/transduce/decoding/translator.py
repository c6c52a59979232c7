"""Text in, text out: result i translates text i, whatever stands in it.

- A blank text (white space, no-break space, U+3000, zero-width characters) is never shown to the model: it gives a blank
  translation, and in an n-best list as many of them as there are for any other text.
- A source that is too long is cut, and one warning at the end names the lines; :meth:`Translator.translate_document` cuts
  nothing.
- A line feed or carriage return inside a translation becomes a space, so that output lines can be counted.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args, overload

from transduce.base.errors import DecodingError, SettingsError
from transduce.base.files import StrPath
from transduce.base.settings import SettingsSource, resolve
from transduce.bundle.directory import Bundle, read_bundle
from transduce.decoding.carry import Found, Markup, Prepared, prepare_requests, restore
from transduce.decoding.cut import CutSources
from transduce.decoding.engine import Engine, default_layer
from transduce.decoding.engines import load_engine
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.request import Request
from transduce.decoding.search import check_search, search
from transduce.decoding.settings import DecodeDevice, DecodePrecision, DecodeSettings, EngineName
from transduce.decoding.translation import BLANK, Translation
from transduce.text.normalize import is_blank
from transduce.tokenizer.protocol import TokenizerPair

if TYPE_CHECKING:
    from transduce.decoding.glossary import Glossary

__all__ = ["Text", "Translation", "Translator"]

Text = str | Request
"""What can be translated: a text, or a text with wishes of its own."""

_ONE_LINE = str.maketrans("\r\n", "  ")


def _text_name(number: int) -> str:
    return f"text {number}"


class Translator:
    r"""A model with its tokenizers and a way to search. It has no state of its own: threads may share it.

    What is not given is as ``settings`` say, or the settings that the bundle holds where these are not given either.

    Args:
        bundle: A bundle, or the directory of one, or of the run that made it.
        settings: How to search; None: as the bundle's own settings say.
        beam_size: In place of ``decode.beam_size``; 1 is greedy search.
        n_best: In place of ``decode.n_best``.
        engine: In place of ``decode.engine``: what computes the model.
        device: In place of ``decode.device``.
        precision: In place of ``decode.precision``.
        n_threads: In place of ``decode.n_threads``.
        glossary: Terms and their translations, for all texts; or the path of a file with them.
        markup: ``inline``: tags such as ``<b>`` in a text are carried through. ``text``: they are text like any other.

    Raises:
        BundleError: The bundle is missing, damaged or of another kind.
        SettingsError: A setting is wrong, or the engine or the device is not on this machine.

    >>> translator = Translator(bundle, beam_size=2)  # the path of a bundle
    >>> texts = translator.translate(["a blue door", "", "two doors"])
    >>> len(texts), texts[1]
    (3, '')
    >>> translator.translate("a blue door") == texts[0] == "".join(translator.stream("a blue door"))
    True
    >>> [len(found) for found in translator.translate_nbest([Request("a blue door", n_best=2), "two doors"])]
    [2, 1]
    >>> translator.translate_document("  - a blue door\n\n  - two doors\n").count("  - ")
    2
    """

    def __init__(
        self,
        bundle: StrPath | Bundle,
        settings: DecodeSettings | None = None,
        *,
        beam_size: int | None = None,
        n_best: int | None = None,
        engine: EngineName | None = None,
        device: DecodeDevice | None = None,
        precision: DecodePrecision | None = None,
        n_threads: int | None = None,
        glossary: Glossary | StrPath | None = None,
        markup: Markup = "text",
    ) -> None:
        opened = bundle if isinstance(bundle, Bundle) else read_bundle(bundle)
        changes = {
            "beam_size": beam_size,
            "n_best": n_best,
            "engine": engine,
            "device": device,
            "precision": precision,
            "n_threads": n_threads,
        }
        given = SettingsSource("Translator", {name: value for name, value in changes.items() if value is not None})
        resolved = resolve(DecodeSettings, [_base_settings(opened, settings), given])
        self.engine = load_engine(opened, resolved)
        self.tokenizers = opened.tokenizers
        self.settings = resolved
        self.glossary = _open_glossary(glossary) if glossary is not None else None
        self.markup: Markup = _check_markup(markup)
        self.align_layer = default_layer(opened.model.n_decoder_layers)
        """The decoder layer whose attention tells which words belong together, for whoever wants alignments."""

    @classmethod
    def from_parts(
        cls,
        engine: Engine,
        tokenizers: TokenizerPair,
        settings: DecodeSettings,
        *,
        glossary: Glossary | None = None,
        markup: Markup = "text",
        align_layer: int = -1,
    ) -> Translator:
        """Put a translator together from a model that is in memory already.

        Args:
            engine: The model.
            tokenizers: Those of its two sides.
            settings: How to search.
            glossary: As for the class.
            markup: As for the class.
            align_layer: Decoder layer whose attention tells which words belong together; negative from the end.
        """
        translator = cls.__new__(cls)
        translator.engine = engine
        translator.tokenizers = tokenizers
        translator.settings = settings
        translator.glossary = glossary
        translator.markup = _check_markup(markup)
        translator.align_layer = align_layer
        return translator

    @property
    def max_src_tokens(self) -> int:
        """Tokens of a source that are read, EOS not counted."""
        limits = (self.settings.max_src_tokens, self.engine.max_sentence_tokens)
        return min(limit for limit in limits if limit is not None)

    @overload
    def translate(self, texts: Text) -> str: ...  # type: ignore[overload-overlap]  # a str is a sequence of str too
    @overload
    def translate(self, texts: Sequence[Text]) -> list[str]: ...
    def translate(self, texts: Text | Sequence[Text]) -> str | list[str]:
        """Return the best translation of a text, or of each of several texts, in order.

        Raises:
            TypeError: Something is no text, such as tokens: the tokenizer is part of the bundle.
        """
        if isinstance(texts, str | Request):
            return self.translate([texts])[0]
        return [translations[0].text for translations in self.translate_stream(texts)]

    def translate_nbest(self, texts: Sequence[Text]) -> list[list[Translation]]:
        """Return the ``n_best`` best translations of each text, best first, with their scores.

        There are fewer only where the length limits leave fewer different ones, or where a diverse search or minimum Bayes
        risk finds fewer.
        """
        return list(self.translate_stream(texts))

    def translate_stream(self, texts: Iterable[Text]) -> Iterator[list[Translation]]:
        """Translate texts as they come, in memory that does not grow with their number.

        Yields:
            For each text, in order, its ``n_best`` best translations, best first.
        """
        for window in self.translate_windows(texts):
            yield from window

    def translate_windows(
        self, texts: Iterable[Text], *, first_number: int = 1, name: Callable[[int], str] = _text_name
    ) -> Iterator[list[list[Translation]]]:
        """Translate texts as they come, ``window_lines`` at a time.

        What is translated together depends on the window and on nothing before it: to go on behind a window gives to the
        last bit what going through all windows gives.

        Args:
            texts: Any number of them.
            first_number: Number of the first one.
            name: Says by its number what messages call a text.

        Yields:
            For each window what :meth:`translate_stream` yields for its texts.
        """
        if isinstance(texts, str | Request):
            raise TypeError("give several texts here, such as a list; for a single text there is Translator.translate")
        cut = self._cut_sources()
        stream, number = iter(texts), first_number
        try:
            while window := list(itertools.islice(stream, self.settings.window_lines)):
                yield self._translate_window(window, number, cut, name)
                number += len(window)
        finally:  # also when the reader has had enough
            cut.warn()

    def translate_document(self, text: str) -> str:
        r"""Translate a whole document sentence by sentence, and keep its layout. Nothing is cut.

        How sentences and layout are found is said in :mod:`transduce.text.split` and :mod:`transduce.text.layout`.
        """
        from transduce.decoding.document import translate_document  # here: most texts are no documents

        return translate_document(
            text,
            lambda sentences: (translations[0].text for translations in self.translate_stream(sentences)),
            tokenizer=self.tokenizers.src,
            longest=self.max_src_tokens,
        )

    def stream(self, text: Text) -> Iterator[str]:
        """Translate one text and give its translation while it is being made.

        A part is given once it is certain. Greedy search is certain of every word that it has ended, beam search of what
        all hypotheses that may still win have in common. Nothing is taken back; joined, the parts are what
        :meth:`translate` returns. Other searches, required words, and translations that are finished afterwards (tags,
        kept spans) are given at once.

        Yields:
            Parts that are never empty and end between words, or in scripts without spaces between characters.
        """
        from transduce.decoding.stream import can_stream, certain_text, stream_ids  # here: most callers want wholes

        request = _request(text)
        cut = self._cut_sources()
        [prepared] = self._prepare([request], [1], cut, _text_name)
        if (
            is_blank(request.text)
            or prepared.restoration.needs_alignment
            or not can_stream(prepared.query, self.settings)
        ):
            whole = self.translate(request)
            yield from [whole] if whole else []
            return
        given, ids = "", (*prepared.query.prefix,)
        for ids in stream_ids(self.engine, prepared.query, self.settings):
            certain = certain_text(self._decode(ids))
            if len(certain) > len(given):
                yield certain[len(given) :]
                given = certain
        if rest := self._decode(ids)[len(given) :]:
            yield rest
        cut.warn()

    def _translate_window(
        self, window: Sequence[Text], first_number: int, cut: CutSources, name: Callable[[int], str]
    ) -> list[list[Translation]]:
        requests = [_request(text) for text in window]
        for i, request in enumerate(requests):
            self._settings_for(request.n_best, name(first_number + i))  # refuses more than the search can give
        results = [[BLANK] * (request.n_best or self.settings.n_best) for request in requests]
        inked = [i for i, request in enumerate(requests) if not is_blank(request.text)]
        prepared = self._prepare([requests[i] for i in inked], [first_number + i for i in inked], cut, name)
        waiting: dict[int, list[tuple[int, Prepared]]] = {}  # by the number of translations wanted
        for i, each in zip(inked, prepared, strict=True):
            if each.query.src:
                waiting.setdefault(len(results[i]), []).append((i, each))
            else:  # nothing but tags, or nothing that the vocabulary has
                empty = replace(BLANK, text=each.restoration.apply("", ()))
                results[i] = [empty] * len(results[i])
        for n_best, group in waiting.items():
            settings = self._settings_for(n_best, name(first_number + group[0][0]))
            found = search(self.engine, [each.query for _, each in group], settings, self._decode)
            finished = self._finish([each for _, each in group], found)
            for (i, _), translations in zip(group, finished, strict=True):
                results[i] = translations
        return results

    def _prepare(
        self, requests: Sequence[Request], numbers: Sequence[int], cut: CutSources, name: Callable[[int], str]
    ) -> list[Prepared]:
        """Turn requests into what is searched for, and note those that are too long by their numbers."""
        prepared = prepare_requests(
            requests, self.tokenizers, glossary=self.glossary, markup=self.markup, banned=self.settings.banned
        )
        if self.settings.whole_trees:
            from transduce.decoding.trees import tree_shapes  # here, since most models write no trees

            sentences = [request.text for request in requests]
            shapes = tree_shapes(sentences, self.tokenizers.tgt, self.engine.max_sentence_tokens)
            prepared = [
                replace(each, query=replace(each.query, tree=shape))
                for each, shape in zip(prepared, shapes, strict=True)
            ]
        shortened = [cut.shorten(each, number) for number, each in zip(numbers, prepared, strict=True)]
        for number, each in zip(numbers, shortened, strict=True):
            if each.query.prefix or each.query.required or each.query.banned:
                self._check(each, name(number))
        return shortened

    def _check(self, prepared: Prepared, name: str) -> None:
        """Refuse a wish that cannot be met before anything is computed, with the name of its text."""
        try:
            check_search(self.engine, [prepared.query], self.settings, self._decode)
        except DecodingError as error:
            raise DecodingError(f"{name}: {error}") from None

    def _finish(self, prepared: Sequence[Prepared], found: Sequence[Sequence[Hypothesis]]) -> list[list[Translation]]:
        """Turn hypotheses into text, with all that the requests want put back into it."""
        pairs = [(each, own) for each, some in zip(prepared, found, strict=True) for own in some]
        texts = restore(
            self.engine,
            [Found(each.restoration, self._decode(own.ids), own.ids) for each, own in pairs],
            batch_tokens=self.settings.batch_tokens,
        )
        finished = iter(
            Translation(text, own.score, own.log_prob, own.ids, each.query.src, own.at_limit)
            for text, (each, own) in zip(texts, pairs, strict=True)
        )
        return [list(itertools.islice(finished, len(some))) for some in found]

    def _decode(self, ids: Sequence[int]) -> str:
        return self.tokenizers.tgt.decode(ids).translate(_ONE_LINE)

    def _settings_for(self, n_best: int | None, name: str) -> DecodeSettings:
        if n_best is None or n_best == self.settings.n_best:
            return self.settings
        try:
            return DecodeSettings.from_dict({**vars(self.settings), "n_best": n_best})
        except SettingsError as error:
            raise DecodingError(f"{name} asks for {n_best} translations: {error}") from None

    def _cut_sources(self) -> CutSources:
        longest = self.max_src_tokens
        why = "decode.max_src_tokens" if longest == self.settings.max_src_tokens else "the model has no more positions"
        return CutSources(longest, why, self.tokenizers.tgt)


def _request(text: Text) -> Request:
    if isinstance(text, str):
        return Request(text)
    if isinstance(text, Request):
        return text
    raise TypeError(
        f"a text to translate is a str or a Request, not {type(text).__name__}; tokens are not taken: the tokenizer is part "
        "of the bundle"
    )


def _open_glossary(glossary: Glossary | StrPath) -> Glossary:
    from transduce.decoding.glossary import Glossary  # here, since most translators have none

    return glossary if isinstance(glossary, Glossary) else Glossary.load(Path(glossary))


def _check_markup(markup: Markup) -> Markup:
    if markup not in get_args(Markup):
        raise DecodingError(f"markup is 'text' or 'inline', not {markup!r}")
    return markup


def _base_settings(bundle: Bundle, settings: DecodeSettings | None) -> SettingsSource:
    if settings is not None:
        return SettingsSource("settings", settings.as_dict())
    own = tomllib.loads(bundle.settings_toml).get("decode", {})
    return SettingsSource(str(bundle.path / "settings.toml"), own)
