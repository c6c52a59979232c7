"""Plain English text into words as the Penn Treebank has them, which is what parsers read."""

from __future__ import annotations

import re

from transduce.base.extras import require

__all__ = ["WordSplitter"]

_DIRECTED = re.compile(r"(``|''|[“”‘])")
"""Quotes that say whether they open or close. NLTK would guess it anew."""
_AS_WORD = {"“": "``", "”": "''", "‘": "`"}


class WordSplitter:
    """Parts plain text into words: NLTK's version of the rules of the Penn Treebank.

    Raises:
        MissingExtraError: NLTK is not installed.
    """

    def __init__(self) -> None:
        module = require("nltk.tokenize.destructive", extra="parse", purpose="Parting text into words")
        self._tokenizer = module.NLTKWordTokenizer()

    def split(self, sentence: str) -> list[str]:
        """Return the words of a sentence. Quotes become ``  `` `` and ``''``; brackets stay as they are.

        Args:
            sentence: One sentence: the last full stop is a word of its own, and others stay with their abbreviations.

        >>> WordSplitter().split("Mr. Hill (the boss) said: “It isn’t the cat's.”")
        ['Mr.', 'Hill', '(', 'the', 'boss', ')', 'said', ':', '``', 'It', 'is', "n't", 'the', 'cat', "'s", '.', "''"]
        """
        words: list[str] = []
        for number, part in enumerate(_DIRECTED.split(sentence.replace("’", "'"))):
            words += [_AS_WORD.get(part, part)] if number % 2 else self._tokenizer.tokenize(part)
        return words
