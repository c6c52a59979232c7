"""Learning one vocabulary from texts, with the trainers of the Hugging Face library.

The results are the same in every process and with any number of threads. What the library leaves to chance (the order
of its hash maps) is pinned down here:

- word-piece: continuation symbols are numbered before training, since ties between pairs are broken by number;
- unigram: scores are sums of floats in no fixed order, equal to about ten digits, so they are rounded to
  hundredths; and the scores it makes up for bytes it never saw, in random order, become one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from transduce.base.errors import TokenizerError
from transduce.tokenizer.bytes import BYTE_SYMBOLS
from transduce.tokenizer.protocol import N_CONTROL
from transduce.tokenizer.subword import SPLIT_PATTERN, chunk_text, pre_tokenizer, split_chunks
from transduce.tokenizer.vocabulary import CONTINUATION, BpeVocabulary, UnigramVocabulary, WordPieceVocabulary

__all__ = ["learn_bpe", "learn_unigram", "learn_wordpiece"]

_MAX_CHUNKS = 1 << 17  # in scripts without spaces a chunk is a whole sentence, which hardly comes twice
_MAX_REPEATS = 1000
_BATCH_TEXTS = 1024
_MIN_FREQUENCY = 2  # a pair or word seen once teaches nothing
_MAX_PIECE_BYTES = 48  # the library's 16 would be 5 characters of Japanese
_SCORE_DIGITS = 2
_UNSEEN_BAND = 256e-4 + 1e-6  # the made-up scores of unseen bytes lie this close above the smallest score

_WORD_END = "‿"
"""Ends the marked copy of a word in the text a unigram model learns from. Not a byte symbol."""


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
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - N_CONTROL,
        min_frequency=_MIN_FREQUENCY,
        initial_alphabet=list(BYTE_SYMBOLS),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_write_out(_count_words(texts)), trainer)
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
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size - N_CONTROL,
        min_frequency=_MIN_FREQUENCY,
        initial_alphabet=list(BYTE_SYMBOLS),
        special_tokens=list(continuations),  # numbered first; this tokenizer is thrown away, so no text meets them
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_write_out(_count_words(texts)), trainer)
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
    tokenizer.train_from_iterator(_write_out(_with_marked_copies(_count_words(texts))), trainer)
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


def _count_words(texts: Iterable[str]) -> Counter[str]:
    """Count the words of all texts, in byte symbols. Memory grows with the number of distinct words only.

    Raises:
        TokenizerError: There is no text.
    """
    cut = pre_tokenizer(SPLIT_PATTERN)
    words: Counter[str] = Counter()
    chunks: Counter[str] = Counter()

    def cut_chunks() -> None:
        for chunk, count in chunks.items():
            for word, _ in cut.pre_tokenize_str(chunk_text(chunk)):
                words[word] += count
        chunks.clear()

    for text in texts:
        chunks.update(split_chunks(text))
        if len(chunks) > _MAX_CHUNKS:
            cut_chunks()
    cut_chunks()
    if not words:
        raise TokenizerError(
            "there is no text to learn a vocabulary from: the training set has no pairs, or only empty ones"
        )
    return words


def _write_out(words: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield batches of texts in which every word stands as often as it was counted, parted by spaces.

    The library takes no counts. It counts such texts, which need no cutting by an expression, several times faster than
    the texts that they come from, and learns the same.
    """
    batch: list[str] = []
    for word, count in words.items():
        for start in range(0, count, _MAX_REPEATS):
            batch.append(" ".join([word] * min(count - start, _MAX_REPEATS)))
        if len(batch) >= _BATCH_TEXTS:
            yield batch
            batch = []
    yield batch


def _with_marked_copies(words: Mapping[str, int]) -> dict[str, int]:
    """Return the words and, of each that came twice, one copy with an end mark."""
    return dict(words) | {word + _WORD_END: 1 for word, count in words.items() if count > 1}
