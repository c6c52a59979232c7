"""The parts of a Markdown page that can be checked: fenced blocks, code spans, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "anchors", "blocks", "code_spans", "links"]

_FENCE = re.compile(r"^```")
_SPAN = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block. Its first line is ```` ```LANGUAGE FLAGS ````, such as ```` ```sh skip=network ````."""

    page: Path
    line: int
    language: str
    flags: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}, line {self.line}"

    def flag(self, name: str) -> str | None:
        """The value of ``NAME=VALUE`` among the flags, or None."""
        return next((flag.partition("=")[2] for flag in self.flags.split() if flag.startswith(f"{name}=")), None)


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    inside: list[str] | None = None
    first, info = 0, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if inside is None and _FENCE.match(line):
            inside, first, info = [], number, line.removeprefix("```")
        elif inside is not None and line == "```":
            language, _, flags = info.partition(" ")
            found.append(Block(page, first, language, flags, "\n".join(inside) + "\n"))
            inside = None
        elif inside is not None:
            inside.append(line)
    assert inside is None, f"{page}, line {first}: a block without an end"
    return found


def _prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def code_spans(page: Path) -> list[str]:
    return [found[1].replace("\n", " ") for found in _SPAN.findall(re.sub(r"\n(?!\n)", " ", _prose(page)))]


def links(page: Path) -> list[str]:
    """The targets of all links and pictures."""
    return _LINK.findall(_SPAN.sub("", _prose(page).replace("[`", "[").replace("`]", "]")))


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may end in, as GitHub makes it."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
