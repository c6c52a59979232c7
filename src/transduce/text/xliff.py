"""XLIFF, the exchange format of translation tools (versions 1.2 and 2.0), streamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.base.errors import DataError
from transduce.text.markup import iterate_elements, local_name, segment_text
from transduce.text.segments import SentencePair, side_order

if TYPE_CHECKING:
    from lxml.etree import _Element

__all__ = ["read_xliff"]

# A pair is a trans-unit in version 1.2 and a segment in 2.0. The others hold pairs and are named to be forgotten.
_PAIRS = ("trans-unit", "segment")
_HOLDERS = ("unit", "group", "file")
_NOT_YET = frozenset(["new", "needs-translation", "initial"])


def read_xliff(path: Path, *, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    """Yield the pairs of an XLIFF file, in either direction.

    Codes are taken out as in TMX: the text inside ``g``, ``pc`` and ``mrk`` is kept, the content of ``bpt``, ``ept``,
    ``ph`` and ``it`` is not. Proposals (``alt-trans``) are not read. Line breaks become a space.

    Args:
        path: The file; ``.gz`` and ``.zst`` too.
        src_lang: Language of the source. A file that goes the other way is turned round.
        tgt_lang: Language of the target.
        skipped: Counts the units without a target or marked as not translated, and those in other languages.

    Raises:
        DataError: The XML is damaged (with the line), or the whole file is in other languages.
        MissingExtraError: lxml is not installed.
    """
    others: set[str] = set()
    n_fitting = 0
    for element in iterate_elements(path, "xliff", _PAIRS + _HOLDERS):
        if local_name(element) not in _PAIRS:
            continue
        source, target = element.find("{*}source"), element.find("{*}target")
        languages = _languages(element)
        order = side_order(*languages, src_lang=src_lang, tgt_lang=tgt_lang)
        if order is None:
            others.add(" to ".join(code or "unknown" for code in languages))
            skipped["other languages"] += 1
            continue
        n_fitting += 1
        if source is None or target is None or _NOT_YET.intersection([target.get("state"), element.get("state")]):
            skipped["untranslated"] += 1
            continue
        texts = segment_text(source, path), segment_text(target, path)
        yield SentencePair(texts[order[0]], texts[order[1]])
    if others and not n_fitting:
        raise DataError(
            f"{path}: no unit is in '{src_lang}' and '{tgt_lang}', only in {', '.join(sorted(others))}: "
            f"set data.src_lang and data.tgt_lang to the languages of the file"
        )


def _languages(element: _Element) -> tuple[str | None, str | None]:
    """Return the languages that hold for a unit: those of its file (version 1.2) or of the document (2.0)."""
    for ancestor in element.iterancestors("{*}file", "{*}xliff"):
        source = ancestor.get("source-language") or ancestor.get("srcLang")
        target = ancestor.get("target-language") or ancestor.get("trgLang")
        if source or target:
            return source, target
    return None, None
