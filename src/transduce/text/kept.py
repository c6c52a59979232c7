"""Words that must stand in a translation, put there if they do not.

A *kept* span is part of the source that is not translated: a name, an address, a placeholder. It must stand in the
translation exactly as often as in the source. A *wanted* one has a translation that must stand there at least as often.

- One that is missing takes the place of the words that its own words were translated to; if there are none, it comes
  beside the nearest that have a counterpart.
- A kept one that comes too often is taken out, where the fewest links lead to it. It counts only as a whole word then:
  a kept ``in`` is not cut out of ``Kind``.
- A space between a kept span and a sign beside it goes, if there is none in the source: ``( {0})`` becomes ``({0})``.
  One comes between a kept span that ends in a sign and a letter, if the source has none there: ``{0}er``, ``{0} er``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from transduce.text.boundaries import is_unspaced
from transduce.text.place_tags import SpanLink, find_counterpart

__all__ = ["KeptSpan", "is_in_place", "put_back"]


class KeptSpan(NamedTuple):
    """A part of the source, and what must stand in the translation for it."""

    start: int
    end: int
    text: str
    is_kept: bool
    """True: ``text`` is the part itself, and may come no more often. False: it is a translation that is wanted."""


class _Edit(NamedTuple):
    start: int
    end: int
    text: str
    span: KeptSpan | None  # that the text stands for


def is_in_place(translation: str, spans: Sequence[KeptSpan]) -> bool:
    """Tell whether each text stands in a translation as often as it must.

    >>> is_in_place("{0} und {1}", [KeptSpan(0, 3, "{0}", True), KeptSpan(8, 11, "{1}", True)])
    True
    >>> is_in_place("{0} und {0}", [KeptSpan(0, 3, "{0}", True)])
    False
    """
    return all(
        len(places) >= len(own) and (not own[0].is_kept or len(places) == len(own))
        for own, places in _look_up(translation, spans)
    )


def put_back(
    source: str, translation: str, spans: Sequence[KeptSpan], links: Sequence[SpanLink]
) -> tuple[str, list[SpanLink]]:
    """Put kept and wanted texts into a translation where they are missing, and take out what is too much.

    Args:
        source: The source.
        translation: Its translation.
        spans: Parts of the source that do not overlap.
        links: What comes from where. None: the words are taken to have kept their order, and none is written over.

    Returns:
        The new translation; and links for it: those that still hold, and one for each span.

    >>> span = KeptSpan(5, 12, "Windows", True)
    >>> put_back("Open Windows now", "Fenster jetzt öffnen", [span], [SpanLink(5, 12, 0, 7)])
    ('Windows jetzt öffnen', [SpanLink(src_start=5, src_end=12, tgt_start=0, tgt_end=7)])
    """
    edits: list[_Edit] = []
    missing: list[KeptSpan] = []
    for own, places in _look_up(translation, spans):
        chosen = places
        if len(places) > len(own):
            by_links = sorted(places, key=lambda place: -_n_links(place, own, links))
            chosen = sorted(by_links[: len(own)])
            if own[0].is_kept:
                edits.extend(_removal(translation, place) for place in by_links[len(own) :])
        edits.extend(_Edit(*place, own[0].text, span) for span, place in zip(own, chosen, strict=False))
        missing.extend(own[len(chosen) :])
    for span in sorted(missing):
        edits.append(_insertion(source, translation, span, links, edits))
    return _apply(source, translation, edits, links)


def _look_up(translation: str, spans: Sequence[KeptSpan]) -> list[tuple[list[KeptSpan], list[tuple[int, int]]]]:
    """Return the spans of each text, in their order, and the places where it stands; the longest text first.

    A place inside of a longer word counts only where there are too few others.
    """
    groups: dict[tuple[str, bool], list[KeptSpan]] = {}
    for span in sorted(spans):
        groups.setdefault((span.text, span.is_kept), []).append(span)
    taken: list[tuple[int, int]] = []
    found = []
    for (text, _), own in sorted(groups.items(), key=lambda item: -len(item[0][0])):
        places = [place for place in _occurrences(translation, text, whole=True) if _is_free(place, taken)]
        for place in _occurrences(translation, text, whole=False):
            if len(places) < len(own) and _is_free(place, [*taken, *places]):
                places.append(place)
        taken.extend(places)
        found.append((own, sorted(places)))
    return found


def _occurrences(translation: str, text: str, *, whole: bool) -> list[tuple[int, int]]:
    pattern = re.escape(text)
    if whole:
        before, after = (char.isalnum() and not is_unspaced(char) for char in (text[0], text[-1]))
        pattern = (r"(?<!\w)" if before else "") + pattern + (r"(?!\w)" if after else "")
    return [match.span() for match in re.finditer(pattern, translation)]


def _is_free(place: tuple[int, int], taken: Sequence[tuple[int, int]]) -> bool:
    return all(place[1] <= start or end <= place[0] for start, end in taken)


def _n_links(place: tuple[int, int], spans: Sequence[KeptSpan], links: Sequence[SpanLink]) -> int:
    return sum(
        link.tgt_start < place[1] and place[0] < link.tgt_end
        for span in spans
        for link in links
        if link.src_start < span.end and span.start < link.src_end
    )


def _removal(translation: str, place: tuple[int, int]) -> _Edit:
    start, end = place
    if translation[:start][-1:] == " " and (end == len(translation) or not translation[end].isalnum()):
        start -= 1
    elif translation[end:][:1] == " ":
        end += 1
    return _Edit(start, end, "", None)


def _insertion(
    source: str, translation: str, span: KeptSpan, links: Sequence[SpanLink], edits: Sequence[_Edit]
) -> _Edit:
    start, end = find_counterpart(source, span.start, span.end, translation, links)
    if not links:
        end = start  # a mere guess: nothing is written over
    for other in edits:  # what is in place already stays
        if start < other.end and other.start < max(end, start + 1) and other.end > other.start:
            start = end = other.end
    return _Edit(start, end, span.text, span)


def _apply(
    source: str, translation: str, edits: Sequence[_Edit], links: Sequence[SpanLink]
) -> tuple[str, list[SpanLink]]:
    written, done, own_links = "", 0, []
    moves: list[tuple[int, int]] = []  # (end in the old text, how much later everything behind it stands)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        written += translation[done : max(edit.start, done)]
        done = max(edit.end, done)
        if edit.span is not None:
            written = _join_before(source, written, edit)
            own_links.append(SpanLink(edit.span.start, edit.span.end, len(written) - len(edit.text), len(written)))
            done, space = _join_after(source, translation, done, edit)
            written += space
        moves.append((done, len(written) - done))
    written += translation[done:]
    touched = [(edit.start, edit.end) for edit in edits]
    kept_links = [
        _moved(link, moves)
        for link in links
        if _is_free((link.tgt_start, link.tgt_end), touched)
        and all(link.src_end <= own.src_start or own.src_end <= link.src_start for own in own_links)
    ]
    return written, sorted([*kept_links, *own_links])


def _join_before(source: str, written: str, edit: _Edit) -> str:
    """Add a text behind what is written: with a space if it is new there, without one if the source has none."""
    assert edit.span is not None
    last, leaning = written[-1:], source[: edit.span.start][-1:]
    if edit.span.is_kept and last == " " and leaning and leaning == written[-2:-1] and _is_sign(leaning):
        written = written[:-1]
        return written + edit.text
    is_new = edit.start == edit.end
    wants_space = is_new and last and not last.isspace() and not is_unspaced(last) and last != leaning
    if wants_space or _needs_gap(edit.span, edit.text[0], leaning, last):
        written += " "
    return written + edit.text


def _join_after(source: str, translation: str, done: int, edit: _Edit) -> tuple[int, str]:
    """Return where the old text goes on behind a text, and what comes between."""
    assert edit.span is not None
    following, leaning = translation[done : done + 2], source[edit.span.end :][:1]
    if edit.span.is_kept and leaning and following == f" {leaning}" and _is_sign(leaning):
        return done + 1, ""
    if edit.start == edit.end and following[:1].isalnum() and not is_unspaced(following[0]):
        return done, " "
    if _needs_gap(edit.span, edit.text[-1], leaning, following[:1]):
        return done, " "
    return done, ""


def _needs_gap(span: KeptSpan, edge: str, in_source: str, beside: str) -> bool:
    """Tell whether a letter beside a kept span that begins or ends with a sign has grown to it in the translation."""
    return span.is_kept and _is_sign(edge) and not in_source.isalnum() and beside.isalnum() and not is_unspaced(beside)


def _is_sign(char: str) -> bool:
    return not char.isalnum() and not char.isspace()


def _moved(link: SpanLink, moves: Sequence[tuple[int, int]]) -> SpanLink:
    shift = 0
    for end, later in moves:
        if link.tgt_start >= end:
            shift = later
    return link._replace(tgt_start=link.tgt_start + shift, tgt_end=link.tgt_end + shift)
