"""From pieces to words in pictures of attention: the paper's figures show words, and half a letter can be shown to nobody."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transduce.paper.heads import Weights
from transduce.text.scripts import script_of
from transduce.tokenizer.protocol import BOS_ID, CONTROL_PIECES, EOS_ID, Tokenizer
from transduce.tokenizer.spans import piece_spans

__all__ = ["PieceGroups", "group_pieces", "group_tree_tokens", "join_positions"]

_NO_SPACES = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
"""Scripts that are written without spaces: each letter stands for itself."""


@dataclass(frozen=True)
class PieceGroups:
    """The words of a text: letters and digits together, every other sign for itself."""

    names: tuple[str, ...]
    """As they stand in the text."""
    group_of: tuple[int, ...]
    """For each id the number of its word, from 0."""

    def behind_bos(self) -> PieceGroups:
        """Return the same with BOS in front, as a word of its own: what a decoder reads."""
        return PieceGroups((CONTROL_PIECES[BOS_ID], *self.names), (0, *(group + 1 for group in self.group_of)))

    def before_eos(self) -> PieceGroups:
        """Return the same with EOS behind, as a word of its own: what a decoder writes and an encoder reads."""
        return PieceGroups((*self.names, CONTROL_PIECES[EOS_ID]), (*self.group_of, len(self.names)))


def group_pieces(tokenizer: Tokenizer, ids: Sequence[int]) -> PieceGroups:
    """Find the words that ids spell. An id that is white space alone belongs to the word behind it.

    Args:
        tokenizer: The tokenizer of the ids.
        ids: Ids without BOS and EOS. Time grows with the square of their number.

    >>> from transduce.tokenizer.subword import SubwordTokenizer
    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("a", "b"),)))
    >>> group_pieces(tokenizer, tokenizer.encode("abb, é"))
    PieceGroups(names=('abb', ',', 'é'), group_of=(0, 0, 0, 1, 2, 2, 2))
    """
    text = tokenizer.decode(ids)
    spans = piece_spans(tokenizer, text, ids)
    groups = _groups(text, spans)
    names, group_of = [], [0] * len(ids)
    for group, numbers in enumerate(groups):
        written = [spans[number] for number in numbers if spans[number][0] < spans[number][1]]
        names.append(text[written[0][0] : written[-1][1]] if written else "▁")
        for number in numbers:
            group_of[number] = group
    return PieceGroups(tuple(names), tuple(group_of))


def group_tree_tokens(tokens: Sequence[str], words: Sequence[str], continues: Sequence[bool] = ()) -> PieceGroups:
    """Name the tokens of a parse as one reads it: brackets as they are, and for each ``XX`` or tag the word that it stands for.

    Args:
        tokens: As a parser writes them, with or without a mistake.
        words: The words of the sentence.
        continues: For each token whether it goes on with the word of the one before; none given: no token does.

    >>> group_tree_tokens("(NP XX XX )NP".split(), ["the", "cat"]).names
    ('(NP', 'the', 'cat', ')NP')
    >>> group_tree_tokens("(NP ▁ca t )NP".split(), ["cat"], [False, False, True, False])
    PieceGroups(names=('(NP', 'cat', ')NP'), group_of=(0, 1, 1, 2))
    """
    following = iter(words)
    names: list[str] = []
    group_of = []
    for token, goes_on in zip(tokens, continues or [False] * len(tokens), strict=True):
        if not goes_on:
            names.append(token if token[0] in "()<" else next(following, token))
        group_of.append(len(names) - 1)
    return PieceGroups(tuple(names), tuple(group_of))


def join_positions(weights: Weights, rows: Sequence[int], columns: Sequence[int]) -> Weights:
    """Join positions of attention weights into words: a word is looked at by the sum, and looks by the mean, of its pieces.

    Args:
        weights: ``[..., tq, tk]``.
        rows: For each of ``tq`` the number of its word.
        columns: For each of ``tk`` the number of its word.

    Returns:
        Weights of which each row sums to 1 again.

    >>> join_positions(np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]), [0, 0], [0, 1, 1])
    array([[0.25, 0.75]])
    """
    looks, is_read = (np.eye(max(groups) + 1)[list(groups)] for groups in (rows, columns))  # [t, words]
    return np.asarray((looks / looks.sum(axis=0)).T @ weights @ is_read, dtype=np.float64)


def _groups(text: str, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return for each word the numbers of its ids."""
    groups: list[list[int]] = []
    waiting: list[int] = []  # white space that waits for the word behind it
    end = 0  # of the last word so far
    for number, (start, stop) in enumerate(spans):
        if start == stop:
            waiting.append(number)
            continue
        if groups and not waiting and (start < end or not _parts(text, end, start)):
            groups[-1].append(number)
        else:
            groups.append([*waiting, number])
        waiting, end = [], max(end, stop)
    if not groups:
        return [waiting] if waiting else []
    groups[-1] += waiting  # white space at the end
    return groups


def _parts(text: str, end: int, start: int) -> bool:
    """Tell whether a word ends at one place and another starts at the other, behind it."""
    if end < start:  # there is white space between
        return True
    before, after = text[end - 1], text[end]
    if after in "\u200d\ufe0f" or unicodedata.category(after).startswith(("M", "Sk")):  # belongs to what is before it
        return False
    return not (_joins(before) and _joins(after))


def _joins(char: str) -> bool:
    """Tell whether a character is one of those that make up words together."""
    if unicodedata.category(char).startswith("M"):
        return True
    return char.isalnum() and script_of(char) not in _NO_SPACES
