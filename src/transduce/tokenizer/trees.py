"""The target side of parsing: a tree is the ids of its brackets and tags, one id each.

The labels of a treebank are few, so the vocabulary is the list of them and nothing is cut into pieces: a bracket costs one
step of the decoder, whatever its label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from transduce.base.errors import DataError, TokenizerError
from transduce.text.linearize import N_NUMBERS, Tags, linearize, number_token
from transduce.text.trees import parse_tree
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.protocol import CONTROL_PIECES, N_CONTROL, UNK_ID

__all__ = ["TreeTokenizer", "learn_trees"]


class TreeTokenizer:
    """Trees to ids and back, but for their words and outermost brackets, which whoever parses a sentence knows.

    Args:
        tokens: The brackets and tags, in the order of their ids.
        tags: Whether the token of a word is ``XX`` for all words, or its part-of-speech tag.
        numbered: Whether the token of a word has its number too.

    >>> tokenizer = TreeTokenizer(("(NP", ")NP", "XX"), "replaced")
    >>> ids = tokenizer.encode("(TOP (NP (DT the) (NN cat)))")
    >>> ids, tokenizer.decode(ids)
    ([4, 6, 6, 5], '(NP XX XX )NP')
    """

    def __init__(self, tokens: Sequence[str], tags: Tags, *, numbered: bool = False) -> None:
        self.tokens = tuple(tokens)
        self.tags: Tags = tags
        self.numbered = numbered
        self._id_of = {token: index for index, token in enumerate(self.tokens, start=N_CONTROL)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> TreeTokenizer:
        """Build a tokenizer from the content of its file.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        if content["tags"] not in get_args(Tags):
            raise ValueError(f"tags are {content['tags']!r}")
        return cls(content["tokens"], content["tags"], numbered=content.get("numbered", False))

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return N_CONTROL + len(self.tokens)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every tree gets equal ids and every id is the same token."""
        return fingerprint_content(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        numbered = {"numbered": True} if self.numbered else {}
        return {"kind": "trees", "tags": self.tags, **numbered, "tokens": list(self.tokens)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a tree in brackets, without BOS or EOS. A label that was not learned is UNK. No text has none.

        Raises:
            TokenizerError: The text is no tree.
        """
        return [self._id_of.get(token, UNK_ID) for token in _tokens(text, self.tags, numbered=self.numbered)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many trees."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the tokens of ids with spaces between, whole tree or not. Control ids and ids out of range give nothing."""
        return " ".join(self.tokens[index - N_CONTROL] for index in ids if N_CONTROL <= index < self.vocab_size)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        return [(*CONTROL_PIECES, *self.tokens)[index] for index in ids]

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self._content)


def learn_trees(texts: Iterable[str], tags: Tags, *, numbered: bool = False) -> TreeTokenizer:
    """Return the tokenizer of all labels that some trees have, the most frequent first; of equal ones in alphabetic order.

    Args:
        texts: Trees in brackets, one each.
        tags: Whether tags are replaced by ``XX``.
        numbered: Whether words have numbers. A tag is learned with each of them, however short the sentences.

    Raises:
        TokenizerError: There are no trees, or a text is none.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_tokens(text, tags))
    if not counts:
        raise TokenizerError("there are no trees to learn labels from: the training set has none")
    tokens = sorted(counts, key=lambda token: (-counts[token], token))
    if numbered:
        tokens = [
            each
            for token in tokens
            for each in ([token] if token[0] in "()" else [number_token(token, n) for n in range(N_NUMBERS)])
        ]
    return TreeTokenizer(tokens, tags, numbered=numbered)


def _tokens(text: str, tags: Tags, *, numbered: bool = False) -> list[str]:
    """Return the tokens of a tree inside its outermost brackets."""
    if not text:
        return []
    try:
        return linearize(parse_tree(text), tags=tags, numbered=numbered)[1:-1]
    except DataError as error:
        raise TokenizerError(f"'{text[:60]}' is no tree in brackets ({error})") from None
