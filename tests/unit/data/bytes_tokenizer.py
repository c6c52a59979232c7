"""The smallest real tokenizer: one id a byte of UTF-8. For tests of what lies above tokenizers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transduce.tokenizer.protocol import N_CONTROL, Tokenizer, TokenizerPair


@dataclass(frozen=True)
class BytesTokenizer:
    """``extra`` widens the vocabulary, so that two of them can differ."""

    extra: int = 0

    @property
    def vocab_size(self) -> int:
        return N_CONTROL + 256 + self.extra

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"bytes {self.extra}".encode()).hexdigest()

    def encode(self, text: str) -> list[int]:
        return [N_CONTROL + byte for byte in text.encode()]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(i - N_CONTROL for i in ids if i >= N_CONTROL).decode(errors="replace")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [self.decode([i]) for i in ids]

    def save(self, directory: Path) -> None:
        (directory / "bytes.txt").write_text(str(self.extra))


def bytes_pair(src_extra: int = 0, tgt_extra: int = 0) -> TokenizerPair:
    src: Tokenizer = BytesTokenizer(src_extra)
    tgt: Tokenizer = BytesTokenizer(tgt_extra)
    return TokenizerPair(src, tgt)
