"""Learning one vocabulary from texts, with the trainers of the Hugging Face library.

The results are the same in every process and with any number of threads. What the library leaves to chance (the order
of its hash maps) is pinned down here:

- word-piece: continuation symbols are numbered before training, since ties between pairs are broken by number;
- unigram: scores are sums of floats in no fixed order, equal to about ten digits, so they are rounded to
  hundredths; and the scores it makes up for bytes it never saw, in random order, become one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from transduce.base.errors import TokenizerError
from transduce.tokenizer.bytes import BYTE_SYMBOLS
from transduce.tokenizer.protocol import N_CONTROL
from transduce.tokenizer.subword import SPLIT_PATTERN, chunk_text, pre_tokenizer, split_chunks
from transduce.tokenizer.vocabulary import CONTINUATION, BpeVocabulary, UnigramVocabulary, WordPieceVocabulary

__all__ = ["learn_bpe", "learn_unigram", "learn_wordpiece"]

_BATCH_LINES = 1024
_MIN_FREQUENCY = 2  # a pair or word seen once teaches nothing
_MAX_PIECE_BYTES = 48  # the library's 16 would be 5 characters of Japanese
_SCORE_DIGITS = 2
_UNSEEN_BAND = 256e-4 + 1e-6  # the made-up scores of unseen bytes lie this close above the smallest score

_WORD_END = "‿"
"""Ends the second copy of a word in the text a unigram model learns from. Not a byte symbol."""


def learn_bpe(texts: Iterable[str], vocab_size: int) -> BpeVocabulary:
    """Learn byte-pair merges from prepared texts.

    Args:
        texts: Texts as :func:`transduce.tokenizer.subword.prepare_text` makes them, read once.
        vocab_size: Most entries, control ids and bytes included; at least 260.

    Raises:
        TokenizerError: There is no text.

    >>> learn_bpe([" the then they"], 262).merges
    (('h', 'e'), ('t', 'he'))
    """
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer(SPLIT_PATTERN)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - N_CONTROL,
        min_frequency=_MIN_FREQUENCY,
        initial_alphabet=list(BYTE_SYMBOLS),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_batches(texts), trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return BpeVocabulary(tuple((left, right) for left, right in merges))


def learn_wordpiece(texts: Iterable[str], vocab_size: int) -> WordPieceVocabulary:
    """Learn word-pieces from prepared texts: the pieces that byte-pair merging inside words makes, the usual stand-in.

    Args:
        texts: Texts as :func:`transduce.tokenizer.subword.prepare_text` makes them, read once.
        vocab_size: Most entries, control ids and both forms of each byte included; at least 516.

    Raises:
        TokenizerError: There is no text.

    >>> learn_wordpiece([" the then they"], 518).pieces
    ('‿he', '‿the')
    """
    continuations = [CONTINUATION + symbol for symbol in BYTE_SYMBOLS]
    tokenizer = tokenizers.Tokenizer(models.WordPiece(continuing_subword_prefix=CONTINUATION))
    tokenizer.pre_tokenizer = pre_tokenizer(SPLIT_PATTERN)
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size - N_CONTROL,
        min_frequency=_MIN_FREQUENCY,
        initial_alphabet=list(BYTE_SYMBOLS),
        special_tokens=list(continuations),  # numbered first; this tokenizer is thrown away, so no text meets them
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_batches(texts), trainer)
    ids = tokenizer.get_vocab()
    base = {*BYTE_SYMBOLS, *continuations}
    return WordPieceVocabulary(tuple(piece for piece in sorted(ids, key=ids.__getitem__) if piece not in base))


def learn_unigram(texts: Iterable[str], vocab_size: int) -> UnigramVocabulary:
    """Learn a unigram language model of pieces from prepared texts.

    The library takes as first pieces what stands in two different words, so that a frequent word of which no other
    word is a longer form (``woman``) is never one piece. Here each word that comes twice is shown once more with an
    end mark, which makes it such a piece. On Multi30k that saves 8 percent of the tokens.

    Args:
        texts: Texts as :func:`transduce.tokenizer.subword.prepare_text` makes them, read once.
        vocab_size: Most entries, control ids and bytes included; at least 260.

    Raises:
        TokenizerError: There is no text.
    """
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size - N_CONTROL + 1,  # one more for the end mark
        initial_alphabet=list(BYTE_SYMBOLS),
        max_piece_length=_MAX_PIECE_BYTES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_batches(_spell_with_ends(texts)), trainer)
    scores = {
        piece: score for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"] if _WORD_END not in piece
    }
    smallest = min(scores.values())
    rounded = {
        piece: round(smallest if len(piece) == 1 and score <= smallest + _UNSEEN_BAND else score, _SCORE_DIGITS)
        for piece, score in scores.items()
    }
    pieces = sorted((piece for piece in rounded if len(piece) > 1), key=lambda piece: (-rounded[piece], piece))
    del pieces[vocab_size - N_CONTROL - len(BYTE_SYMBOLS) :]
    return UnigramVocabulary(
        byte_scores=tuple(rounded[symbol] for symbol in BYTE_SYMBOLS),
        pieces=tuple(pieces),
        scores=tuple(rounded[piece] for piece in pieces),
    )


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of texts, as the library reads them fastest, those with something in them, and refuse to yield nothing at all."""
    iterator = filter(None, texts)
    batch = list(islice(iterator, _BATCH_LINES))
    if not batch:
        raise TokenizerError(
            "there is no text to learn a vocabulary from: the training set has no pairs, or only empty ones"
        )
    while batch:
        yield batch
        batch = list(islice(iterator, _BATCH_LINES))


def _spell_with_ends(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text as its words in byte symbols, parted by spaces; a word's second time brings a marked copy."""
    cut = pre_tokenizer(SPLIT_PATTERN)

    @lru_cache(maxsize=1 << 16)
    def words_of(chunk: str) -> tuple[str, ...]:
        return tuple(word for word, _ in cut.pre_tokenize_str(chunk_text(chunk)))

    once: set[str] = set()
    more: set[str] = set()
    for text in texts:
        spelled = []
        for word in chain.from_iterable(map(words_of, split_chunks(text))):
            spelled.append(word)
            if word in more:
                continue
            if word in once:
                once.remove(word)
                more.add(word)
                spelled.append(word + _WORD_END)
            else:
                once.add(word)
        yield " ".join(spelled)
