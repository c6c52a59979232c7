"""BPE-dropout on a store: fixed by seed, epoch and pair alone; nothing left out gives what is stored; texts stay."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from transduce.base.errors import DataError
from transduce.data.binarize import binarize
from transduce.data.bpe_dropout import BpeDropout, DroppedPairs
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.protocol import TokenizerPair
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.tree_source import TreeSourceTokenizer

TEXTS = [
    "a man in an orange hat",
    "the man is standing",
    "",
    "Zwei junge Männer im Freien",
    "  two  spaces ",
    "the the the",
]
PAIRS = [SentencePair(text, other) for text in TEXTS for other in reversed(TEXTS)]


@pytest.fixture(scope="module", params=[True, False], ids=["joint", "separate"])
def tokenizers(request: pytest.FixtureRequest) -> TokenizerPair:
    sides = PAIRS if request.param else [SentencePair(pair.src, pair.tgt.upper()) for pair in PAIRS]
    return learn_tokenizers(sides, TokenizerSettings(vocab_size=330, joint=request.param))


@pytest.fixture
def store(tokenizers: TokenizerPair, tmp_path: Path) -> TokenStore:
    binarize(PAIRS, tokenizers, tmp_path / "store")
    return TokenStore.open(tmp_path / "store")


def _dropout(
    store: TokenStore, tokenizers: TokenizerPair, p: float, *, seed: int = 1, longest: int = 256
) -> BpeDropout:
    return BpeDropout(store, tokenizers, p=p, seed=seed, max_pair_tokens=longest)


def _sentences(pairs: DroppedPairs) -> list[tuple[list[int], list[int]]]:
    n = len(pairs.src_lengths)
    return [
        (
            pairs.src_ids[pairs.src_offsets[i] : pairs.src_offsets[i + 1]].tolist(),
            pairs.tgt_ids[pairs.tgt_offsets[i] : pairs.tgt_offsets[i + 1]].tolist(),
        )
        for i in range(n)
    ]


def test_nothing_left_out_gives_what_is_stored(store: TokenStore, tokenizers: TokenizerPair) -> None:
    order = np.array([5, 0, 17, 5, 2])
    found = _dropout(store, tokenizers, 0.0).resegment(order, epoch=3)
    assert _sentences(found) == [(store.src(i).tolist(), store.tgt(i).tolist()) for i in order]
    assert found.src_ids.dtype == store.src_ids.dtype
    assert found.tgt_lengths.tolist() == store.tgt_lengths[order].tolist()
    assert found.n_tgt_tokens == int(store.tgt_lengths[order].sum()) + 5


def test_texts_stay_and_pieces_change(store: TokenStore, tokenizers: TokenizerPair) -> None:
    found = _dropout(store, tokenizers, 0.3).resegment(np.arange(len(store)), epoch=0)
    for pair, (src, tgt) in zip(PAIRS, _sentences(found), strict=True):
        assert (tokenizers.src.decode(src), tokenizers.tgt.decode(tgt)) == (pair.src, pair.tgt)
    assert len(found.src_ids) > len(store.src_ids) and len(found.tgt_ids) > len(store.tgt_ids)


def test_a_pair_is_cut_the_same_whatever_stands_beside_it(store: TokenStore, tokenizers: TokenizerPair) -> None:
    together = _sentences(_dropout(store, tokenizers, 0.3).resegment(np.arange(len(store)), epoch=2))
    # A new object, as after a resume; two ranks' shares; another order.
    again = _dropout(store, tokenizers, 0.3)
    for share in (np.arange(len(store))[1::2], np.arange(len(store))[::-2], np.array([7])):
        assert _sentences(again.resegment(share, epoch=2)) == [together[i] for i in share]


def test_seeds_epochs_sides_and_pairs_are_cut_differently(store: TokenStore, tokenizers: TokenizerPair) -> None:
    everything = np.arange(len(store))
    cut = {
        (seed, epoch): _dropout(store, tokenizers, 0.3, seed=seed).resegment(everything, epoch=epoch).src_ids.tolist()
        for seed in (1, 2, -1)
        for epoch in (0, 1)
    }
    assert len({tuple(ids) for ids in cut.values()}) == 6
    # PAIRS has each text six times on each side.
    sentences = _sentences(_dropout(store, tokenizers, 0.3).resegment(everything, epoch=0))
    assert len({tuple(src) for src, _ in sentences[:6]}) > 1
    assert any(src != tgt for (src, tgt), pair in zip(sentences, PAIRS, strict=True) if pair.src == pair.tgt)


def test_what_would_be_too_long_stays_as_it_is(store: TokenStore, tokenizers: TokenizerPair) -> None:
    longest, everything = 12, np.arange(len(store))
    free, bounded = (
        _sentences(_dropout(store, tokenizers, 0.7, longest=limit).resegment(everything, epoch=0))
        for limit in (256, longest)
    )
    stored = [(store.src(i).tolist(), store.tgt(i).tolist()) for i in range(len(store))]
    assert any(len(src) > longest for src, _ in free) and any(0 < len(src) <= longest for src, _ in free)
    for new, kept, old in zip(free, bounded, stored, strict=True):
        assert kept == tuple(ids if len(ids) <= longest else other for ids, other in zip(new, old, strict=True))


def test_trees_keep_their_pieces_and_their_sentences_are_cut(tmp_path: Path) -> None:
    pairs = [
        SentencePair(" ".join(text.split()), f"(S {' '.join(f'(X {w})' for w in text.split())})")
        for text in TEXTS
        if text
    ] * 6
    tokenizers = learn_tokenizers(pairs, TokenizerSettings(vocab_size=330, tree_words="kept"), target="trees")
    assert isinstance(tokenizers.src, TreeSourceTokenizer)
    binarize(pairs, tokenizers, tmp_path / "store")
    store = TokenStore.open(tmp_path / "store")
    everything = np.arange(len(store))
    stored = [(store.src(i).tolist(), store.tgt(i).tolist()) for i in range(len(store))]
    assert _sentences(_dropout(store, tokenizers, 0.0).resegment(everything, epoch=0)) == stored
    cut = _sentences(_dropout(store, tokenizers, 0.3).resegment(everything, epoch=0))
    for pair, (_, tgt), (new_src, new_tgt) in zip(pairs, stored, cut, strict=True):
        assert tokenizers.src.decode(new_src) == pair.src and new_tgt == tgt
    assert sum(len(src) for src, _ in cut) > sum(len(src) for src, _ in stored)


def test_rounds_pass_over_merges_as_often_as_asked(store: TokenStore, tokenizers: TokenizerPair) -> None:
    p, n = 0.3, 200_000
    rounds = _dropout(store, tokenizers, p)._draw(np.arange(2), np.array([n // 2, n // 2]), np.uint64(5))
    counts = np.bincount(np.frombuffer(rounds._skipped, dtype=np.uint8)[:n], minlength=5)
    for n_skipped in range(4):
        share = p**n_skipped * (1 - p)
        # A binomial count: five standard deviations, once in two million draws by chance, and the seed is fixed.
        assert abs(counts[n_skipped] - n * share) < 5 * math.sqrt(n * share * (1 - share))


def test_ids_that_are_no_text_are_named(store: TokenStore, tokenizers: TokenizerPair) -> None:
    broken = TokenStore(store.directory, store.info)
    broken.src_ids = np.full_like(store.src_ids, 4 + 0xFF)  # a byte that no UTF-8 text has
    with pytest.raises(DataError, match="the ids of a sentence do not spell a text"):
        _dropout(broken, tokenizers, 0.1).resegment(np.array([0]), epoch=0)
