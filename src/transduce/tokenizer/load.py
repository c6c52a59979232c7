"""Tokenizers on the disk: a directory for each, or for the two sides of a pair."""

from __future__ import annotations

from pathlib import Path

from transduce.base.errors import TokenizerError
from transduce.tokenizer.document import DOCUMENT_NAME, read_document
from transduce.tokenizer.protocol import Tokenizer, TokenizerPair
from transduce.tokenizer.subword import SubwordTokenizer

__all__ = ["load_tokenizer", "load_tokenizers", "save_tokenizers"]

_SRC, _TGT = "src", "tgt"


def load_tokenizer(directory: Path) -> Tokenizer:
    """Read a tokenizer that its ``save`` wrote.

    Raises:
        TokenizerError: The directory holds none, or one that is damaged, of another program, or of a newer release.
        MissingExtraError: It needs a package that is not installed.
    """
    content = read_document(directory)
    try:
        match content["kind"]:
            case "bpe" | "wordpiece" | "unigram":
                return SubwordTokenizer.from_content(content)
            case "sentencepiece":  # the seldom ones are imported when there is one
                from transduce.tokenizer.sentencepiece import SentencePieceTokenizer

                return SentencePieceTokenizer.from_content(content, directory)
            case "subword-nmt":
                from transduce.tokenizer.subword_nmt import SubwordNmtTokenizer

                return SubwordNmtTokenizer.from_content(content)
            case "trees":
                from transduce.tokenizer.trees import TreeTokenizer

                return TreeTokenizer.from_content(content)
            case "tree-source":
                from transduce.tokenizer.tree_source import TreeSourceTokenizer

                return TreeSourceTokenizer.from_content(content)
            case kind:
                raise ValueError(f"its kind is {kind!r}")
    except (KeyError, TypeError, ValueError) as error:
        path = directory / DOCUMENT_NAME
        raise TokenizerError(f"{path}: not a tokenizer that this release knows ({error}); update transduce") from None


def save_tokenizers(pair: TokenizerPair, directory: Path) -> None:
    """Write the tokenizers of both sides: one for both into the directory itself, two into ``src`` and ``tgt`` below it.

    The directory should be new; whoever owns it makes the whole of it appear at once.
    """
    if pair.is_one:
        pair.src.save(directory)
    else:
        pair.src.save(directory / _SRC)
        pair.tgt.save(directory / _TGT)


def load_tokenizers(directory: Path) -> TokenizerPair:
    """Read what :func:`save_tokenizers` wrote. One for both sides is one object.

    Raises:
        TokenizerError: The directory holds no tokenizers, a joint one beside two, or a wrong one.
        MissingExtraError: A tokenizer needs a package that is not installed.
    """
    joint = (directory / DOCUMENT_NAME).exists()
    separate = (directory / _SRC).is_dir() or (directory / _TGT).is_dir()
    if joint and separate:
        raise TokenizerError(
            f"{directory}: holds both a joint tokenizer ({DOCUMENT_NAME}) and separate ones ({_SRC}, {_TGT}); make it again"
        )
    if joint:
        tokenizer = load_tokenizer(directory)
        return TokenizerPair(tokenizer, tokenizer)
    if separate:
        return TokenizerPair(load_tokenizer(directory / _SRC), load_tokenizer(directory / _TGT))
    raise TokenizerError(f"{directory}: no tokenizer here (neither {DOCUMENT_NAME} nor {_SRC} and {_TGT})")
