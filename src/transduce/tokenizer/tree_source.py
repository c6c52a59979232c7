"""The source side of a parser that has one vocabulary for both sides: sentences in the ids that their words have in trees.

So all embeddings can be one matrix, and a word that is copied into the tree is the same id on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.protocol import N_CONTROL
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.trees import TreeTokenizer

__all__ = ["TreeSourceTokenizer"]


class TreeSourceTokenizer:
    """Sentences to ids and back. ``decode(encode(text)) == text``, as with the tokenizer of the words.

    Args:
        trees: The tokenizer of the target side.

    Raises:
        ValueError: It leaves words out, so it has no ids for them.

    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> words = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
    >>> trees = TreeTokenizer(("(NP", ")NP"), "replaced", words=words)
    >>> sentences = TreeSourceTokenizer(trees)
    >>> trees.pieces(sentences.encode("ab a")), trees.pieces(trees.encode("(TOP (NP (XX ab) (XX a)))"))
    (['▁ab', '▁a'], ['(NP', '▁ab', '▁a', ')NP'])
    """

    def __init__(self, trees: TreeTokenizer) -> None:
        if trees.words is None:
            raise ValueError("its trees are without words")
        self.trees = trees
        self.words: SubwordTokenizer = trees.words

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> TreeSourceTokenizer:
        """Build a tokenizer from the content of its file.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        return cls(TreeTokenizer.from_content(content["trees"]))

    @property
    def first_piece(self) -> int:
        """The id of the first piece, behind those of brackets and tags, which no sentence has."""
        return self.trees.first_piece

    @property
    def vocab_size(self) -> int:
        """Number of ids of both sides, the four control ids included: every id is below it."""
        return self.trees.vocab_size

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        return fingerprint_content(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        return {"kind": "tree-source", "trees": self.trees.content}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a sentence, without BOS or EOS.

        Raises:
            TokenizerError: The text has a lone surrogate.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many sentences; new words are encoded on all cores.

        Raises:
            TokenizerError: A text has a lone surrogate.
        """
        return list(map(list, self.trees.spell(texts)))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. What is no piece of a word gives nothing; broken UTF-8 becomes U+FFFD."""
        shift = self.first_piece - N_CONTROL
        return self.words.decode([index - shift for index in ids if index >= self.first_piece])

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        return self.trees.pieces(ids)

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self._content)
