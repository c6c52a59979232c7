"""Text to ids and back. No torch."""

from __future__ import annotations

from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.load import load_tokenizer, load_tokenizers, save_tokenizers
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID, UNK_ID, Tokenizer, TokenizerPair
from transduce.tokenizer.sentencepiece import SentencePieceTokenizer
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.subword_nmt import SubwordNmtTokenizer

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "N_CONTROL",
    "PAD_ID",
    "UNK_ID",
    "SentencePieceTokenizer",
    "SubwordNmtTokenizer",
    "SubwordTokenizer",
    "Tokenizer",
    "TokenizerPair",
    "TokenizerSettings",
    "learn_tokenizers",
    "load_tokenizer",
    "load_tokenizers",
    "save_tokenizers",
]
