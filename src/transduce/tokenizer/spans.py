"""Which characters of a text each of its ids stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from transduce.tokenizer.protocol import Tokenizer

__all__ = ["piece_spans"]

_WORD = re.compile(r"\S+")


def piece_spans(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return start and end of every id in a text, white space at the start left out.

    The ids are decoded bit by bit. Where that gives back the text, the places are exact; a character that is spelled in
    several ids belongs to each of them. A tokenizer that changes the text (Unicode normalization, small letters, fewer
    spaces) still leaves its words: then places are exact at their ends, and inside of them in proportion. If even the
    number of words is another, all places are in proportion.

    Args:
        tokenizer: The tokenizer of the ids.
        text: What the ids were made from, or what they were decoded to.
        ids: Ids without BOS and EOS. Time grows with the square of their number.

    Returns:
        A span for each id; an empty one for white space.

    >>> from transduce.tokenizer.subword import SubwordTokenizer
    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
    >>> piece_spans(tokenizer, "ab aß", tokenizer.encode("ab aß"))
    [(0, 2), (3, 4), (4, 5), (4, 5)]
    """
    decoded = tokenizer.decode(ids)
    ends = [0]
    for n in range(1, len(ids) + 1):
        ends.append(max(_n_common(tokenizer.decode(ids[:n]), decoded), ends[-1]))
    spans = [_without_space(decoded, start, end) for start, end in pairwise(ends)]
    if decoded == text:
        return spans
    places = _places(decoded, text)
    return [(places[start], places[end]) for start, end in spans]


def _n_common(so_far: str, decoded: str) -> int:
    """Count the characters that two texts share from the start; one that is not whole yet, U+FFFD, is not among them."""
    if decoded.startswith(so_far):
        return len(so_far)
    return next(n for n, char in enumerate(so_far) if decoded[n : n + 1] != char)


def _without_space(decoded: str, start: int, end: int) -> tuple[int, int]:
    if start == end:  # part of a character, unless the text has ended
        end = min(start + 1, len(decoded))
    while start < end and decoded[start].isspace():
        start += 1
    return start, end


def _places(decoded: str, text: str) -> list[int]:
    """Return for each place in one text the place in the other."""
    if len(decoded) == len(text):
        return list(range(len(text) + 1))
    ours, theirs = ([place for word in _WORD.finditer(side) for place in word.span()] for side in (decoded, text))
    known = dict(zip(ours, theirs, strict=True)) if len(ours) == len(theirs) else {}
    known = {0: 0, **known, len(decoded): known.get(len(decoded), len(text))}
    return [round(place) for place in np.interp(np.arange(len(decoded) + 1), list(known), list(known.values()))]
