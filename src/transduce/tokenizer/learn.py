"""The tokenizers of a run: learned from the training pairs, or imported, as the settings say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from transduce.base.log import logger
from transduce.text.pairs import SentencePair
from transduce.tokenizer.protocol import Tokenizer, TokenizerPair
from transduce.tokenizer.sentencepiece import SentencePieceTokenizer
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.subword import SubwordTokenizer, prepare_text
from transduce.tokenizer.subword_nmt import SubwordNmtTokenizer
from transduce.tokenizer.trainers import learn_bpe, learn_unigram, learn_wordpiece
from transduce.tokenizer.tree_source import TreeSourceTokenizer
from transduce.tokenizer.trees import learn_trees

__all__ = ["learn_tokenizers"]

_Sides = Literal["both sides", "the source", "the target"]


def learn_tokenizers(
    pairs: Iterable[SentencePair],
    settings: TokenizerSettings,
    *,
    n_pairs: int | None = None,
    target: Literal["text", "trees"] = "text",
) -> TokenizerPair:
    """Make the tokenizers of both sides.

    The pairs are streamed and never held; what is kept in memory is the distinct words. They are read once (separate
    vocabularies: twice), and once more before if ``n_pairs`` is not given. Of more than ``settings.max_learn_lines``
    pairs, that many are taken, evenly spread. The same pairs and settings give the same tokenizers, whatever the
    number of threads.

    Args:
        pairs: The training pairs. A list, or an object whose ``__iter__`` starts from the beginning every time. Not
            read when a tokenizer is imported.
        settings: What to make.
        n_pairs: The number of pairs, if it is known.
        target: What the target sides are: text, or trees in brackets, whose labels are their vocabulary.

    Raises:
        TokenizerError: There are no pairs, or the model to import is wrong.
        TypeError: The pairs can be iterated only once, and more passes are needed.
    """
    match settings.kind:
        case "sentencepiece":
            return _import_sentencepiece(settings)
        case "subword-nmt":
            return _import_subword_nmt(settings)
    n_passes = (n_pairs is None) + (1 if settings.joint and target == "text" else 2)
    if n_passes > 1 and isinstance(pairs, Iterator):
        raise TypeError(f"learn_tokenizers reads the pairs {n_passes} times, and an iterator can be read only once")
    if n_pairs is None:
        n_pairs = sum(1 for _ in pairs)
    if target == "trees":
        words = _learn(pairs, n_pairs, settings, "the source")
        _warn_if_smaller(settings, src=words)
        kept = words if settings.tree_words == "kept" else None
        tgt = learn_trees((pair.tgt for pair in pairs), settings.tree_tags, words=kept)
        return TokenizerPair(TreeSourceTokenizer(tgt) if settings.joint else words, tgt)
    if settings.joint:
        joint = _learn(pairs, n_pairs, settings, "both sides")
        learned = TokenizerPair(joint, joint)
    else:
        learned = TokenizerPair(
            _learn(pairs, n_pairs, settings, "the source"), _learn(pairs, n_pairs, settings, "the target")
        )
    _warn_if_smaller(settings, src=learned.src, tgt=learned.tgt)
    return learned


def _learn(pairs: Iterable[SentencePair], n_pairs: int, settings: TokenizerSettings, sides: _Sides) -> SubwordTokenizer:
    chosen = _spread(pairs, n_pairs, settings.max_learn_lines)
    texts = (prepare_text(text, settings.normalization) for text in _texts(chosen, sides))
    match settings.kind:
        case "wordpiece":
            return SubwordTokenizer(learn_wordpiece(texts, settings.vocab_size), normalization=settings.normalization)
        case "unigram":
            return SubwordTokenizer(learn_unigram(texts, settings.vocab_size), normalization=settings.normalization)
        case _:
            return SubwordTokenizer(learn_bpe(texts, settings.vocab_size), normalization=settings.normalization)


def _texts(pairs: Iterable[SentencePair], sides: _Sides) -> Iterator[str]:
    for pair in pairs:
        if sides != "the target":
            yield pair.src
        if sides != "the source":
            yield pair.tgt


def _spread(pairs: Iterable[SentencePair], n_pairs: int, limit: int) -> Iterator[SentencePair]:
    """Yield ``limit`` of the pairs at even distances, or all when there are no more than that."""
    if n_pairs <= limit:
        yield from pairs
        return
    for index, pair in enumerate(pairs):
        if index * limit // n_pairs != (index + 1) * limit // n_pairs:
            yield pair


def _warn_if_smaller(settings: TokenizerSettings, *, src: Tokenizer, tgt: Tokenizer | None = None) -> None:
    """Say once how large the vocabularies really are when the corpus does not give as many entries as asked for."""
    learned = {"source": src.vocab_size} | ({"target": tgt.vocab_size} if tgt is not None else {})
    if min(learned.values()) == settings.vocab_size:
        return
    sizes = " and ".join(f"{size:,} entries for the {side}" for side, size in learned.items())
    if settings.joint:
        sizes = f"{src.vocab_size:,} entries"
    logger.warning(
        "the corpus gives a vocabulary of %s, fewer than the %s asked for (tokenizer.vocab_size): going on with these",
        sizes,
        f"{settings.vocab_size:,}",
    )


def _import_sentencepiece(settings: TokenizerSettings) -> TokenizerPair:
    src = SentencePieceTokenizer.from_file(_given(settings.model_file), normalization=settings.normalization)
    if settings.joint:
        return TokenizerPair(src, src)
    tgt = SentencePieceTokenizer.from_file(_given(settings.tgt_model_file), normalization=settings.normalization)
    return TokenizerPair(src, tgt)


def _import_subword_nmt(settings: TokenizerSettings) -> TokenizerPair:
    codes, threshold, form = _given(settings.model_file), settings.vocab_threshold, settings.normalization
    src = SubwordNmtTokenizer.from_files(codes, _given(settings.vocab_file), threshold=threshold, normalization=form)
    if settings.joint:
        return TokenizerPair(src, src)
    tgt = SubwordNmtTokenizer.from_files(
        settings.tgt_model_file or codes, _given(settings.tgt_vocab_file), threshold=threshold, normalization=form
    )
    return TokenizerPair(src, tgt)


def _given(path: Path | None) -> Path:
    """Return a path that the settings have made sure of."""
    assert path is not None
    return path
