"""The target side of parsing: a tree is the ids of its brackets and tags, one id each, and where words are kept of their pieces.

The labels of a treebank are few, so the vocabulary is the list of them and nothing of them is cut into pieces: a bracket costs
one step of the decoder, whatever its label. Words that are kept have the pieces that they have on the source side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from transduce.base.errors import DataError, TokenizerError
from transduce.text.linearize import ANY_TAG, Tags, linearize
from transduce.text.parses import model_words
from transduce.text.trees import Tree, parse_tree, tree_leaves
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.protocol import CONTROL_PIECES, N_CONTROL, UNK_ID
from transduce.tokenizer.subword import SubwordTokenizer

__all__ = ["TreeTokenizer", "learn_trees"]


class TreeTokenizer:
    """Trees to ids and back, but for their words and outermost brackets, which whoever parses a sentence knows.

    Args:
        tokens: The brackets and tags, in the order of their ids. Where words are kept, there is no ``XX`` among them.
        tags: Whether the token of a word is ``XX`` for all words, or its part-of-speech tag.
        words: Cuts words into pieces, which have the ids behind the tokens. They stand in place of ``XX``, or follow their tags.
            None: words are left out.

    >>> tokenizer = TreeTokenizer(("(NP", ")NP", "XX"), "replaced")
    >>> ids = tokenizer.encode("(TOP (NP (DT the) (NN cat)))")
    >>> ids, tokenizer.decode(ids)
    ([4, 6, 6, 5], '(NP XX XX )NP')
    """

    def __init__(self, tokens: Sequence[str], tags: Tags, *, words: SubwordTokenizer | None = None) -> None:
        self.tokens = tuple(tokens)
        self.tags: Tags = tags
        self.words = words
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
        words = SubwordTokenizer.from_content(content["words"]) if "words" in content else None
        return cls(content["tokens"], content["tags"], words=words)

    @property
    def first_piece(self) -> int:
        """The id behind those of the tokens: of the first piece, where words are kept."""
        return N_CONTROL + len(self.tokens)

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return self.first_piece + (self.words.vocab_size - N_CONTROL if self.words is not None else 0)

    @cached_property
    def begins_word(self) -> tuple[bool, ...]:
        """Of each piece, in the order of their ids, whether a word begins with it; none where words are left out."""
        words = self.words
        return () if words is None else tuple(words.starts_word(own) for own in range(N_CONTROL, words.vocab_size))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every tree gets equal ids and every id is the same token."""
        return fingerprint_content(self.content)

    @property
    def content(self) -> dict[str, Any]:
        """What the tokenizer's file holds."""
        words = {"words": self.words.content} if self.words is not None else {}
        return {"kind": "trees", "tags": self.tags, **words, "tokens": list(self.tokens)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a tree in brackets, without BOS or EOS. A label that was not learned is UNK. No text has none.

        Raises:
            TokenizerError: The text is no tree.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many trees."""
        trees = [_parse(text) for text in texts]
        tokens = [_tokens(tree, self.tags) for tree in trees]
        if self.words is None:
            return [[self._id_of.get(token, UNK_ID) for token in each] for each in tokens]
        words = [[] if tree is None else model_words([leaf.word for leaf in tree_leaves(tree)]) for tree in trees]
        spelled = iter(self.spell([word for each in words for word in each]))
        return [[index for token in each for index in self._with_pieces(token, spelled)] for each in tokens]

    def _with_pieces(self, token: str, spelled: Iterator[Sequence[int]]) -> Iterator[int]:
        """Yield the ids of a token, and of the word that it stands for."""
        if token[0] in "()" or self.tags == "kept":
            yield self._id_of.get(token, UNK_ID)
        if token[0] not in "()":
            yield from next(spelled)

    def spell(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the ids of the pieces of words, as a parser is shown them; none where words are left out."""
        if self.words is None:
            return [()] * len(words)
        shift = self.first_piece - N_CONTROL
        return [tuple(index + shift for index in ids) for ids in self.words.encode_batch(words)]

    def continues(self, ids: Sequence[int]) -> list[bool]:
        """Tell of each id whether it goes on with the word of the one before, as pieces behind a tag or a first piece do."""
        found: list[bool] = []
        behind_tag = in_word = False
        for index in ids:
            is_piece = self.first_piece <= index < self.vocab_size
            goes_on = is_piece and (behind_tag or (in_word and not self.begins_word[index - self.first_piece]))
            found.append(goes_on)
            behind_tag, in_word = self._is_tag(index), is_piece
        return found

    def _is_tag(self, index: int) -> bool:
        return N_CONTROL <= index < self.first_piece and self.tokens[index - N_CONTROL][0] not in "()"

    def decode(self, ids: Sequence[int]) -> str:
        """Return the tokens of ids with spaces between, whole tree or not, with ``XX`` or a tag for each word.

        Control ids and ids out of range give nothing.
        """
        known = [index for index in ids if N_CONTROL <= index < self.vocab_size]
        return " ".join(
            self.tokens[index - N_CONTROL] if index < self.first_piece else ANY_TAG
            for index, goes_on in zip(known, self.continues(known), strict=True)
            if not goes_on
        )

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        own = (*CONTROL_PIECES, *self.tokens)
        found = []
        for index in ids:
            if self.words is not None and index >= self.first_piece:
                found += self.words.pieces([index - self.first_piece + N_CONTROL])
            else:
                found.append(own[index])
        return found

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self.content)


def learn_trees(texts: Iterable[str], tags: Tags, *, words: SubwordTokenizer | None = None) -> TreeTokenizer:
    """Return the tokenizer of all labels that some trees have, the most frequent first; of equal ones in alphabetic order.

    Args:
        texts: Trees in brackets, one each.
        tags: Whether tags are replaced by ``XX``.
        words: Cuts words into pieces, where they are kept; None: they are left out.

    Raises:
        TokenizerError: There are no trees, or a text is none.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_tokens(_parse(text), tags))
    if not counts:
        raise TokenizerError("there are no trees to learn labels from: the training set has none")
    tokens = sorted(counts, key=lambda token: (-counts[token], token))
    if words is not None and tags == "replaced":
        tokens.remove(ANY_TAG)  # the pieces of each word stand in its place
    return TreeTokenizer(tokens, tags, words=words)


def _parse(text: str) -> Tree | None:
    """Return the tree of a text; None where there is no text."""
    if not text:
        return None
    try:
        return parse_tree(text)
    except DataError as error:
        raise TokenizerError(f"'{text[:60]}' is no tree in brackets ({error})") from None


def _tokens(tree: Tree | None, tags: Tags) -> list[str]:
    """Return the tokens of a tree inside its outermost brackets."""
    return [] if tree is None else linearize(tree, tags=tags)[1:-1]
