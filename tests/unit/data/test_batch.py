from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.data.batch import Batch, batch_from_ids, make_batch
from transduce.data.binarize import binarize
from transduce.data.store import TokenStore
from transduce.text.pairs import SentencePair

Ids = list[list[int]]


def test_values_by_hand() -> None:
    batch = batch_from_ids([[5, 6, 7], [8]], [[9], [10, 11]])
    assert batch.src.tolist() == [[5, 6, 7, 2], [8, 2, 0, 0]]
    assert batch.src_valid.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.tgt_in.tolist() == [[1, 9, 0], [1, 10, 11]]
    assert batch.tgt_out.tolist() == [[9, 2, 0], [10, 11, 2]]
    assert batch.tgt_valid.tolist() == [[True, True, False], [True] * 3]
    assert (batch.n_src_tokens, batch.n_tgt_tokens) == (6, 5)
    assert batch.src.dtype == torch.int64


sentences = st.lists(st.integers(4, 99), max_size=6)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6))
def test_padding_is_right_for_any_lengths(pairs: list[tuple[list[int], list[int]]]) -> None:
    batch = batch_from_ids([src for src, _ in pairs], [tgt for _, tgt in pairs])
    for row, (src, tgt) in enumerate(pairs):
        assert batch.src[row][batch.src_valid[row]].tolist() == [*src, 2]
        assert batch.tgt_out[row][batch.tgt_valid[row]].tolist() == [*tgt, 2]
        assert batch.tgt_in[row][batch.tgt_valid[row]].tolist() == [1, *tgt]
        assert not batch.src[row][~batch.src_valid[row]].any()
        assert not batch.tgt_out[row][~batch.tgt_valid[row]].any()
        assert not batch.tgt_in[row][~batch.tgt_valid[row]].any()
    assert batch.src_valid.all(dim=0)[0]  # no row is empty: EOS is always there
    assert batch.src_valid[:, -1].any() and batch.tgt_valid[:, -1].any()  # no column is all padding
    assert batch.n_src_tokens == int(batch.src_valid.sum())
    assert batch.n_tgt_tokens == int(batch.tgt_valid.sum())


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_a_store_gives_the_same_batch_as_lists(tmp_path_factory: pytest.TempPathFactory, indexes: list[int]) -> None:
    pairs = [SentencePair("abc", "d"), SentencePair("", "ef"), SentencePair("ghi", ""), SentencePair("", "")]
    out = tmp_path_factory.mktemp("batch") / "s"
    tokenizers = bytes_pair()
    binarize(pairs, tokenizers, out, n_workers=1)
    chosen = [pairs[i] for i in indexes]
    expected = batch_from_ids(
        [tokenizers.src.encode(p.src) for p in chosen], [tokenizers.tgt.encode(p.tgt) for p in chosen]
    )
    assert_equal(make_batch(TokenStore.open(out), np.array(indexes)), expected)


def test_moving_to_a_device_keeps_everything() -> None:
    batch = batch_from_ids([[5]], [[6, 7]])
    assert_equal(batch.to(torch.device("cpu")), batch)


def assert_equal(one: Batch, other: Batch) -> None:
    for name in ("src", "src_valid", "tgt_in", "tgt_out", "tgt_valid"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    assert (one.n_src_tokens, one.n_tgt_tokens) == (other.n_src_tokens, other.n_tgt_tokens)


def test_batch_from_a_directory_is_on_the_cpu_and_owns_its_memory(tmp_path: Path) -> None:
    binarize([SentencePair("ab", "c")], bytes_pair(), tmp_path / "s", n_workers=1)
    batch = make_batch(TokenStore.open(tmp_path / "s"), np.array([0]))
    batch.src.fill_(0)  # the mapped file is read-only: writing to a tensor of its pages would end the process
    assert batch.src.sum() == 0
