"""Putting inline tags into a translation. What goes where is told in :mod:`transduce.text.tags`."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from transduce.text.boundaries import word_spans
from transduce.text.tags import Tag, TaggedText

__all__ = ["SpanLink", "find_counterpart", "place_tags"]


class SpanLink(NamedTuple):
    """Some characters of the translation come from some characters of the source."""

    src_start: int
    src_end: int
    tgt_start: int
    tgt_end: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A pair with what is inside of it, or a point."""

    first: int  # number of the opening tag, or of the point
    last: int  # number of the closing tag; that of the point again
    start: int  # in the source text
    end: int
    inside: list[_Node] = field(default_factory=list)


class _Region(NamedTuple):
    """Some words of the translation, and the characters that they stand for."""

    first: int
    end: int
    start_char: int
    end_char: int


def place_tags(tagged: TaggedText, translation: str, links: Sequence[SpanLink]) -> str:
    """Put the tags of a source into its translation.

    Args:
        tagged: The source, from :func:`transduce.text.tags.strip_tags`.
        translation: The translation of its text, without tags.
        links: What comes from where, in characters of ``tagged.text`` and of ``translation``. None: the words are taken
            to have kept their order.

    >>> from transduce.text.tags import strip_tags
    >>> tagged = strip_tags("I have <b>never</b> seen <i>it</i>.")
    >>> words = [(0, 1, 0, 3), (2, 6, 4, 8), (7, 12, 13, 16), (13, 17, 17, 24), (18, 20, 9, 12), (20, 21, 24, 25)]
    >>> place_tags(tagged, "Ich habe das nie gesehen.", [SpanLink(*numbers) for numbers in words])
    'Ich habe <i>das</i> <b>nie</b> gesehen.'
    """
    if not tagged.tags:
        return translation
    placement = _Placement(tagged, translation, links)
    return _insert(translation, placement.run())


def find_counterpart(source: str, start: int, end: int, translation: str, links: Sequence[SpanLink]) -> tuple[int, int]:
    """Return where in a translation the words of a part of the source have gone, as start and end.

    It is where a pair of tags around them would go; an empty place if they have no counterpart.

    >>> find_counterpart("a red car", 2, 5, "ein rotes Auto", [SpanLink(2, 5, 4, 9)])
    (4, 9)
    """
    opened = Tag("<b>", start, "open", 1, False, False)
    closed = Tag("</b>", end, "close", 0, False, False)
    placement = _Placement(TaggedText(source, (opened, closed)), translation, links)
    [(_, first), (_, last)] = placement.run()
    return first, last


def _insert(translation: str, places: Iterator[tuple[Tag, int]]) -> str:
    """Write the tags into the text; their places never go back."""
    written, done = "", 0
    for tag, wanted in places:
        place = max(_side_of_space(tag, translation, wanted), done)
        written += translation[done:place]
        done = place
        if (
            tag.space_before
            and written
            and not written[-1].isspace()
            and (tag.space_after or place == len(translation))
        ):
            written += " "
        written += tag.markup
        if (
            tag.space_after
            and translation[place:]
            and not translation[place].isspace()
            and (tag.space_before or not place)
        ):
            written += " "
    return written + translation[done:]


def _side_of_space(tag: Tag, text: str, place: int) -> int:
    """Move a tag that is beside a space to the side of it on which it stood."""
    if tag.space_after and not tag.space_before and 0 < place < len(text) and text[place - 1].isspace():
        return place - 1
    if tag.space_before and not tag.space_after and 0 < place < len(text) and text[place].isspace():
        return place + 1
    return place


class _Placement:
    """The work of :func:`place_tags` on one text."""

    def __init__(self, tagged: TaggedText, translation: str, links: Sequence[SpanLink]) -> None:
        self.tags = tagged.tags
        self.src_words = word_spans(tagged.text)
        self.src_starts, self.src_ends = [start for start, _ in self.src_words], [end for _, end in self.src_words]
        self.tgt_words = word_spans(translation)
        self.length = len(translation)
        self.origin = _origins(tagged.text, translation, self.src_words, self.tgt_words, links)
        self.counterparts: dict[int, list[int]] = {}
        for tgt_word, src_word in enumerate(self.origin):
            if src_word is not None:
                self.counterparts.setdefault(src_word, []).append(tgt_word)

    def run(self) -> Iterator[tuple[Tag, int]]:
        """Yield each tag with its place in the translation, in the order in which they are to be written."""
        everywhere = _Region(0, len(self.tgt_words), 0, self.length)
        around: list[tuple[_Node, _Region]] = []  # the pairs around what is being written; they nest to any depth
        waiting = [self._in_order(_tree(self.tags), (0, len(self.src_words)), everywhere)]
        while waiting:
            following = next(waiting[-1], None)
            if following is None:
                waiting.pop()
                if around:
                    node, region = around.pop()
                    yield self.tags[node.last], region.end_char
                continue
            node, region = following
            yield self.tags[node.first], region.start_char
            if node.last != node.first:
                around.append(following)
                waiting.append(self._in_order(node.inside, self._words_in(node), region))

    def _in_order(
        self, nodes: Sequence[_Node], src_words: tuple[int, int], region: _Region
    ) -> Iterator[tuple[_Node, _Region]]:
        """Yield neighbours within a region, each with its own, in the order in which they are to be written."""
        regions = self._regions(nodes, src_words, region)
        for _, _, number in sorted((own.start_char, own.end_char, number) for number, own in regions.items()):
            yield nodes[number], regions[number]

    def _regions(self, nodes: Sequence[_Node], src_words: tuple[int, int], region: _Region) -> dict[int, _Region]:
        """Give each of some neighbours a region of its own; that of a point, or of an empty pair, has no words."""
        found: dict[int, _Region] = {}
        wanted = {}
        for number, node in enumerate(nodes):
            first, end = self._words_in(node)
            if (first, end) == src_words and end > first and node.last != node.first:
                found[number] = region  # around everything
            elif words := self._words_from(first, end, region):
                wanted[number] = words
        free = [] if found else [(region.first, region.end)]
        for number, words in sorted(wanted.items(), key=lambda item: item[1][-1] - item[1][0]):
            parts: dict[int, list[int]] = {}  # by the free stretch that they are in
            for word in words:
                place = bisect.bisect_right(free, word, key=lambda stretch: stretch[0]) - 1
                if place >= 0 and word < free[place][1]:
                    parts.setdefault(place, []).append(word)
            if parts:
                place, best = max(parts.items(), key=lambda part: len(part[1]))
                first, end = free[place]
                free[place : place + 1] = [(first, best[0]), (best[-1] + 1, end)]
                start_char, end_char = self.tgt_words[best[0]][0], self.tgt_words[best[-1]][1]
                found[number] = _Region(best[0], best[-1] + 1, start_char, end_char)
        around = next((number for number, own in found.items() if own == region), None)
        with_words = dict(found)
        for number, node in enumerate(nodes):
            if number in with_words:
                continue
            place = min(max(self._place_of(node), region.start_char), region.end_char)
            if around is not None:
                place = region.start_char if number < around else region.end_char
            for other, own in with_words.items():
                if own.start_char < place < own.end_char:
                    place = own.start_char if number < other else own.end_char
            if number and number - 1 not in with_words and self._only_lost_words_between(nodes[number - 1], node):
                place = max(place, found[number - 1].start_char)  # they keep their order
            found[number] = _Region(0, 0, place, place)
        return found

    def _only_lost_words_between(self, one: _Node, other: _Node) -> bool:
        """Tell whether there are source words between the beginnings of two neighbours, and none has a counterpart."""
        first, end = (bisect.bisect_left(self.src_starts, node.start) for node in (one, other))
        return first < end and not any(word in self.counterparts for word in range(first, end))

    def _words_from(self, first: int, end: int, region: _Region) -> list[int]:
        """Return the words of a region that come from some source words, in order."""
        if end - first < region.end - region.first:  # few of many words, as with many tags in a long text
            found = (word for src_word in range(first, end) for word in self.counterparts.get(src_word, ()))
            return sorted(word for word in found if region.first <= word < region.end)
        origins = enumerate(self.origin[region.first : region.end], start=region.first)
        return [word for word, origin in origins if origin is not None and first <= origin < end]

    def _words_in(self, node: _Node) -> tuple[int, int]:
        """Return the source words of which a pair covers at least a part, as first and end."""
        if node.last == node.first:
            return 0, 0
        first = bisect.bisect_right(self.src_ends, node.start)
        end = bisect.bisect_left(self.src_starts, node.end)
        return first, max(first, end)

    def _place_of(self, node: _Node) -> int:
        """Return where in the translation a point or an empty pair belongs."""
        opened, closed = self.tags[node.first], self.tags[node.last]
        behind = bisect.bisect_left(self.src_starts, node.start)  # the word that it stands before
        leans_back = closed.space_after and not opened.space_before
        is_closing = opened.markup.startswith("</")
        if leans_back or is_closing or behind == len(self.src_words):
            return self._nearest(behind - 1, -1)
        return self._nearest(behind, 1)

    def _nearest(self, word: int, direction: int) -> int:
        """Return the place beside the counterpart of a source word, or of the nearest one that has any.

        Args:
            word: The source word.
            direction: 1: before it; -1: behind it.
        """
        distances = (step for n in range(len(self.src_words) + 1) for step in (n, -n))
        for distance in distances:
            found = self.counterparts.get(word + direction * distance)
            if found:
                before = direction > 0 if distance >= 0 else direction < 0
                return self.tgt_words[found[0]][0] if before else self.tgt_words[found[-1]][1]
        return 0 if direction > 0 else self.length


def _tree(tags: Sequence[Tag]) -> list[_Node]:
    """Return the outermost pairs and points, each pair with what is inside of it."""
    outermost: list[_Node] = []
    open_lists = [outermost]
    for number, tag in enumerate(tags):
        if tag.role == "close":
            open_lists.pop()
            continue
        last = number if tag.role == "point" else tag.partner
        node = _Node(number, last, tag.position, tags[last].position)
        open_lists[-1].append(node)
        if tag.role == "open":
            open_lists.append(node.inside)
    return outermost


def _origins(
    source: str,
    translation: str,
    src_words: Sequence[tuple[int, int]],
    tgt_words: Sequence[tuple[int, int]],
    links: Sequence[SpanLink],
) -> list[int | None]:
    """Return for each word of the translation the source word that most of it comes from."""
    if not src_words:
        return [None] * len(tgt_words)
    if not links:
        return [number * len(src_words) // len(tgt_words) for number in range(len(tgt_words))]
    votes = [Counter[int]() for _ in tgt_words]
    for link in links:
        for src_word in _overlapping(src_words, link.src_start, link.src_end):
            for tgt_word in _overlapping(tgt_words, link.tgt_start, link.tgt_end):
                # Attention puts much on signs that they do not deserve: a word never comes from a sign, nor a sign from one.
                if source[src_words[src_word][0]].isalnum() == translation[tgt_words[tgt_word][0]].isalnum():
                    start, end = tgt_words[tgt_word]
                    votes[tgt_word][src_word] += min(end, link.tgt_end) - max(start, link.tgt_start)
    return [max(sorted(count), key=count.__getitem__) if count else None for count in votes]


def _overlapping(words: Sequence[tuple[int, int]], start: int, end: int) -> range:
    """Return the numbers of the words that share characters with a span."""
    first = bisect.bisect_right(words, start, key=lambda word: word[1])
    return range(first, max(first, bisect.bisect_left(words, end, key=lambda word: word[0])))
