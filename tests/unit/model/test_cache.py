from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity.tiny import pairs, small_model
from transduce.model.cache import RowGroups


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 4).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), min_size=1, max_size=9)))
)
def test_groups_bring_rows_to_their_sentence_and_back(case: tuple[int, list[int]]) -> None:
    n, sentence = case
    groups = RowGroups.of(torch.tensor(sentence), n)
    x = torch.arange(1.0, len(sentence) + 1).view(-1, 1, 1)
    gathered = groups.gather(x)
    assert gathered.shape == (n, max(sentence.count(i) for i in range(n)), 1)
    for i in range(n):
        assert [v for v in gathered[i].flatten().tolist() if v] == [r + 1 for r, s in enumerate(sentence) if s == i]
    assert torch.equal(groups.scatter(gathered), x)


def test_select_drops_sentences_without_rows_and_closes_ranks() -> None:
    model, data = small_model(), pairs([3, 4, 2], [1, 1, 1])
    with torch.inference_mode():
        cache = model.start_cache(model.encode(data.src, data.src_valid), data.src_valid)
        assert (cache.n_rows, cache.n_sentences, cache.length) == (3, 3, 0)
        model.decode_step(data.tgt_in[:, 0], cache)
        memory_keys = cache.layers[0].memory_keys
        cache.select(torch.tensor([2, 0, 0]))
    assert (cache.n_rows, cache.n_sentences, cache.length) == (3, 2, 1)
    assert cache.row_sentence.tolist() == [1, 0, 0]
    assert torch.equal(cache.src_valid, data.src_valid[[0, 2]])
    assert torch.equal(cache.layers[0].memory_keys, memory_keys[[0, 2]])


def test_source_keys_are_stored_once_for_all_rows_of_a_sentence() -> None:
    model, data = small_model(), pairs([3, 4], [1, 1])
    with torch.inference_mode():
        cache = model.start_cache(model.encode(data.src, data.src_valid), data.src_valid)
        model.decode_step(data.tgt_in[:, 0], cache)
        before = cache.layers[0].memory_keys.data_ptr()
        cache.select(torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]))
    assert cache.layers[0].keys.shape[0] == 8
    assert cache.layers[0].memory_keys.shape[0] == 2
    assert cache.layers[0].memory_keys.data_ptr() == before
    assert cache.groups.in_place
