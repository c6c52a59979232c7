"""TMX, the exchange format of translation memories (versions 1.1 to 1.4b), streamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.base.errors import DataError
from transduce.text.markup import iterate_elements, segment_text
from transduce.text.segments import SentencePair, find_language

if TYPE_CHECKING:
    from lxml.etree import _Element

__all__ = ["read_tmx"]

_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_tmx(path: Path, *, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    """Yield the pairs of a translation memory, in either direction.

    ``en`` also takes ``en-US``, and the other way round; of several variants in one unit the exact code is taken, or
    else the first. The text of ``hi`` is kept, the content of ``bpt``, ``ept``, ``ph``, ``it`` and ``ut`` is not (nor
    is a ``sub`` inside it, which is another sentence). Line breaks become a space.

    Args:
        path: The file; ``.gz`` and ``.zst`` too. One of gigabytes takes the memory of one unit.
        src_lang: Language of the source, as a BCP 47 code.
        tgt_lang: Language of the target.
        skipped: Counts the units that lack one of the languages.

    Raises:
        DataError: The XML is damaged (with the line), or no unit has both languages (with those that it has).
        MissingExtraError: lxml is not installed.
    """
    languages: set[str] = set()
    n_pairs = 0
    for unit in iterate_elements(path, "tmx", ["tu"]):
        variants = _variants(unit)
        languages.update(variants)
        src, tgt = find_language(variants, src_lang), find_language(variants, tgt_lang)
        if src is None or tgt is None or src == tgt:
            skipped[f"no '{tgt_lang if src is not None else src_lang}'"] += 1
            continue
        n_pairs += 1
        yield SentencePair(segment_text(variants[src], path), segment_text(variants[tgt], path))
    if languages and not n_pairs:
        raise DataError(
            f"{path}: no segment has both '{src_lang}' and '{tgt_lang}'; its languages are "
            f"{', '.join(sorted(languages))}: set data.src_lang and data.tgt_lang to two of them"
        )


def _variants(unit: _Element) -> dict[str, _Element | None]:
    """Return the segment of each language of a unit, under the language code as it is written."""
    variants: dict[str, _Element | None] = {}
    for variant in unit.iterchildren("{*}tuv"):
        language = variant.get(_XML_LANG) or variant.get("lang") or ""  # "lang" is how TMX 1.1 wrote it
        variants.setdefault(language, variant.find("{*}seg"))
    return variants
