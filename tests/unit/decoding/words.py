"""A tokenizer and models of a toy language of one-letter words, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from transduce.tokenizer.protocol import CONTROL_PIECES, N_CONTROL, TokenizerPair


class LetterTokenizer:
    """One id for each letter of an alphabet; a text is its letters. Decoding can give any text for a letter."""

    def __init__(self, alphabet: str, texts: dict[str, str] | None = None) -> None:
        self.alphabet = alphabet
        self.texts = texts or {}

    @property
    def vocab_size(self) -> int:
        return N_CONTROL + len(self.alphabet)

    @property
    def fingerprint(self) -> str:
        return self.alphabet

    def encode(self, text: str) -> list[int]:
        return [N_CONTROL + self.alphabet.index(letter) for letter in text if letter in self.alphabet]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        letters = [self.alphabet[i - N_CONTROL] for i in ids if i >= N_CONTROL]
        return "".join(self.texts.get(letter, letter) for letter in letters)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [CONTROL_PIECES[i] if i < N_CONTROL else self.alphabet[i - N_CONTROL] for i in ids]

    def save(self, directory: Path) -> None:
        (directory / "alphabet.txt").write_text(self.alphabet, encoding="utf-8")


def letter_pair(tgt_texts: dict[str, str] | None = None) -> TokenizerPair:
    """Return tokenizers for the source letters a to e and the target letters V to Z."""
    return TokenizerPair(LetterTokenizer("abcde"), LetterTokenizer("VWXYZ", tgt_texts))
