"""Whole documents: taken apart into sentences, translated, and put together in their layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from transduce.text.layout import read_layout
from transduce.text.split import cut_long
from transduce.tokenizer.protocol import Tokenizer

__all__ = ["translate_document"]


def translate_document(
    text: str, translate: Callable[[Iterator[str]], Iterable[str]], *, tokenizer: Tokenizer, longest: int
) -> str:
    """Translate a document sentence by sentence. Nothing of it is cut.

    A sentence of more than ``longest`` tokens is cut at the ends of its clauses, else at spaces, and its parts are
    translated one by one.

    Args:
        text: The document.
        translate: Gives one translation for each text.
        tokenizer: That of the source.
        longest: Tokens of a source that the model reads.
    """
    document = read_layout(text)
    parts = [_parts(sentence, tokenizer, longest) for sentence in document.sentences]
    translations = iter(translate(part.strip() for each in parts for part in each))
    return document.fill([_join(translations, each) for each in parts])


def _parts(sentence: str, tokenizer: Tokenizer, longest: int) -> list[str]:
    return cut_long(sentence, lambda part: len(tokenizer.encode(part)) <= longest)


def _join(translations: Iterator[str], parts: list[str]) -> str:
    """Put the translations of the parts of a sentence together, with white space where the source has it."""
    spaces = ["" if part == part.rstrip() else " " for part in parts[:-1]] + [""]
    return "".join(next(translations) + space for space in spaces)
