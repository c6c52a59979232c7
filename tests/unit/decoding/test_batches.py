from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from transduce.decoding.batches import cut_batches


@given(lengths=st.lists(st.integers(1, 40)), batch_tokens=st.integers(1, 100))
def test_every_sentence_once_and_padded_batches_within_the_budget(lengths: list[int], batch_tokens: int) -> None:
    batches = list(cut_batches(lengths, batch_tokens))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[i] for i in batch)
        assert padded <= batch_tokens or len(batch) == 1
    in_order = [lengths[i] for batch in batches for i in batch]
    assert in_order == sorted(lengths, reverse=True)
