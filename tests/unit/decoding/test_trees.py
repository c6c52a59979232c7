"""The rules for whole trees against an oracle that lists every tree, under every search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from transduce.decoding.beam import beam_search
from transduce.decoding.limits import LengthBounds
from transduce.decoding.penalties import length_penalty
from transduce.decoding.query import Query
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.trees import TreeEngine, TreeShape, TreeSymbols, tree_shapes
from transduce.text.repair import build_tree
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.trees import TreeTokenizer, learn_trees
from transduce.tokenizer.vocabulary import BpeVocabulary

TOKENS = ("(A", ")A", "XX", "(B", ")B")
SYMBOLS = TreeSymbols(TOKENS)
SOURCES = [[4], [5, 4], [6]]
PRODUCT_ERROR = 1e-6  # relative: sums of float32 log-probabilities in another order


def is_whole(ids: tuple[int, ...], n_words: int) -> bool:
    return not build_tree([TOKENS[index - N_CONTROL] for index in ids], ["w"] * n_words).faults


@pytest.mark.parametrize("tags", ["replaced", "kept"])
@given(seed=st.integers(0, 1000), extra=st.integers(0, 8))
@hypothesis_settings(max_examples=15, deadline=None)
def test_words_that_are_kept_are_spelled_as_they_stand(tags: str, seed: int, extra: int) -> None:
    learned = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
    trees = ["(TOP (S (NN ab) (VB aab)))", "(TOP (NP (NN cab) (NN a)))"]
    tokenizer = learn_trees(trees, "kept" if tags == "kept" else "replaced", words=learned)
    words = ["ab", "cab", "a"]
    spelled = tuple(tokenizer.spell(words))
    symbols = TreeSymbols(tokenizer.tokens, tokenizer.begins_word)
    shape = TreeShape(3, symbols, spelled, tagged=tags == "kept")
    assert shape.n_tokens == sum(map(len, spelled)) + 3 * (tags == "kept")
    engine = ToyEngine.random(seed, n_words=tokenizer.vocab_size - N_CONTROL)
    limits = np.array([shape.n_tokens + extra])
    found = beam_search(
        TreeEngine(engine, [shape], limits),
        [[4]],
        DecodeSettings(beam_size=3, n_best=3),
        LengthBounds(limits * 0, limits),
    )
    assert found[0]
    for own in found[0]:
        assert not build_tree(tokenizer.decode(own.ids).split(), words).faults
        pieces = tuple(index for index in own.ids if index >= tokenizer.first_piece)
        assert pieces == sum(spelled, ())
        starts = [not goes_on for goes_on in tokenizer.continues(own.ids)]
        assert sum(starts) == 3 + sum(token[0] in "()" for token in tokenizer.decode(own.ids).split())
        log_prob = decisions(engine, tokenizer, own.ids, tagged=shape.tagged)
        assert own.log_prob == pytest.approx(log_prob, rel=PRODUCT_ERROR, abs=PRODUCT_ERROR)


def decisions(engine: ToyEngine, tokenizer: TreeTokenizer, ids: tuple[int, ...], *, tagged: bool) -> float:
    """Return the log-probability of brackets, tags and EOS, and that a word comes where one does, whichever it is."""
    session = engine.start([[4]])
    is_piece = np.arange(tokenizer.vocab_size) >= tokenizer.first_piece
    is_first = np.array(
        [not tokenizer.continues([N_CONTROL, tokenizer.first_piece, index])[2] for index in range(tokenizer.vocab_size)]
    )
    total, previous = 0.0, BOS_ID
    for token, goes_on in zip((*ids, EOS_ID), (*tokenizer.continues(ids), False), strict=True):
        (probs,) = np.exp(session.distribution(np.array([0]), np.array([previous])).astype(np.float64))
        if not is_piece[token]:
            total += np.log(probs[token])
        elif not (goes_on or tagged):
            total += np.log(probs[is_piece & is_first].sum())
        previous = token
    return total


def test_a_sentence_with_a_word_that_is_none_to_the_vocabulary_or_too_long_has_no_shape() -> None:
    learned = SubwordTokenizer(BpeVocabulary((("Ġ", "a"),)), normalization="nfkc")
    tokenizer = learn_trees(["(TOP (NP (NN a)))"], "replaced", words=learned)
    sentences = ["a a", "a \u00b4 a", "a\u00a0a", "a a a"]  # an accent alone, and a no-break space, turn into spaces
    shapes = tree_shapes(sentences, tokenizer, 2)
    assert [None if shape is None else shape.n_words for shape in shapes] == [2, None, None, None]


def test_words_that_are_all_but_certain_have_no_probability_above_one() -> None:
    learned = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġ", "b"), ("Ġ", "c"))))
    tokenizer = learn_trees(["(TOP (NP (NN a)))"], "replaced", words=learned)
    (shape,) = tree_shapes(["a"], tokenizer, None)
    assert shape is not None
    logits = np.random.default_rng(1).normal(size=(1, 1, tokenizer.vocab_size)).astype(np.float32)
    logits[..., : tokenizer.first_piece] = -100  # nothing but pieces
    logits[..., tokenizer.first_piece :][..., ~np.array(tokenizer.begins_word)] = -100
    for shift in np.linspace(0, 1e-6, 20, dtype=np.float32):
        log_probs = logits[0] - np.log(np.exp(logits[0].astype(np.float64)).sum()).astype(np.float32) + shift
        table = np.broadcast_to(log_probs, (tokenizer.vocab_size, 7, tokenizer.vocab_size, tokenizer.vocab_size))
        session = TreeEngine(ToyEngine(table), [shape], np.array([9])).start([[4]])
        session.step(np.array([0]), np.array([BOS_ID]), 4).check()


def whole_trees(n_words: int, limit: int) -> set[tuple[int, ...]]:
    ids = range(N_CONTROL, N_CONTROL + len(TOKENS))
    return {tree for n in range(limit + 1) for tree in itertools.product(ids, repeat=n) if is_whole(tree, n_words)}


@given(seed=st.integers(0, 10_000), counts=st.lists(st.integers(1, 3), min_size=3, max_size=3))
@hypothesis_settings(max_examples=10, deadline=None)
def test_a_large_beam_finds_all_whole_trees_and_nothing_else(seed: int, counts: list[int]) -> None:
    engine = ToyEngine.random(seed, n_words=len(TOKENS))
    limits = np.array([5, 3, 4])
    ruled = TreeEngine(engine, [TreeShape(n, SYMBOLS) for n in counts], limits)
    settings = DecodeSettings(beam_size=600, n_best=600, length_alpha=0.3)
    found = beam_search(ruled, SOURCES, settings, LengthBounds(limits * 0, limits))
    for source, n_words, limit, hypotheses in zip(SOURCES, counts, limits.tolist(), found, strict=True):
        expected = whole_trees(n_words, limit)
        assert {own.ids for own in hypotheses} == expected
        scores = [engine.log_prob(source, ids) / length_penalty(len(ids) + 1, 0.3) for ids in expected]
        np.testing.assert_allclose([own.score for own in hypotheses], sorted(scores, reverse=True), rtol=PRODUCT_ERROR)


@given(seed=st.integers(0, 10_000), n_words=st.integers(1, 4), extra=st.integers(0, 12))
@hypothesis_settings(max_examples=30, deadline=None)
@pytest.mark.parametrize(
    "settings",
    [
        DecodeSettings(beam_size=1),
        DecodeSettings(beam_size=3, n_best=3),
        DecodeSettings(search="diverse", beam_size=4, n_groups=2, n_best=2),
        DecodeSettings(search="sample", n_best=4),
    ],
    ids=["greedy", "beam", "diverse", "sample"],
)
def test_every_search_writes_whole_trees_only(settings: DecodeSettings, seed: int, n_words: int, extra: int) -> None:
    engine = ToyEngine.random(seed, n_words=len(TOKENS))
    queries = [Query(tuple(source), tree=TreeShape(n_words, SYMBOLS)) for source in SOURCES]
    limited = settings.replace(max_extra_tokens=extra)
    for query, found in zip(queries, search(engine, queries, limited), strict=True):
        assert found
        for own in found:
            assert is_whole(own.ids, n_words)
            assert len(own.ids) <= max(len(query.src) + extra, n_words)  # there is always room for the words


def test_trees_and_translations_are_searched_apart() -> None:
    engine = ToyEngine.random(3, n_words=len(TOKENS))
    plain, ruled = Query((5,)), Query((5,), tree=TreeShape(2, SYMBOLS))
    settings = DecodeSettings(beam_size=2, max_extra_tokens=6)
    mixed = search(engine, [plain, ruled, plain], settings)
    assert mixed[0] == mixed[2] == search(engine, [plain], settings)[0]
    assert mixed[1] == search(engine, [ruled], settings)[0]
