"""Inline tags: taken out of a text before it is translated, and put back into the translation where its words have gone.

A tag is what looks like one in XML: ``<b>``, ``</b>``, ``<x id="1"/>``. A ``<`` that begins none is text. An opening and a
closing tag of one name that belong together are a *pair*; every other tag is a *point*. Tags need not be balanced.

An entity such as ``&lt;`` or ``&#160;`` is a point as well, but for one that is a part of a word: one between letters or
digits (``AT&amp;T``), or that is a letter itself (``caf&eacute;``). That is text.

Where they go, given which words of the translation come from which words of the source:

- A pair goes around the fewest words that hold all words from inside of it. A pair around everything stays around
  everything, and a pair whose words have no counterpart becomes an empty one beside the nearest that have.
- Pairs stay nested as they were. Where the words of two neighbours are mixed up in the translation, the one that
  needs fewer words is placed first, and the other gets the side on which more of its own words are.
- A point goes before the word that it stood before; at the end, or where it leaned on the word before it, behind that.

So every tag comes back exactly once, and what was balanced is balanced, however wrong the links are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["ENTITY", "Tag", "TaggedText", "strip_tags"]

ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]*+|#[0-9]++|#[xX][0-9A-Fa-f]++);")
"""A character written as XML and HTML write it."""

_NAME = r"[A-Za-z_][\w:.-]*+"
_VALUE = r"""(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`/]++)"""
_TAG = re.compile(
    rf"<(?:/(?P<closed>{_NAME})\s*+|(?P<opened>{_NAME})(?:\s++{_NAME}\s*+=\s*+{_VALUE})*+\s*+(?P<empty>/)?)>"
    rf"|(?P<entity>{ENTITY.pattern})"
)


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag."""

    markup: str
    """As it is written."""
    position: int
    """Where it stood in the text without tags: before the character of this number."""
    role: Literal["open", "close", "point"]
    """Beginning or end of a pair, or neither."""
    partner: int
    """Number of the other tag of the pair; -1 for a point."""
    space_before: bool
    """White space came directly before it."""
    space_after: bool
    """White space came directly behind it."""


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text without its tags, and the tags in their order."""

    text: str
    """What is to be translated. Where there was white space on both sides of a tag, one side is left."""
    tags: tuple[Tag, ...]


def strip_tags(text: str) -> TaggedText:
    """Take the tags out of a text.

    >>> tagged = strip_tags('If a < b, press <b>OK</b> <x id="1"/> now')
    >>> tagged.text
    'If a < b, press OK now'
    >>> [(tag.markup, tag.position, tag.role) for tag in tagged.tags]
    [('<b>', 16, 'open'), ('</b>', 18, 'close'), ('<x id="1"/>', 19, 'point')]
    """
    found = list(_find_tags(text))
    if not found:
        return TaggedText(text, ())
    starts, ends = [match.start() for match in found], [match.end() for match in found]
    plain, positions = _join(text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))
    if found[-1].end() == len(text):
        plain = plain.rstrip()  # before tags at the end
    partners = _pair_up(found)
    return TaggedText(
        plain,
        tuple(
            Tag(
                markup=match[0],
                position=min(position, len(plain)),
                role="point" if partner < 0 else "open" if number < partner else "close",
                partner=partner,
                space_before=text[max(match.start() - 1, 0) : match.start()].isspace(),
                space_after=text[match.end() : match.end() + 1].isspace(),
            )
            for number, (match, position, partner) in enumerate(zip(found, positions, partners, strict=True))
        ),
    )


def _join(segments: Iterable[str]) -> tuple[str, list[int]]:
    """Join what stands around tags, without white space that doubles what is before a tag.

    Returns:
        The text, and the position in it of each tag.
    """
    parts: list[str] = []
    positions, n_chars, last = [], 0, " "
    for segment in segments:
        part = segment.lstrip() if last.isspace() else segment
        parts.append(part)
        n_chars += len(part)
        positions.append(n_chars)
        last = part[-1:] or last
    return "".join(parts), positions[:-1]


def _find_tags(text: str) -> Iterator[re.Match[str]]:
    for match in _TAG.finditer(text):
        if not (match["entity"] and _is_part_of_a_word(text, match)):
            yield match


def _is_part_of_a_word(text: str, entity: re.Match[str]) -> bool:
    import html  # here, since few texts have entities, and its table holds all that there are

    before, after = text[max(entity.start() - 1, 0) : entity.start()], text[entity.end() : entity.end() + 1]
    return (before.isalnum() and after.isalnum()) or html.unescape(entity[0]).isalnum()


def _pair_up(found: Sequence[re.Match[str]]) -> list[int]:
    """Return for each tag the number of its partner, -1 for none."""
    partners = [-1] * len(found)
    waiting: list[int] = []
    names = Counter[str]()  # of those that wait
    for number, match in enumerate(found):
        if match["opened"] and not match["empty"]:
            waiting.append(number)
            names[match["opened"]] += 1
        elif match["closed"] and names[match["closed"]]:
            name = ""
            while name != match["closed"]:  # tags that were opened since and not closed are points
                opened = waiting.pop()
                name = found[opened]["opened"]
                names[name] -= 1
            partners[number], partners[opened] = opened, number
    return partners
