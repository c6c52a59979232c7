"""A glossary: how terms are to be translated, how not, and which are left as they are.

One rule a line, its columns separated by a TAB::

    # source     target       options
    hard drive   Festplatte
    Windows      =
    cat          !Katze
    https?://\\S+   =           regex

- The target is what the translation must contain wherever the source has the term. ``=``, or no target at all: the term
  is not translated, and stands in the translation as in the source. ``!`` before the target: the translation must not
  contain it. A ``\\`` before a target or a term takes away the meaning of its first character (``\\#``, ``\\=``, ``\\!``).
- A term with a capital in it is found as it is written; one in small letters is found in any case. The options ``case``
  and ``nocase`` ask for the one or the other. ``regex``: the term is a regular expression, for terms that are left as they
  are, such as addresses and placeholders.
- Terms are whole words: ``cat`` is not found in ``cats``, which needs a line of its own. In scripts without spaces a
  term may begin and end at any character. How many spaces are between the words does not matter.
- Terms do not overlap in a text: the longest counts, and of equally long ones the first.
- An empty line and one that begins with ``#`` say nothing.
- Lines without a TAB that look like two columns, with a comma or a run of spaces between, are warned of.

Looking up a text takes time with its length, not with the size of the glossary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import StrPath, read_lines
from transduce.base.log import logger, plural
from transduce.text.boundaries import word_spans

__all__ = ["Glossary", "Term", "TermMatch"]

_OPTIONS = ("case", "nocase", "regex")
_SEEMS_COLUMNS = re.compile(r"\S(?: *, *|  +)\S")
"""Another separator than a TAB, perhaps: as it stands, the line is one long term that is kept."""
_N_NAMED = 5
"""Lines that a warning names."""
_END = ""
"""Key of the terms that end at a node; no word is empty."""


@dataclass(frozen=True, slots=True)
class Term:
    """What is asked of one source term."""

    source: str
    """As it is written in the glossary, or the regular expression."""
    target: str | None = None
    """What its translation must contain."""
    is_kept: bool = False
    """True: it stands in the translation as in the source."""
    banned: tuple[str, ...] = ()
    """What its translation must not contain."""
    any_case: bool = False
    """True: it is found in small letters and capitals alike."""
    is_regex: bool = False
    """True: ``source`` is a regular expression."""


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A term in a text."""

    start: int
    end: int
    term: Term


class Glossary:
    """Terms, ready to be found in texts. It never changes: threads may share it.

    Args:
        terms: Terms with different sources; one in any case and one exact may be spelled alike, and the exact one counts.

    >>> glossary = Glossary([Term("hard drive", "Festplatte", any_case=True), Term("Windows", is_kept=True)])
    >>> text = "Windows hard  drives, a Hard drive"
    >>> [(text[match.start:match.end], match.term.target) for match in glossary.find(text)]
    [('Windows', None), ('Hard drive', 'Festplatte')]
    """

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(terms)
        self._patterns = [(re.compile(term.source), term) for term in self.terms if term.is_regex]
        self._root: dict[str, Any] = {}  # words to nodes of the same kind; _END to the terms that end there
        for term in self.terms:
            if not term.is_regex:
                node = self._root
                for start, end in word_spans(term.source):
                    node = node.setdefault(_fold(term.source[start:end]), {})
                node.setdefault(_END, []).append(term)
                node[_END].sort(key=lambda own: own.any_case)  # the exact one first

    @classmethod
    def load(cls, path: StrPath) -> Glossary:
        """Read a glossary file (``.gz`` and ``.zst`` too).

        Raises:
            DataError: The file cannot be read, or a line is wrong (the message names it).
        """
        path = Path(path)
        found: dict[tuple[str, bool, bool], tuple[Term, int]] = {}
        without_tab = []
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip() and not line.startswith("#"):
                term = _parse_line(line, f"{path}, line {number}")
                if "\t" not in line and _SEEMS_COLUMNS.search(line):
                    without_tab.append(number)
                key = (term.source, term.any_case, term.is_regex)
                earlier, first_number = found.get(key, (term, number))
                found[key] = (_merge(earlier, term, f"{path}, line {number}", first_number), first_number)
        if without_tab:
            _warn_of_lines_without_tab(path, without_tab)
        return cls(term for term, _ in found.values())

    def find(self, text: str) -> list[TermMatch]:
        """Return the terms of a text that do not overlap, in the order of the text."""
        found = self._find_words(text) if self._root else []
        for pattern, term in self._patterns:
            found.extend(TermMatch(*match.span(), term) for match in pattern.finditer(text) if match[0].strip())
        if len(found) < 2:
            return found
        found.sort(key=lambda match: (match.start - match.end, match.start))
        chosen: list[TermMatch] = []
        for match in found:
            if all(match.end <= other.start or other.end <= match.start for other in chosen):
                chosen.append(match)
        return sorted(chosen, key=lambda match: match.start)

    def _find_words(self, text: str) -> list[TermMatch]:
        spans = word_spans(text)
        words = [_fold(text[start:end]) for start, end in spans]
        found = []
        for first, word in enumerate(words):
            node = self._root.get(word)
            place = first
            while node is not None:
                if _END in node:
                    start, end = spans[first][0], spans[place][1]
                    term = _first_that_fits(node[_END], text[start:end])
                    if term is not None:
                        found.append(TermMatch(start, end, term))
                place += 1
                node = node.get(words[place]) if place < len(words) else None
        return found


def _fold(word: str) -> str:
    """Return what is the same for words that differ in case or in the way that their accents are written."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFC", word.casefold())


def _first_that_fits(terms: Sequence[Term], surface: str) -> Term | None:
    """Return the first term that may be written so: the words are known to be the same in any case."""
    for term in terms:
        ours, theirs = (" ".join(text.split()) for text in (term.source, surface))
        if ours == theirs or (_fold(ours) == _fold(theirs) if term.any_case else _nfc(ours) == _nfc(theirs)):
            return term
    return None


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _parse_line(line: str, place: str) -> Term:
    columns = [column.strip() for column in line.split("\t")]
    if len(columns) > 3:
        raise DataError(f"{place}: {len(columns)} columns, and a rule has at most 3: source, target, options")
    source, target, options = (*columns, "", "")[:3]
    if not source.removeprefix("\\"):
        raise DataError(f"{place}: the source term is empty; write it before the first TAB")
    chosen = options.split()
    for option in chosen:
        if option not in _OPTIONS:
            raise DataError(f"{place}: unknown option '{option}'; there are {', '.join(_OPTIONS)}")
    if "case" in chosen and "nocase" in chosen:
        raise DataError(f"{place}: 'case' and 'nocase' exclude each other; leave one out")
    if "regex" in chosen:
        return _parse_regex(source, target, chosen, place)
    source = source.removeprefix("\\")
    any_case = "nocase" in chosen or ("case" not in chosen and source == source.lower())
    if target in ("", "="):
        return Term(source, is_kept=True, any_case=any_case)
    if target.startswith("!"):
        if not target[1:].strip():
            raise DataError(f"{place}: nothing stands behind the '!'; write what must not be in the translation")
        return Term(source, banned=(target[1:].strip(),), any_case=any_case)
    if target == "\\":
        raise DataError(f"{place}: nothing stands behind the '\\' of the target; write '\\\\' for a backslash itself")
    return Term(source, target.removeprefix("\\"), any_case=any_case)


def _warn_of_lines_without_tab(path: Path, numbers: Sequence[int]) -> None:
    named = ", ".join(map(str, numbers[:_N_NAMED])) + (", ..." if len(numbers) > _N_NAMED else "")
    logger.warning(
        "%s: %s no TAB, and so is a term to be kept as a whole: line %s; write a TAB between source and target",
        path,
        "1 line has" if len(numbers) == 1 else f"each of {plural(len(numbers), 'line')} has",
        named,
    )


def _parse_regex(source: str, target: str, options: Sequence[str], place: str) -> Term:
    if target not in ("", "="):
        raise DataError(
            f"{place}: a regular expression cannot have the target '{target}'; what it finds can only be kept (=)"
        )
    any_case = "nocase" in options
    pattern = f"(?i:{source})" if any_case else source
    try:
        re.compile(pattern)
    except re.error as error:
        raise DataError(f"{place}: '{source}' is not a regular expression: {error}") from None
    return Term(pattern, is_kept=True, any_case=any_case, is_regex=True)


def _merge(earlier: Term, later: Term, place: str, first_number: int) -> Term:
    """Put together what two lines ask of one term."""
    if earlier is later:
        return later
    wishes = {(term.target, term.is_kept) for term in (earlier, later) if term.target is not None or term.is_kept}
    if len(wishes) > 1:
        raise DataError(
            f"{place}: '{later.source}' has another target in line {first_number}; a term can have only one, leave one out"
        )
    [(target, is_kept)] = wishes or {(None, False)}
    banned = tuple(dict.fromkeys([*earlier.banned, *later.banned]))
    return Term(later.source, target, is_kept, banned, later.any_case, later.is_regex)
