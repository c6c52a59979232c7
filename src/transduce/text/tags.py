"""Inline tags: taken out of a text before it is translated, and put back into the translation where its words have gone.

A tag is what looks like one in XML: ``<b>``, ``</b>``, ``<x id="1"/>``. A ``<`` that begins none is text, and so are
entities. An opening and a closing tag of one name that belong together are a *pair*; every other tag is a *point*. Tags
need not be balanced.

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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Tag", "TaggedText", "strip_tags"]

_NAME = r"[A-Za-z_][\w:.-]*+"
_VALUE = r"""(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`/]++)"""
_TAG = re.compile(
    rf"<(?:/(?P<closed>{_NAME})\s*+|(?P<opened>{_NAME})(?:\s++{_NAME}\s*+=\s*+{_VALUE})*+\s*+(?P<empty>/)?)>"
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
    found = list(_TAG.finditer(text))
    if not found:
        return TaggedText(text, ())
    plain, positions, end = "", [], 0
    for match in found:
        plain = _join(plain, text[end : match.start()])
        positions.append(len(plain))
        end = match.end()
    plain = _join(plain, text[end:])
    if not text[end:]:
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
                space_before=text[: match.start()][-1:].isspace(),
                space_after=text[match.end() :][:1].isspace(),
            )
            for number, (match, position, partner) in enumerate(zip(found, positions, partners, strict=True))
        ),
    )


def _join(plain: str, segment: str) -> str:
    """Add the text behind a tag, without white space that doubles what is before the tag."""
    return plain + (segment.lstrip() if not plain or plain[-1].isspace() else segment)


def _pair_up(found: Sequence[re.Match[str]]) -> list[int]:
    """Return for each tag the number of its partner, -1 for none."""
    partners = [-1] * len(found)
    waiting: list[int] = []
    for number, match in enumerate(found):
        if match["opened"] and not match["empty"]:
            waiting.append(number)
        elif match["closed"]:
            place = next(
                (i for i in reversed(range(len(waiting))) if found[waiting[i]]["opened"] == match["closed"]), None
            )
            if place is not None:  # tags that were opened since and not closed are points
                partners[number], partners[waiting[place]] = waiting[place], number
                del waiting[place:]
    return partners
