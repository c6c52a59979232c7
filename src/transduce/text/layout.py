r"""The layout of a document: which parts of it are sentences, and everything around them, which stays as it is.

Kept to the letter are blank lines, indentation, the marks of lists, headings and quotations (``-``, ``2.``, ``##``, ``>``),
lines without a letter (``-----``), the kind of line end, and whether the last line has one.

A line break inside a paragraph is one of two things. In text that is wrapped, as an editor or a mail program wraps it at
some width, it means nothing: the sentences run on over it, and the translation is wrapped at the same width. Anywhere else
(verses, addresses, tables, one sentence a line) it is kept, and ends a sentence. Text is wrapped where nearly every line is
full: the first word of the next line would have made it longer than the longest one of its paragraph.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from transduce.text.split import split_sentences

__all__ = ["Document", "read_layout"]

_LINE = re.compile(r"([^\r\n]*)(\r\n?|\n|\Z)")
_HEAD = re.compile(r"(?P<indent>\s*(?:>\s?)*)(?P<mark>(?:#{1,6}|[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))\s+)?")
_LETTER = re.compile(r"[^\W\d_]")
_NARROWEST = 40
"""Characters of a line below which text is hardly ever wrapped."""
_FULL_SHARE = 2 / 3
"""Share of full lines that tells wrapped text from other lines."""
_NO_SPACE_AFTER = tuple("。！？」』")


@dataclass(frozen=True, slots=True)
class _Line:
    head: str  # indentation and marks
    body: str  # what can be translated, with the white space behind it
    end: str  # the line end
    marked: bool  # True: the head has a mark of its own, so that the line begins something

    @property
    def text(self) -> str:
        return self.head + self.body

    @property
    def has_letters(self) -> bool:
        return _LETTER.search(self.body) is not None


@dataclass(frozen=True, slots=True)
class _Block:
    """A line, or the lines of a wrapped paragraph."""

    head: str
    sentences: tuple[str, ...]  # without white space around them; none: the head is the whole line
    gaps: tuple[str, ...]  # the white space behind each
    end: str
    width: int | None = None  # of a wrapped paragraph
    indent: str = ""  # of its second line and those after it
    inner_end: str = "\n"  # its line ends but the last

    def fill(self, translations: Sequence[str]) -> str:
        """Return the block with other sentences."""
        parts = []
        for translation, gap, is_last in zip(translations, self.gaps, self._are_last(), strict=True):
            no_space = translation.endswith(_NO_SPACE_AFTER)
            parts.append(translation + (gap if is_last else "" if no_space else gap or " "))
        text = "".join(parts)
        if self.width is None:
            return self.head + text + self.end
        lines = textwrap.wrap(
            text,
            self.width,
            initial_indent=self.head,
            subsequent_indent=self.indent,
            expand_tabs=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return self.inner_end.join(lines) + self.end

    def _are_last(self) -> list[bool]:
        return [i == len(self.gaps) - 1 for i in range(len(self.gaps))]


@dataclass(frozen=True, slots=True)
class Document:
    """A text taken apart into sentences and the layout around them."""

    blocks: tuple[_Block, ...]

    @property
    def sentences(self) -> list[str]:
        """The sentences in order, each on one line, without white space around it."""
        return [sentence for block in self.blocks for sentence in block.sentences]

    def fill(self, translations: Sequence[str]) -> str:
        """Put other sentences into the layout.

        Args:
            translations: One for each of :attr:`sentences`.
        """
        waiting, parts = iter(translations), []
        for block in self.blocks:
            parts.append(block.fill([next(waiting) for _ in block.sentences]))
        return "".join(parts)


def read_layout(text: str) -> Document:
    r"""Take a text apart.

    >>> document = read_layout("# News\n\n  - It rains. It pours.\n  - So what?\n-----\n")
    >>> document.sentences
    ['News', 'It rains.', 'It pours.', 'So what?']
    >>> document.fill(["Neues", "Es regnet.", "Es gießt.", "Na und?"])
    '# Neues\n\n  - Es regnet. Es gießt.\n  - Na und?\n-----\n'
    """
    blocks: list[_Block] = []
    for group in _groups([_read_line(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]):
        blocks.extend(_block(lines, group) for lines in _paragraphs(group))
    return Document(tuple(blocks))


def _read_line(text: str, end: str) -> _Line:
    head = _HEAD.match(text)
    assert head is not None  # it can match nothing
    return _Line(head[0], text[head.end() :], end, marked=head["mark"] is not None)


def _groups(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield the lines that could belong together: without a blank line or a new mark between, and equally indented."""
    group: list[_Line] = []
    for line in lines:
        goes_on = group and line.has_letters and group[-1].has_letters and not line.marked
        if not goes_on or (len(group) > 1 and line.head != group[-1].head):
            if group:
                yield group
            group = []
        group.append(line)
    if group:
        yield group


def _paragraphs(group: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Cut a group into wrapped paragraphs and single lines."""
    width = max(len(line.text.rstrip()) for line in group)
    full = [len(a.text.rstrip()) + 1 + len(b.body.split(maxsplit=1)[0]) > width for a, b in pairwise(group)]
    wrapped = width >= _NARROWEST and sum(full) >= _FULL_SHARE * len(full)
    if len(group) == 2:  # one full line may be chance
        wrapped = wrapped and group[1].body[0].islower()
    paragraph = [group[0]]
    for is_full, line in zip(full, group[1:], strict=True):
        if not (wrapped and is_full):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph


def _block(lines: Sequence[_Line], group: Sequence[_Line]) -> _Block:
    first, last = lines[0], lines[-1]
    if not first.has_letters:
        return _Block(first.text, (), (), first.end)
    parts = split_sentences(first.body if len(lines) == 1 else " ".join(line.body.strip() for line in lines))
    sentences = tuple(part.rstrip() for part in parts)
    gaps = tuple(part[len(part.rstrip()) :] for part in parts)
    if len(lines) == 1:
        return _Block(first.head, sentences, gaps, last.end)
    width = max(len(line.text.rstrip()) for line in group)
    return _Block(first.head, sentences, gaps, last.end, width, indent=lines[1].head, inner_end=first.end)
