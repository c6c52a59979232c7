"""Which pieces make up which word, for whatever is said about words: alignments, confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from transduce.tokenizer.protocol import Tokenizer

__all__ = ["Words", "find_words"]


class Words(NamedTuple):
    """The words of a text, and the word that each of its ids belongs to."""

    texts: list[str]
    """The words: what stands between white space, punctuation included."""
    word_of: list[int]
    """For each id the number of its word, from 0. Empty where the text is blank, so that there are no words."""


def find_words(tokenizer: Tokenizer, ids: Sequence[int]) -> Words:
    """Find the words in the text of some ids, whatever the tokenizer.

    A word is what ``str.split()`` gives, so a text in a script without spaces is one long word. An id belongs to the word
    in which its text ends; one that is white space alone belongs to the word behind it, as its sign ``▁`` does.

    Args:
        tokenizer: The tokenizer of the ids.
        ids: Ids without BOS and EOS. Time grows with the square of their number, which for sentences does not matter.

    >>> from transduce.tokenizer.subword import SubwordTokenizer
    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("a", "b"),)))
    >>> ids = tokenizer.encode("abc d")
    >>> tokenizer.pieces(ids), find_words(tokenizer, ids)
    (['▁', 'ab', 'c', '▁', 'd'], Words(texts=['abc', 'd'], word_of=[0, 0, 0, 1, 1]))
    """
    texts = tokenizer.decode(ids).split()
    if not texts:
        return Words([], [])
    word_of = []
    for end in range(1, len(ids) + 1):
        so_far = tokenizer.decode(ids[:end])
        n_begun = len(so_far.split())
        word_of.append(n_begun if not so_far or so_far[-1].isspace() else n_begun - 1)
    # White space at the end has no word behind it, and a character that is cut between two ids may look like a word.
    return Words(texts, [min(word, len(texts) - 1) for word in word_of])
