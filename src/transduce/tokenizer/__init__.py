"""Text to ids and back. No torch.

Each name is loaded when it is first used: whoever translates needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.lazy import lazy_names

if TYPE_CHECKING:
    from transduce.tokenizer.learn import learn_tokenizers as learn_tokenizers
    from transduce.tokenizer.load import load_tokenizer as load_tokenizer
    from transduce.tokenizer.load import load_tokenizers as load_tokenizers
    from transduce.tokenizer.load import save_tokenizers as save_tokenizers
    from transduce.tokenizer.protocol import BOS_ID as BOS_ID
    from transduce.tokenizer.protocol import EOS_ID as EOS_ID
    from transduce.tokenizer.protocol import N_CONTROL as N_CONTROL
    from transduce.tokenizer.protocol import PAD_ID as PAD_ID
    from transduce.tokenizer.protocol import UNK_ID as UNK_ID
    from transduce.tokenizer.protocol import Tokenizer as Tokenizer
    from transduce.tokenizer.protocol import TokenizerPair as TokenizerPair
    from transduce.tokenizer.sentencepiece import SentencePieceTokenizer as SentencePieceTokenizer
    from transduce.tokenizer.settings import TokenizerSettings as TokenizerSettings
    from transduce.tokenizer.subword import SubwordTokenizer as SubwordTokenizer
    from transduce.tokenizer.subword_nmt import SubwordNmtTokenizer as SubwordNmtTokenizer

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

__getattr__ = lazy_names(
    __name__,
    {
        "BOS_ID": "transduce.tokenizer.protocol",
        "EOS_ID": "transduce.tokenizer.protocol",
        "N_CONTROL": "transduce.tokenizer.protocol",
        "PAD_ID": "transduce.tokenizer.protocol",
        "UNK_ID": "transduce.tokenizer.protocol",
        "SentencePieceTokenizer": "transduce.tokenizer.sentencepiece",
        "SubwordNmtTokenizer": "transduce.tokenizer.subword_nmt",
        "SubwordTokenizer": "transduce.tokenizer.subword",
        "Tokenizer": "transduce.tokenizer.protocol",
        "TokenizerPair": "transduce.tokenizer.protocol",
        "TokenizerSettings": "transduce.tokenizer.settings",
        "learn_tokenizers": "transduce.tokenizer.learn",
        "load_tokenizer": "transduce.tokenizer.load",
        "load_tokenizers": "transduce.tokenizer.load",
        "save_tokenizers": "transduce.tokenizer.load",
    },
)
