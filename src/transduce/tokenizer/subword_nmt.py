"""Existing subword-nmt codes and their vocabulary.

The codes are applied as subword-nmt applies them. It works on text that is already split into words: a text is cut at
spaces (and only there: a tab is part of a word), and decoding puts one space between words. So this kind is not
lossless: runs of spaces, and spaces at the ends, are lost, and what the vocabulary lacks becomes the unknown id.

In the files a token that does not end a word carries the mark ``@@``. Here the mark is a property of the id, never
part of the text: decoding joins ids, not strings. A word of the user that ends in ``@@`` itself would be read as
marked in the file, so such a piece is cut until it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from transduce.base.errors import TokenizerError
from transduce.tokenizer.codes import MARK, Codes, Token, parse_token, read_codes, read_vocabulary
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.normalize import Normalization, normalize_text
from transduce.tokenizer.protocol import CONTROL_PIECES, N_CONTROL, UNK_ID

__all__ = ["SubwordNmtTokenizer"]

_MAX_CACHED_WORDS = 1 << 16


class SubwordNmtTokenizer:
    """subword-nmt codes with a vocabulary.

    Args:
        codes: The merges.
        vocabulary: The tokens as they stand in the vocabulary file, in its order: the first is id 4.
        rare: Tokens of the vocabulary not to be made, as they are below the threshold. None: no threshold; the codes
            are applied without a look at the vocabulary.
        normalization: The Unicode form every text is brought into first.

    >>> codes = Codes((0, 2), (("l", "o"), ("lo", "w</w>")))
    >>> tokenizer = SubwordNmtTokenizer(codes, ["low", "lo@@", "t", "s@@"])
    >>> ids = tokenizer.encode("low  slot")
    >>> ids, tokenizer.pieces(ids), tokenizer.decode(ids)
    ([4, 7, 5, 6], ['low', 's@@', 'lo@@', 't'], 'low slot')
    """

    kind = "subword-nmt"

    def __init__(
        self,
        codes: Codes,
        vocabulary: Sequence[str],
        *,
        rare: frozenset[str] | None = None,
        normalization: Normalization = "none",
    ) -> None:
        self.codes = codes
        self.vocabulary = tuple(vocabulary)
        self.rare = rare
        self.normalization: Normalization = normalization
        self._tokens = [parse_token(token) for token in self.vocabulary]
        self._id_of = {token: index for index, token in enumerate(self._tokens, start=N_CONTROL)}
        self._allowed = None if rare is None else {parse_token(token) for token in self.vocabulary if token not in rare}
        self._cache: dict[str, tuple[Token, ...]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to worker processes by content, without the cache."""
        return SubwordNmtTokenizer.from_content, (self._content,)

    @classmethod
    def from_files(
        cls,
        codes: Path,
        vocabulary: Path,
        *,
        threshold: int | None = None,
        normalization: Normalization = "none",
    ) -> SubwordNmtTokenizer:
        """Import codes and a vocabulary.

        Args:
            codes: What ``subword-nmt learn-bpe`` wrote, format 0.1 or 0.2.
            vocabulary: A token a line, with its count after a space or without.
            threshold: As ``apply-bpe --vocabulary-threshold``: a token counted fewer times, or not in the vocabulary,
                is cut into smaller ones where the codes allow. None: as ``apply-bpe`` without ``--vocabulary``.
            normalization: The Unicode form every text is brought into first.

        Raises:
            TokenizerError: A file is not what it should be: the message names each line.
            DataError: A file cannot be read.
        """
        counts = read_vocabulary(vocabulary)
        rare = None
        if threshold is not None:
            without = next((token for token, count in counts.items() if count is None), None)
            if without is not None:
                raise TokenizerError(
                    f"{vocabulary}: token {without!r} has no count, so a threshold of {threshold} cannot be applied; "
                    f"remove tokenizer.vocab_threshold"
                )
            rare = frozenset(token for token, count in counts.items() if count is not None and count < threshold)
        return cls(read_codes(codes), list(counts), rare=rare, normalization=normalization)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> SubwordNmtTokenizer:
        """Build a tokenizer from the content of its file.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        rare = content["rare"]
        return cls(
            Codes.from_content(content),
            content["vocabulary"],
            rare=None if rare is None else frozenset(rare),
            normalization=content["normalization"],
        )

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return N_CONTROL + len(self._tokens)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        return fingerprint_content(self._content)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "normalization": self.normalization,
            **self.codes.content(),
            "vocabulary": list(self.vocabulary),
            "rare": None if self.rare is None else sorted(self.rare),
        }

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without BOS or EOS.

        Raises:
            TokenizerError: The text has a lone surrogate.
        """
        return [self._id_of.get(token, UNK_ID) for token in self._segment(text)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts.

        Raises:
            TokenizerError: A text has a lone surrogate.
        """
        return [self.encode(text) for text in texts]

    def segment(self, text: str) -> list[str]:
        """Return the tokens of a text as ``subword-nmt apply-bpe`` prints them, those not in the vocabulary as well."""
        return [piece if final else piece + MARK for piece, final in self._segment(text)]

    def _segment(self, text: str) -> Iterator[Token]:
        cache = self._cache
        if len(cache) > _MAX_CACHED_WORDS:
            cache = self._cache = {}
        for word in normalize_text(text, self.normalization).strip("\r\n ").split(" "):
            if word:
                tokens = cache.get(word)
                if tokens is None:
                    tokens = cache[word] = tuple(self.codes.segment(word, self._allowed))
                yield from tokens

    def decode(self, ids: Sequence[int]) -> str:
        """Return the words of ids with a space between. Control ids and ids out of range give nothing."""
        words, word = [], ""
        for index in ids:
            piece, final = self._tokens[index - N_CONTROL] if N_CONTROL <= index < self.vocab_size else ("", True)
            word += piece
            if final:
                words.append(word)
                word = ""
        return " ".join(word for word in [*words, word] if word)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the token of each id as the vocabulary file spells it.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        if any(not 0 <= index < self.vocab_size for index in ids):
            raise IndexError(f"an id is not in the vocabulary of {self.vocab_size} entries")
        return [CONTROL_PIECES[i] if i < N_CONTROL else self.vocabulary[i - N_CONTROL] for i in ids]

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self._content)
