from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.data import lexical
from transduce.data.binarize import binarize
from transduce.data.lexical import LexicalTable, learn_lexical
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair
from transduce.tokenizer.protocol import EOS_ID, N_CONTROL

VOCAB = N_CONTROL + 256
A, B, C, X, Y, Z = (N_CONTROL + ord(letter) for letter in "abcxyz")


def store_of(directory: Path, pairs: list[tuple[str, str]]) -> TokenStore:
    binarize((SentencePair(*pair) for pair in pairs), bytes_pair(), directory / "store", n_workers=1)
    return TokenStore.open(directory / "store")


def dense(table: LexicalTable) -> npt.NDArray[np.float64]:
    """The table as ``[source, target]``."""
    full = np.zeros((VOCAB, VOCAB))
    full[np.repeat(np.arange(VOCAB), np.diff(table.starts)), table.ids] = table.probabilities
    return full


def plain_model_1(store: TokenStore, n_iterations: int) -> npt.NDArray[np.float64]:
    """The algorithm of the paper in loops, with EOS as the empty word."""
    p = np.ones((VOCAB, VOCAB))
    for _ in range(n_iterations):
        counts = np.zeros((VOCAB, VOCAB))
        for i in range(len(store)):
            source = {*store.src(i).tolist(), EOS_ID}
            for t in store.tgt(i).tolist():
                total = sum(p[s, t] for s in source)
                for s in source:
                    counts[s, t] += p[s, t] / total
        totals = counts.sum(axis=1, keepdims=True)
        p = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    return p


def test_one_iteration_by_hand(tmp_path: Path) -> None:
    # "ab" -> "x": x is shared by a, b and EOS. "a" -> "y": y is shared by a and EOS.
    table = dense(learn_lexical(store_of(tmp_path, [("ab", "x"), ("a", "y")]), VOCAB, VOCAB, n_iterations=1))
    third, half = 1 / 3, 1 / 2
    for source in (A, EOS_ID):
        assert table[source, [X, Y]] == pytest.approx([third / (third + half), half / (third + half)])
    assert table[B, [X, Y]].tolist() == [1, 0]
    assert not table[C].any()


words = st.text("abc", max_size=4)


@settings(deadline=None, max_examples=30)
@given(pairs=st.lists(st.tuples(words, words), max_size=8), n_iterations=st.integers(1, 4), chunk=st.integers(1, 3))
def test_the_table_is_that_of_the_paper(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], n_iterations: int, chunk: int
) -> None:
    store = store_of(tmp_path_factory.mktemp("lexical"), pairs)
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(lexical, "_CHUNK", chunk)
        table = learn_lexical(store, VOCAB, VOCAB, n_iterations=n_iterations)
    # float32 between the iterations; probabilities below a millionth are dropped, and what is left is scaled up.
    np.testing.assert_allclose(dense(table), plain_model_1(store, n_iterations), atol=1e-4)


def test_words_that_always_come_together_find_each_other(tmp_path: Path) -> None:
    pairs = [("ab", "yx"), ("ac", "zx"), ("bc", "yz"), ("a", "x"), ("cba", "xyz")]
    table = learn_lexical(store_of(tmp_path, pairs), VOCAB, VOCAB, n_iterations=10)
    assert [table.ids[table.starts[token]] for token in (A, B, C)] == [X, Y, Z]


def test_rows_have_the_most_probable_first_and_no_more_than_asked_for(tmp_path: Path) -> None:
    store = store_of(tmp_path, [("a", "xyyzzz"), ("a", "z")])
    rows = learn_lexical(store, VOCAB, VOCAB)
    assert rows.ids[rows.starts[A] : rows.starts[A + 1]].tolist() == [Z, Y, X]
    short = learn_lexical(store, VOCAB, VOCAB, max_row=2)
    own = slice(short.starts[A], short.starts[A + 1])
    assert short.ids[own].tolist() == [Z, Y]
    assert short.probabilities[own].sum() == pytest.approx(1)


def test_a_large_store_is_learned_from_in_part_evenly(tmp_path: Path) -> None:
    store = store_of(tmp_path, [("a", "x"), ("b", "y"), ("a", "z"), ("c", "y")])
    table = dense(learn_lexical(store, VOCAB, VOCAB, max_pairs=2))  # the first and the third
    assert table[A, X] == table[A, Z] == pytest.approx(0.5)
    assert not table[[B, C]].any()


def test_progress_is_told_after_each_iteration(tmp_path: Path) -> None:
    told: list[int] = []
    learn_lexical(store_of(tmp_path, [("a", "x")]), VOCAB, VOCAB, n_iterations=3, progress=told.append)
    assert told == [1, 2, 3]
