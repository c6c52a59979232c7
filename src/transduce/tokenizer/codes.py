"""subword-nmt's files, and its way of applying merges to a word.

A token is a pair (piece, final): final is True when the piece ends its word. In the files a piece that does not is
written with the mark ``@@`` behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from transduce.base.errors import TokenizerError
from transduce.base.files import read_lines
from transduce.tokenizer.protocol import CONTROL_PIECES

__all__ = ["MARK", "Codes", "Token", "parse_token", "read_codes", "read_vocabulary"]

MARK = "@@"
"""Ends a token in the files whose word goes on."""

Token = tuple[str, bool]

_END = "</w>"
_VERSIONS = {(0, 1), (0, 2)}
_SHOWN_FAULTS = 10


def parse_token(text: str) -> Token:
    """Read a token as the files spell it. ``@@`` alone is a word: nothing but a mark would be an empty piece.

    >>> parse_token("lo@@"), parse_token("low"), parse_token("@@")
    (('lo', False), ('low', True), ('@@', True))
    """
    if text.endswith(MARK) and text != MARK:
        return text.removesuffix(MARK), False
    return text, True


@dataclass(frozen=True)
class Codes:
    """The merges of a codes file."""

    version: tuple[int, ...]
    """(0, 1): the end of a word is a symbol of its own. (0, 2): it is part of the last character."""
    merges: tuple[tuple[str, str], ...]
    """Pairs to merge, the first learned first."""

    def content(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"codes_version": list(self.version), "merges": [f"{left} {right}" for left, right in self.merges]}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Codes:
        """Build codes from what :meth:`content` gave.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        return cls(tuple(content["codes_version"]), tuple(_pair(merge) for merge in content["merges"]))

    @cached_property
    def _rank(self) -> dict[tuple[str, str], int]:
        return {
            pair: rank for rank, pair in reversed(list(enumerate(self.merges)))
        }  # of doubled pairs the first counts

    @cached_property
    def _parts(self) -> dict[str, tuple[str, str]]:
        # Two pairs can make one piece: the one learned first counts, as in subword-nmt.
        return {left + right: (left, right) for left, right in self._rank}

    def segment(self, word: str, allowed: Collection[Token] | None) -> Iterator[Token]:
        """Yield the tokens of a word.

        Args:
            word: A word without spaces, at least one character.
            allowed: The tokens that may be made; others are cut along the merges that made them, while there are any.
                None: all.
        """
        if len(word) == 1:
            yield word, True
            return
        pieces = self._merge(word)
        for place, piece in enumerate(pieces, start=1):
            yield from self._cut((piece, place == len(pieces)), allowed)

    def _merge(self, word: str) -> list[str]:
        """Apply the merges to the characters of a word, at each turn all pairs of the lowest rank from the left."""
        symbols = [*word, _END] if self.version == (0, 1) else [*word[:-1], word[-1] + _END]
        while len(symbols) > 1:
            pairs = set(pairwise(symbols)) & self._rank.keys()
            if not pairs:
                break
            best = min(pairs, key=self._rank.__getitem__)
            merged, place = [], 0
            while place < len(symbols):
                width = 2 if tuple(symbols[place : place + 2]) == best else 1
                merged.append("".join(symbols[place : place + width]))
                place += width
            symbols = merged
        if symbols[-1] == _END:
            return symbols[:-1]
        return [*symbols[:-1], symbols[-1].removesuffix(_END)]

    def _cut(self, token: Token, allowed: Collection[Token] | None) -> Iterator[Token]:
        """Yield a token, or its parts when it may not be made, or when the files would take it for a marked one."""
        piece, final = token
        ambiguous = final and parse_token(piece) != token
        parts = self._parts.get(piece + _END if final else piece)
        if parts is None or parts[1] == _END or (not ambiguous and (allowed is None or token in allowed)):
            yield token
            return
        left, right = parts
        yield from self._cut((left, False), allowed)
        yield from self._cut((right.removesuffix(_END), True) if final else (right, False), allowed)


def read_codes(path: Path) -> Codes:
    """Read a codes file: a line ``#version: 0.2`` (0.1 has none), then two symbols a line.

    Raises:
        TokenizerError: A line is not two symbols, or the version is unknown.
        DataError: The file cannot be read.
    """
    version: tuple[int, ...] = (0, 1)
    merges: list[tuple[str, str]] = []
    blank_line = None
    for number, line in enumerate(read_lines(path), start=1):
        if number == 1 and line.startswith("#version:"):
            version = _parse_version(path, line)
            continue
        parts = line.strip("\r\n ").split(" ")
        if parts == [""]:
            blank_line = blank_line or number
            continue
        if blank_line is not None or len(parts) != 2:
            raise TokenizerError(
                f"{path}, line {blank_line or number}: not two symbols with a space between: "
                f"{'' if blank_line else line!r}; give the codes file that subword-nmt learn-bpe wrote"
            )
        merges.append((parts[0], parts[1]))
    if not merges:
        raise TokenizerError(f"{path}: no merges in it; give the codes file that subword-nmt learn-bpe wrote")
    return Codes(version, tuple(merges))


def read_vocabulary(path: Path) -> dict[str, int | None]:
    """Read a vocabulary file: a token a line, with its count after a space or without. Order is kept.

    Raises:
        TokenizerError: A token stands twice, is the name of a control id, or a line has another form: each such line
            is named, since taking any of them would shift all later ids without a word.
        DataError: The file cannot be read.
    """
    counts: dict[str, int | None] = {}
    first_line: dict[str, int] = {}
    faults = []
    for number, line in enumerate(read_lines(path), start=1):
        token, space, count = line.strip("\r\n ").partition(" ")
        if not token or (space and not count.isdecimal()):
            faults.append(f"line {number}: not a token with or without a count: {line!r}")
        elif token in CONTROL_PIECES:
            faults.append(f"line {number}: {token!r} is the name of a control id, which every vocabulary has already")
        elif token in counts:
            faults.append(f"line {number}: {token!r} stands on line {first_line[token]} already")
        else:
            counts[token], first_line[token] = int(count) if space else None, number
    if faults:
        shown = [f"  {fault}" for fault in faults[:_SHOWN_FAULTS]]
        more = [f"  and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        lines = "a line" if len(faults) == 1 else f"{len(faults)} lines"
        raise TokenizerError("\n".join([f"{path}: remove {lines} of the vocabulary:", *shown, *more]))
    if not counts:
        raise TokenizerError(f"{path}: no tokens in it; give the vocabulary that subword-nmt get-vocab wrote")
    return counts


def _parse_version(path: Path, line: str) -> tuple[int, ...]:
    text = line.removeprefix("#version:").strip()
    parts = text.split(".")
    version = tuple(int(part) for part in parts if part.isdecimal())
    if version not in _VERSIONS or len(version) != len(parts):
        raise TokenizerError(f"{path}, line 1: codes of version {text!r}, and 0.1 and 0.2 are known")
    return version


def _pair(merge: str) -> tuple[str, str]:
    left, right = merge.split(" ")
    return left, right
