"""The source side of a parser whose words are numbered: each word is its number, and then its pieces.

The target side then writes the same numbers where its words stand (:mod:`transduce.text.linearize`), so the decoder is told
which word it has come to, and finds it by looking for its number. Without numbers it has to count words that are cut into
pieces, and learns that from some hundred thousand sentences, not from some ten thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from transduce.text.linearize import N_NUMBERS
from transduce.text.parses import sentence_words
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.subword import SubwordTokenizer

__all__ = ["NumberedTokenizer"]


class NumberedTokenizer:
    """Words to ids and back, each with its number modulo 10 in front. The numbers have the last ids.

    ``decode(encode(text))`` is the text that the tokenizer of the words gives back, with one space between words.

    Args:
        words: Cuts words into pieces.

    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = NumberedTokenizer(SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b")))))
    >>> ids = tokenizer.encode("ab  a")
    >>> tokenizer.pieces(ids), tokenizer.decode(ids)
    (['<0>', '▁ab', '<1>', '▁a'], 'ab a')
    """

    def __init__(self, words: SubwordTokenizer) -> None:
        self.words = words

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> NumberedTokenizer:
        """Build a tokenizer from the content of its file.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        return cls(SubwordTokenizer.from_content(content["words"]))

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return self.first_number + N_NUMBERS

    @property
    def first_number(self) -> int:
        """The id of the number 0, behind which those of the other numbers follow."""
        return self.words.vocab_size

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        return fingerprint_content(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        return {"kind": "numbered", "words": self.words.content}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without BOS or EOS.

        Raises:
            TokenizerError: The text has a lone surrogate.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts; new words are encoded on all cores.

        Raises:
            TokenizerError: A text has a lone surrogate.
        """
        cut = [sentence_words(text) for text in texts]
        pieces = iter(self.words.encode_batch([word for words in cut for word in words]))
        return [
            [index for place in range(len(words)) for index in (self.first_number + place % N_NUMBERS, *next(pieces))]
            for words in cut
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. Numbers, control ids and ids out of range give nothing; broken UTF-8 becomes U+FFFD."""
        return self.words.decode(ids)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id; that of a number is like ``<3>``.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        numbers = range(self.first_number, self.vocab_size)
        return [f"<{numbers.index(each)}>" if each in numbers else self.words.pieces([each])[0] for each in ids]

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self._content)
