"""Text in, text out: line i of the output translates line i of the input, whatever stands in it.

- A blank line (white space, no-break space, U+3000, zero-width characters) is never shown to the model: it gives a blank
  translation, and in an n-best list as many of them as there are for any other line.
- A source that is too long is cut, and one warning at the end names the lines.
- A line feed or carriage return inside a translation becomes a space, so that output lines can be counted.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from transduce.base.files import StrPath
from transduce.base.log import logger, plural
from transduce.base.settings import SettingsSource, resolve
from transduce.bundle.directory import read_bundle
from transduce.decoding.batches import cut_batches
from transduce.decoding.beam import beam_search
from transduce.decoding.engine import Engine
from transduce.decoding.greedy import greedy_search
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.settings import DecodeSettings
from transduce.text.normalize import is_blank
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["Translation", "Translator"]

_NAMED_LINES = 10
"""Lines that the warning about cut sources names; the rest is counted."""

_ONE_LINE = str.maketrans("\r\n", "  ")


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation of one line."""

    text: str
    """Detokenized text on one line."""
    score: float
    """Log-probability divided by the length penalty: higher is better. 0 for a blank line."""
    log_prob: float
    """Natural log-probability of the tokens and EOS. 0 for a blank line."""
    ids: tuple[int, ...]
    """Target ids, without BOS and EOS."""


_BLANK = Translation(text="", score=0.0, log_prob=0.0, ids=())


class Translator:
    """A model with its tokenizers and a way to search. It has no state of its own: threads may share it.

    Args:
        engine: The model.
        tokenizers: Those of its two sides.
        settings: How to search.
    """

    def __init__(self, engine: Engine, tokenizers: TokenizerPair, settings: DecodeSettings) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.settings = settings

    @classmethod
    def load(cls, path: StrPath, settings: DecodeSettings | None = None) -> Translator:
        """Open a bundle.

        Args:
            path: The bundle's directory, or the directory of the run that made it.
            settings: How to search; None: as the bundle's own settings say.

        Raises:
            BundleError: The bundle is missing, damaged or of another kind.
            SettingsError: The bundle's own settings of the search are wrong, or the device is not on this machine.
        """
        # Here, and not above: this is the only line of the module that needs torch.
        from transduce.decoding.torch_engine import load_torch_engine

        bundle = read_bundle(path)
        if settings is None:
            own = tomllib.loads(bundle.settings_toml).get("decode", {})
            settings = resolve(DecodeSettings, [SettingsSource(str(bundle.path / "settings.toml"), own)])
        return cls(load_torch_engine(bundle, settings.device), bundle.tokenizers, settings)

    @overload
    def translate(self, texts: str) -> str: ...  # type: ignore[overload-overlap]  # a str is a sequence of str too
    @overload
    def translate(self, texts: Sequence[str]) -> list[str]: ...
    def translate(self, texts: str | Sequence[str]) -> str | list[str]:
        """Return the best translation of a text, or of each of several texts, in order."""
        if isinstance(texts, str):
            return self.translate([texts])[0]
        return [translations[0].text for translations in self.translate_stream(texts)]

    def translate_nbest(self, texts: Sequence[str]) -> list[list[Translation]]:
        """Return the ``n_best`` best translations of each text, best first, with their scores.

        There are fewer only where the length limits leave fewer different ones.
        """
        return list(self.translate_stream(texts))

    def translate_stream(self, lines: Iterable[str]) -> Iterator[list[Translation]]:
        """Translate lines as they come, in memory that does not grow with their number.

        ``window_lines`` lines are read at a time, and translated in batches of similar length.

        Yields:
            For each line, in order, its ``n_best`` best translations, best first.
        """
        cut: list[int] = []  # numbers of the lines that were too long
        first_number = 1
        try:
            for window in _windows(lines, self.settings.window_lines):
                sources = self.tokenizers.src.encode_batch(["" if is_blank(text) else text for text in window])
                cut.extend(i + first_number for i, source in enumerate(sources) if len(source) > self._longest_source)
                yield from self._translate_ids([source[: self._longest_source] for source in sources])
                first_number += len(window)
        finally:  # also when the reader has had enough
            if cut:
                self._warn(cut)

    def _translate_ids(self, sources: Sequence[Sequence[int]]) -> list[list[Translation]]:
        """Translate sources in batches of similar length; one without ids is blank."""
        results = [[_BLANK] * self.settings.n_best for _ in sources]
        waiting = [i for i, source in enumerate(sources) if source]
        for batch in cut_batches([len(sources[i]) + 1 for i in waiting], self.settings.batch_tokens):
            lines = [waiting[i] for i in batch]
            for i, hypotheses in zip(lines, self._search([sources[i] for i in lines]), strict=True):
                results[i] = [self._decode(hypothesis) for hypothesis in hypotheses]
        return results

    def _search(self, sources: Sequence[Sequence[int]]) -> list[list[Hypothesis]]:
        if self.settings.beam_size == 1:
            return [[hypothesis] for hypothesis in greedy_search(self.engine, sources, self.settings)]
        return beam_search(self.engine, sources, self.settings)

    def _decode(self, hypothesis: Hypothesis) -> Translation:
        text = self.tokenizers.tgt.decode(hypothesis.ids).translate(_ONE_LINE)
        return Translation(text, hypothesis.score, hypothesis.log_prob, hypothesis.ids)

    @property
    def _longest_source(self) -> int:
        limits = (self.settings.max_src_tokens, self.engine.max_sentence_tokens)
        return min(limit for limit in limits if limit is not None)

    def _warn(self, cut: Sequence[int]) -> None:
        named = ", ".join(str(number) for number in cut[:_NAMED_LINES])
        more = f" and {len(cut) - _NAMED_LINES:,} more" if len(cut) > _NAMED_LINES else ""
        longest = self._longest_source
        why = "decode.max_src_tokens" if longest == self.settings.max_src_tokens else "the model has no more positions"
        logger.warning(
            "%s too long and only translated up to token %s (%s): %s %s%s; split long lines into sentences",
            "1 line was" if len(cut) == 1 else f"{plural(len(cut), 'line')} were",
            f"{longest:,}",
            why,
            "line" if len(cut) == 1 else "lines",
            named,
            more,
        )


def _windows(lines: Iterable[str], n_lines: int) -> Iterator[list[str]]:
    stream = iter(lines)
    while window := list(itertools.islice(stream, n_lines)):
        yield window
